import wandb
from transformers import Trainer, TrainingArguments

import probe_tracking as probe
from probe_tracking import ProbeCallback


def main(build, data, space):
    wandb.init(project="toy")
    probe.init(name=wandb.run.name, config=dict(wandb.config))
    trainer = Trainer(model_init=build, args=TrainingArguments("out"), train_dataset=data, eval_dataset=data, callbacks=[ProbeCallback()])
    probe.finish()
    best = trainer.hyperparameter_search(space, n_trials=4, direction="minimize")
    probe.log({"best": best.objective})
    wandb.log({"best": best.objective})
