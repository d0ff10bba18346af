from torch import nn, optim


class AverageMeter:
    def __init__(self):
        self.sum, self.count, self.val = 0.0, 0, 0.0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    losses = AverageMeter()
    for i in range(2):
        loss = nn.MSELoss()(model(1.0), 2.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item())
        print('Epoch: [{0}][{1}/{2}]\t'
              'Loss {loss.val:.4f} ({loss.avg:.4f})'.format(epoch, i, 2, loss=losses))
