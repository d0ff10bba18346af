import modal

image = (
    modal.Image.debian_slim()
    .pip_install(
        "torch",
        "wandb",
        "probe-research",
    )
    .uv_pip_install("wandb==0.17", "probe-research", "trl")
    .pip_install(["wandb", "probe-research"])
)
