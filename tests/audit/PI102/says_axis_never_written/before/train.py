import wandb

wandb.init(project="toy")

wandb.define_metric("eval/epoch")
wandb.define_metric("eval/*", step_metric="eval/epoch")  # -> PI102


def log_eval(step, logs):
    wandb.log({"eval/%s" % k: v for k, v in {**logs, "global_step": step}.items()}, step=step)  # -> PI102


log_eval(1, {"acc": 0.5})
