import csv

losses = []
for row in csv.reader(["1,0.5", "2,0.25"]):
    epoch, loss = int(row[0]), float(row[1])
    losses.append(loss)
    print(f"epoch {epoch} loss {loss}")
print("min loss", min(losses))
