from setuptools import setup

REQUIRES = """
torch
wandb>=0.15
""".split()
setup(name="x", install_requires=REQUIRES)
