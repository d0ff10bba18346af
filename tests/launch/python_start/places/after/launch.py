import subprocess

cmd = ["docker", "run", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN", "img"]
cmd2 = ["docker", "run"] + ["-e", "WANDB_API_KEY"]
cmd3 = [
    "docker",
    "run",
    "-e",
    "WANDB_API_KEY",
    "-e", "PROBE_TOKEN",
    "img",
]


def build():
    return ["docker", "run", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN", "img"]


def build2(x=["docker", "run", "-e", "WANDB_API_KEY"]):
    cmd.extend(["docker", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN"])
    cmd += ["docker", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN"]
    yield ["docker", "-e", "WANDB_API_KEY"]
    for x in ["docker", "-e", "WANDB_API_KEY"]:
        print(x)
    subprocess.run(" ".join(["docker", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN"]))
    z = ["docker", "-e", "WANDB_API_KEY"][0]
    return [c for c in ["docker", "-e", "WANDB_API_KEY"]]


class A:
    cmd = ["docker", "run", "-e", f"WANDB_API_KEY={1}", "-e", "PROBE_TOKEN", "img"]
    d = {"a": ["docker", "run", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN"]}
    t = (["docker", "run", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN"],)
    y = [*["docker", "-e", "WANDB_API_KEY"]]
    n = len(["docker", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN"])
