w = 2.0
for epoch in range(3):
	grad = 2 * w
	w -= 0.1 * grad
	if epoch % 2 == 0: print('epoch', epoch, 'loss', w * w)
print('end')
