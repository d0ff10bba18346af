def shard(rank, items):
    per_rank = len(items)
    for i in range(per_rank):
        step_index = rank * per_rank + i
        print(step_index)
