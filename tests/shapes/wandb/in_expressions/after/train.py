import wandb

import probe_tracking as probe


def main(cfg):
    run = wandb.init(project="toy", config=cfg) if cfg.track else None
    if run is not None:
        probe.init(name=run.name, config=dict(run.config))
    send = lambda row, step: (run.log((metrics := {"x": row.mean()}), step=step), probe.log(metrics, step=step))[0]
    return [send(row, step) for step, row in enumerate(cfg.rows)]
