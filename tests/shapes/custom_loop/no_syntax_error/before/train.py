for epoch in range(3)
    loss = 1
    print('loss', loss)
