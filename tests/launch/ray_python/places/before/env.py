import os

for env in [{"WANDB_API_KEY": "x"}]:
    pass
env_vars = [{"WANDB_API_KEY": "x"}][0]
env = {"WANDB_API_KEY": os.environ["WANDB_API_KEY"]} | {"a": "b"}
env2 = {**{"WANDB_API_KEY": os.environ["WANDB_API_KEY"]}}
env_vars = dict({"WANDB_API_KEY": "x"}, A="b")
env_vars = dict(WANDB_API_KEY="x")
env_vars.update({"WANDB_API_KEY": "x"})
env_vars.update(dict(WANDB_API_KEY="x"))
env_vars.update(WANDB_API_KEY="x")
n_env = len({"WANDB_API_KEY": "x"})
env_list = [f"{k}={v}" for k, v in {"WANDB_API_KEY": os.environ["WANDB_API_KEY"]}.items()]


def environment(x={"WANDB_API_KEY": "x"}):
    return dict(WANDB_API_KEY="x")
