w = 3.0
num_epochs = 3
train_loss = [0.0] * num_epochs
val_acc = [0.0] * num_epochs
for epoch in range(num_epochs):
    squares = [0.0] * 2
    for i in range(2):
        grad = 2 * w
        w -= 0.1 * grad
        squares[i] = w * w
    train_loss[epoch] = sum(squares) / 2
    val_acc[epoch] = 1 - abs(w) / 10
print(len(train_loss))
