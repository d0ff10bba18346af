import wandb

wandb.init(project="toy")

wandb.define_metric("train/step")
wandb.define_metric("train/loss")  # -> PI101
wandb.define_metric("eval/*", step_metric="train/step")
for step in range(3):
    wandb.log({"train/loss": 1.0, "train/step": step, "eval/acc": 0.5})
