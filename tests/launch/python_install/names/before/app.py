import modal

deps = ["torch", "wandb", "tqdm"]
one = modal.Image.debian_slim().pip_install(*deps)
two = modal.Image.debian_slim().uv_pip_install(deps, gpu="A100")
three = modal.Image.from_registry("nvidia/cuda:12.4.0", add_python="3.11").uv_pip_install("torch==2.4", "wandb~=0.17", extra_options="--no-cache")
four = modal.Image.debian_slim().run_commands("pip install wandb torch")
five = modal.Image.debian_slim().pip_install(*["wandb"])
six = modal.Image.micromamba().micromamba_install("pytorch").pip_install(
    "wandb",
)
