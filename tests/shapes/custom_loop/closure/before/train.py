from torch import nn, optim

model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for i in range(2):
    print('STEP: ', i)

    def closure():
        optimizer.zero_grad()
        loss = nn.MSELoss()(model(1.0), 2.0)
        print('loss:', loss.item())
        loss.backward()
        return loss

    optimizer.step(closure)
