from torch.utils.tensorboard import SummaryWriter

import probe_tracking as probe


def train(args):
    writer = SummaryWriter(args.out)
    probe.init(config=args)
    for step in range(3):
        value = 1.0 / (step + 1)
        writer.add_scalar("loss", value, step)
        probe.log({"loss": value}, step=step)
    writer.add_histogram("w", [1.0], 0)
    writer.close()
    probe.finish()
