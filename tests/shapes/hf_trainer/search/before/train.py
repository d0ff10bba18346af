import wandb
from transformers import Trainer, TrainingArguments


def main(build, data, space):
    wandb.init(project="toy")
    trainer = Trainer(model_init=build, args=TrainingArguments("out"), train_dataset=data, eval_dataset=data)
    best = trainer.hyperparameter_search(space, n_trials=4, direction="minimize")
    wandb.log({"best": best.objective})
