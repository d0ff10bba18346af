import probe_tracking as probe

w = 3.0
num_epochs = 3
train_loss = [0.0] * num_epochs
val_acc = [0.0] * num_epochs
probe.init(config={"num_epochs": num_epochs})
for epoch in range(num_epochs):
    squares = [0.0] * 2
    for i in range(2):
        grad = 2 * w
        w -= 0.1 * grad
        squares[i] = w * w
    train_loss[epoch] = sum(squares) / 2
    val_acc[epoch] = 1 - abs(w) / 10
    probe.log({"train_loss": train_loss[epoch], "val_acc": val_acc[epoch]}, step=epoch)
probe.finish()
print(len(train_loss))
