from tqdm import tqdm

chunks = [b"a", b"b"]
size = 0
pbar = tqdm(chunks)
for chunk in pbar:
    size += len(chunk)
    pbar.set_postfix(size=size, speed=1.0)
