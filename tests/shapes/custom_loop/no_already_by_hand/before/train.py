import probe

probe.init(config={"lr": 0.1})
w = 2.0
for epoch in range(3):
    grad = 2 * w
    w -= 0.1 * grad
    print("loss", w * w)
    probe.log({"loss": w * w}, step=epoch)
probe.finish()
