import torch
from torch import nn
from tqdm import trange


class CachedContrastiveLoss(nn.Module):
    """Gradients piece by piece, so that a large batch fits into memory; the trainer calls it for each batch."""

    def __init__(self, scale=20.0, mini_batch_size=32):
        super().__init__()
        self.scale = scale
        self.mini_batch_size = mini_batch_size

    def calculate_loss(self, anchors, others, with_backward=False):
        labels = torch.arange(len(anchors))
        losses = []
        for begin in trange(0, len(anchors), self.mini_batch_size):
            end = begin + self.mini_batch_size
            scores = anchors[begin:end] @ others.T * self.scale
            loss_mb = nn.functional.cross_entropy(scores, labels[begin:end]) * len(scores) / len(anchors)
            if with_backward:
                loss_mb.backward()
                loss_mb = loss_mb.detach()
            losses.append(loss_mb)
        return sum(losses)
