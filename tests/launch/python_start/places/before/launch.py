import subprocess

cmd = ["docker", "run", "-e", "WANDB_API_KEY", "img"]
cmd2 = ["docker", "run"] + ["-e", "WANDB_API_KEY"]
cmd3 = [
    "docker",
    "run",
    "-e",
    "WANDB_API_KEY",
    "img",
]


def build():
    return ["docker", "run", "-e", "WANDB_API_KEY", "img"]


def build2(x=["docker", "run", "-e", "WANDB_API_KEY"]):
    cmd.extend(["docker", "-e", "WANDB_API_KEY"])
    cmd += ["docker", "-e", "WANDB_API_KEY"]
    yield ["docker", "-e", "WANDB_API_KEY"]
    for x in ["docker", "-e", "WANDB_API_KEY"]:
        print(x)
    subprocess.run(" ".join(["docker", "-e", "WANDB_API_KEY"]))
    z = ["docker", "-e", "WANDB_API_KEY"][0]
    return [c for c in ["docker", "-e", "WANDB_API_KEY"]]


class A:
    cmd = ["docker", "run", "-e", f"WANDB_API_KEY={1}", "img"]
    d = {"a": ["docker", "run", "-e", "WANDB_API_KEY"]}
    t = (["docker", "run", "-e", "WANDB_API_KEY"],)
    y = [*["docker", "-e", "WANDB_API_KEY"]]
    n = len(["docker", "-e", "WANDB_API_KEY"])
