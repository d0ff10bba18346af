import probe_tracking as probe

w = 3.0


def grad(w):
    return 2 * w


probe.init()
for epoch in range(3): w -= 0.1 * grad(w); print("loss", w * w); probe.log({"loss": w * w}, step=epoch)
probe.finish()
print("end")
