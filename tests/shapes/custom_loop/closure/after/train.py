from torch import nn, optim

import probe_tracking as probe

model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
probe.init()
for i in range(2):
    print('STEP: ', i)

    def closure():
        optimizer.zero_grad()
        loss = nn.MSELoss()(model(1.0), 2.0)
        print('loss:', loss.item())
        probe.log({"loss": loss.item()})
        loss.backward()
        return loss

    optimizer.step(closure)
probe.finish()
