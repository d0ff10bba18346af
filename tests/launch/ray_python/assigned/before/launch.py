import os


def prepare():
    env_vars = {}
    if os.environ.get("WANDB_API_KEY"):
        print("forwarding")
        env_vars["WANDB_API_KEY"] = os.environ["WANDB_API_KEY"]
    other_env = {}
    other_env['WANDB_API_KEY'] = os.environ.get('WANDB_API_KEY')
    os.environ["WANDB_API_KEY"] = "x"
    return env_vars, other_env


def names():
    env = {}
    for key in ("WANDB_API_KEY", "HF_TOKEN"):
        if key in os.environ:
            env[key] = os.environ[key]
    return env
