import csv
import sys

import probe_tracking as probe

writer = csv.writer(sys.stdout)
writer.writerow(["epoch", "train_loss", "val_acc"])
w = 2.0


def accuracy(w):
    return 1.0 - abs(w) / 10


probe.init()
for epoch in range(3):
    grad = 2 * w
    w -= 0.2 * grad
    train_loss = w * w
    val_acc = accuracy(w)
    writer.writerow([epoch, train_loss, val_acc])
    probe.log({"train_loss": train_loss, "val_acc": val_acc}, step=epoch)
probe.finish()
