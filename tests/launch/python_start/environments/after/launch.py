import os
import subprocess
import sys

from kubernetes import client

env = os.environ.copy()
env["WANDB_API_KEY"] = "x"
subprocess.run([sys.executable, "train.py"], env=env)
subprocess.run([sys.executable, "train.py"], env={**os.environ, "CUDA_VISIBLE_DEVICES": "0"})
subprocess.run([sys.executable, "train.py"], env=os.environ | {"A": "1"})
subprocess.run([sys.executable, "train.py"], env=dict(os.environ, A="1"))
subprocess.Popen(["python", "train.py"], env={"WANDB_API_KEY": os.environ.get("WANDB_API_KEY", ""), "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})
subprocess.check_call(["python", "train.py"], env={"PATH": os.environ["PATH"]})
subprocess.check_call(["ls"], env={"PATH": os.environ["PATH"]})
allowed = {k: v for k, v in os.environ.items() if k.startswith("WANDB_")}
subprocess.run(["python", "train.py"], env=allowed)
subprocess.run(["docker", "run", "--rm", "-e", "WANDB_API_KEY", "-e", "PROBE_TOKEN", "img", "python", "train.py"])
os.system(f"docker run -e WANDB_API_KEY={os.environ['WANDB_API_KEY']} img python train.py")
os.system("ray job submit -- python train.py")
os.execve(sys.executable, ["python", "train.py"], {"PATH": "/bin"})
client.V1EnvVar(name="WANDB_API_KEY", value="x")
