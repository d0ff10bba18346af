import probe_tracking as probe_sdk

w = 2.0
probe = 0.5  # how far the validation looks
probe_sdk.init()
for step in range(2):
    grad = 2 * w
    w -= 0.1 * grad
    loss = (w + probe) ** 2
    print("loss", loss)
    probe_sdk.log({"loss": loss}, step=step)
probe_sdk.finish()
