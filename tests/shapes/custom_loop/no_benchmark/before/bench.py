import time

for step in range(3):
    begun = time.perf_counter()
    sum(range(1000))
    elapsed = time.perf_counter() - begun
    print(f"step {step}: {elapsed:.4f}s, throughput {1000 / (elapsed + 1):.1f}")
