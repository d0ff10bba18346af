import os

for env in [{"WANDB_API_KEY": "x", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}]:
    pass
env_vars = [{"WANDB_API_KEY": "x", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}][0]
env = {"WANDB_API_KEY": os.environ["WANDB_API_KEY"], "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")} | {"a": "b"}
env2 = {**{"WANDB_API_KEY": os.environ["WANDB_API_KEY"], "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}}
env_vars = dict({"WANDB_API_KEY": "x", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}, A="b")
env_vars = dict(WANDB_API_KEY="x", PROBE_TOKEN=os.environ.get("PROBE_TOKEN", ""))
env_vars.update({"WANDB_API_KEY": "x", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})
env_vars.update(dict(WANDB_API_KEY="x", PROBE_TOKEN=os.environ.get("PROBE_TOKEN", "")))
env_vars.update(WANDB_API_KEY="x")
n_env = len({"WANDB_API_KEY": "x", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})
env_list = [f"{k}={v}" for k, v in {"WANDB_API_KEY": os.environ["WANDB_API_KEY"], "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}.items()]


def environment(x={"WANDB_API_KEY": "x"}):
    return dict(WANDB_API_KEY="x", PROBE_TOKEN=os.environ.get("PROBE_TOKEN", ""))
