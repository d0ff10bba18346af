import modal

image = (
    modal.Image.debian_slim()
    .pip_install(
        "torch",
        "wandb",
    )
    .uv_pip_install("wandb==0.17", "trl")
    .pip_install(["wandb"])
)
