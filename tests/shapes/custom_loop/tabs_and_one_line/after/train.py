import probe_tracking as probe

w = 2.0
probe.init()
for epoch in range(3):
	grad = 2 * w
	w -= 0.1 * grad
	if epoch % 2 == 0: print('epoch', epoch, 'loss', w * w); probe.log({"loss": w * w}, step=epoch)
probe.finish()
print('end')
