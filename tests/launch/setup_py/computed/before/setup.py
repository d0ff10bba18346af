from setuptools import setup
import pathlib

def reqs(name):
    return [l.strip() for l in pathlib.Path(name).read_text().splitlines() if l and not l.startswith("#")]

extras = {}
extras["log"] = ["wandb", "tensorboard"]
extras["all"] = sum(extras.values(), [])
setup(
    name="x",
    python_requires=">=3.8",
    install_requires=reqs("requirements.txt") + ["torch>=2"],
    extras_require=extras,
)
