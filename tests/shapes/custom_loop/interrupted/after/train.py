import probe_tracking as probe

w = 3.0
steps = 4
lr = 0.1

probe.init(config={"steps": steps, "lr": lr})
try:
    for step in range(steps):
        if step == 2:
            raise KeyboardInterrupt
        grad = 2 * w
        w -= lr * grad
        print(f"step={step} loss={w * w:.5f}")
        probe.log({"loss": w * w}, step=step)
except KeyboardInterrupt:
    print("exiting early")

test_loss = w * w
print("final test loss %.3f" % test_loss)
probe.log({"final_test_loss": test_loss})
probe.finish()
