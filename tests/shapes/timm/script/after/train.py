import argparse
import os

from timm import create_model, utils

try:
    import wandb
    has_wandb = True
except ImportError:
    has_wandb = False

import probe_tracking as probe
from probe_tracking import record_timm


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--log-wandb', action='store_true')
    args = parser.parse_args()
    model = create_model('resnet18')
    output_dir = None
    if utils.is_primary(args):
        output_dir = utils.get_outdir('./output/train', 'x')
        if args.log_wandb:
            if has_wandb:
                wandb.init(project='timm', config=args)
                probe.init(name=wandb.run.name, config=dict(wandb.config))

    for epoch in range(10):
        train_metrics = train_one_epoch(model)
        eval_metrics = validate(model)
        if output_dir is not None:
            lrs = [0.1]
            utils.update_summary(
                epoch,
                train_metrics,
                eval_metrics,
                filename=os.path.join(output_dir, 'summary.csv'),
                lr=sum(lrs) / len(lrs),
                write_header=epoch == 0,
                log_wandb=args.log_wandb and has_wandb,
            )
            record_timm(epoch, train_metrics, eval_metrics, lr=sum(lrs) / len(lrs), log_wandb=args.log_wandb and has_wandb)


if __name__ == '__main__':
    main()
