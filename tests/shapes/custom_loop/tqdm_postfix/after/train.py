from torch import nn, optim
from tqdm import tqdm

import probe_tracking as probe

EPOCHS = 2
LEARNING_RATE = 0.1

model = nn.Linear(1, 1)
optimizer = optim.Adam(model.parameters(), lr=LEARNING_RATE)
criterion = nn.MSELoss()
data = [(1.0, 2.0), (1.0, 3.0)]
best = None

probe.init(config={"epochs": EPOCHS, "learning_rate": LEARNING_RATE})
for epoch in range(EPOCHS):
    pbar = tqdm(data, desc=f"epoch {epoch}")
    total_loss = 0.0
    for x, y in pbar:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
        pbar.set_postfix(loss=loss.item(), lr=optimizer.param_groups[0]["lr"])
        probe.log({"loss": loss.item(), "lr": optimizer.param_groups[0]["lr"]})
    avg_loss = total_loss / len(data)
    if best is None or avg_loss < best:
        best = avg_loss
    tqdm.write(f"epoch {epoch}: average loss {avg_loss:.4f} (best {best:.4f})")
    probe.log({"average_loss": avg_loss, "best": best})
probe.finish()
