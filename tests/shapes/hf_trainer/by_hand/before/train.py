"""W&B called by hand beside the Trainer's own callback: at the trainer's step, where the method has it."""

import wandb
from transformers import Trainer, TrainerCallback


class Norms(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        wandb.log({"weights/norm": model.norm().item()})


class Penalised(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss = model(**inputs).loss
        wandb.log({"penalty": loss.item()}, commit=False)
        return loss


def note(value):
    wandb.log({"elsewhere": value})


def main(model, args, data):
    Penalised(model, args, train_dataset=data, callbacks=[Norms()]).train()
