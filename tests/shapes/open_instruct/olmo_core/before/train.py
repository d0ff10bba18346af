from olmo_core.train import callbacks


def build(run_name, config):
    return {"wandb": callbacks.WandBCallback(name=run_name, project="toy", config=config)}
