import wandb

wandb.init(project="toy")

wandb.define_metric("eval/step")
wandb.define_metric("eval/*", step_metric="eval/step", step_sync=True)
wandb.log({"eval/step": 1})
wandb.log({"eval/acc": 0.5})
