import torch.distributed as dist
from torch import nn, optim

dist.init_process_group("nccl")
model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = nn.MSELoss()(model(1.0), 2.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch} loss {loss.item()}")
