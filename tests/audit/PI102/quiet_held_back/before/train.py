import wandb

wandb.init(project="toy")
wandb.define_metric("eval/step")
wandb.define_metric("eval/*", step_metric="eval/step")

wandb.log({"eval/acc": 0.5}, commit=False)
wandb.log({"eval/loss": 1.0, "eval/step": 1})
