import os

from torch import nn, optim

rank = int(os.environ.get("RANK", 0))
master_process = rank == 0  # this process will do logging
logfile = None
if master_process:
    logfile = "log.txt"


def print0(s, console=False):
    if master_process:
        with open(logfile, "a") as f:
            if console:
                print(s)
            print(s, file=f)


model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
train_steps = 3
for step in range(train_steps + 1):
    last_step = step == train_steps
    if last_step or step % 2 == 0:
        val_loss = nn.MSELoss()(model(1.0), 2.0)
        print0(f"step:{step}/{train_steps} val_loss:{val_loss:.4f}", console=True)
    if last_step:
        break
    optimizer.zero_grad()
    nn.MSELoss()(model(1.0), 2.0).backward()
    optimizer.step()
