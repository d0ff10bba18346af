from tensorboardX import SummaryWriter

__all__ = ["SummaryWriter"]
