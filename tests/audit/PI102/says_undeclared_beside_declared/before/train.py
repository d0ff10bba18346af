import wandb

wandb.init(project="toy")
wandb.define_metric("eval/step")
wandb.define_metric("eval/*", step_metric="eval/step")

wandb.log({"eval/loss": 1.0, "eval/step": 1})


def debug(turn):
    wandb.log({"debug/turn": turn, "debug/length": 3})  # -> PI102
