import wandb

wandb.init(project="toy")
wandb.define_metric("eval/step")
wandb.define_metric("eval/*", step_metric="eval/step")

def log(trainer):
    wandb.log(trainer.collect())
