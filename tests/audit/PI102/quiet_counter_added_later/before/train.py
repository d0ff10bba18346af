import wandb

wandb.init(project="toy")
wandb.define_metric("eval/step")
wandb.define_metric("eval/*", step_metric="eval/step")

def evaluate(step, acc):
    row = {"eval/acc": acc}
    row["eval/step"] = step
    wandb.log(row)
