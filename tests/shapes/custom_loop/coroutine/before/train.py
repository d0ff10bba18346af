import asyncio


async def batches():
    for x in (1.0, 2.0):
        yield x


async def train(lr=0.1):
    w = 2.0
    async for x in batches():
        grad = 2 * w * x
        w -= lr * grad
        print(f"loss {w * w:.3f}, {10 * w:.1f}% accuracy")


asyncio.run(train())
