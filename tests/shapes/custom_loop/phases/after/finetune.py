from torch import nn, optim

import probe_tracking as probe

datasets = {"train": [(1.0, 2.0), (1.0, 2.0)], "val": [(1.0, 2.5)]}


def train_model(model, criterion, optimizer, num_epochs=2):
    best_acc = 0.0
    probe.init(config={"num_epochs": num_epochs})
    for epoch in range(num_epochs):
        print(f'Epoch {epoch}/{num_epochs - 1}')
        for phase in ['train', 'val']:
            running_loss = 0.0
            for inputs, labels in datasets[phase]:
                loss = criterion(model(inputs), labels)
                if phase == 'train':
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                running_loss += loss.item()
            epoch_loss = running_loss / len(datasets[phase])
            epoch_acc = 1.0 / (1.0 + epoch_loss)
            print(f'{phase} Loss: {epoch_loss:.4f} Acc: {epoch_acc:.4f}')
            probe.log({f"{phase}_loss": epoch_loss, f"{phase}_acc": epoch_acc}, step=epoch)
            if phase == 'val' and epoch_acc > best_acc:
                best_acc = epoch_acc
    print(f'Best val Acc: {best_acc:4f}')
    probe.log({"best_val_acc": best_acc})
    probe.finish()
    return model


net = nn.Linear(1, 1)
train_model(net, nn.MSELoss(), optim.SGD(net.parameters(), lr=0.1))
