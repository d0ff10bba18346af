from torch import nn, optim

import probe_tracking as probe

netD, netG = nn.Linear(1, 1), nn.Linear(1, 1)
optimizerD = optim.Adam(netD.parameters(), lr=2e-4)
optimizerG = optim.Adam(netG.parameters(), lr=2e-4)
G_losses = []
D_losses = []
num_epochs = 2

probe.init(config={"num_epochs": num_epochs})
for epoch in range(num_epochs):
    for i in range(2):
        optimizerD.zero_grad()
        errD = nn.MSELoss()(netD(1.0), 1.0)
        errD.backward()
        optimizerD.step()
        optimizerG.zero_grad()
        errG = nn.MSELoss()(netG(1.0), 0.0)
        errG.backward()
        optimizerG.step()
        if i % 2 == 0:
            print('[%d/%d][%d]\tLoss_D: %.4f\tLoss_G: %.4f'
                  % (epoch, num_epochs, i, errD.item(), errG.item()))
        G_losses.append(errG.item())
        D_losses.append(errD.item())
        probe.log({"Loss_G": errG.item(), "Loss_D": errD.item()})
probe.finish()
