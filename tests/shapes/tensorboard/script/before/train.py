from torch.utils.tensorboard import SummaryWriter


def train(args):
    writer = SummaryWriter(args.out)
    for step in range(3):
        writer.add_scalar("loss", 1.0 / (step + 1), step)
    writer.add_histogram("w", [1.0], 0)
    writer.close()
