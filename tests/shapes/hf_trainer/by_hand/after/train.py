"""W&B called by hand beside the Trainer's own callback: at the trainer's step, where the method has it."""

import wandb
from transformers import Trainer, TrainerCallback

import probe_tracking as probe
from probe_tracking import ProbeCallback


class Norms(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        metrics = {"weights/norm": model.norm().item()}
        wandb.log(metrics)
        probe.log_each(metrics, step=state.global_step)


class Penalised(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss = model(**inputs).loss
        metrics = {"penalty": loss.item()}
        wandb.log(metrics, commit=False)
        probe.log_each(metrics, step=self.state.global_step)
        return loss


def note(value):
    wandb.log({"elsewhere": value})


def main(model, args, data):
    Penalised(model, args, train_dataset=data, callbacks=[Norms(), ProbeCallback()]).train()
