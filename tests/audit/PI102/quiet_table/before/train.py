import wandb

wandb.init(project="toy")
wandb.define_metric("eval/step")
wandb.define_metric("eval/*", step_metric="eval/step")

wandb.log({"eval/step": 1, "eval/acc": 0.5})
wandb.log({"samples": wandb.Table(columns=["a"], data=[[1]])})
