links = {"a": ["b"], "b": ["a", "c"], "c": ["a"]}
rank = {page: 1 / 3 for page in links}
for iteration in range(10):
    new = {page: 0.15 for page in links}
    for page, out in links.items():
        for other in out:
            new[other] += 0.85 * rank[page] / len(out)
    delta = sum(abs(new[p] - rank[p]) for p in links)
    rank = new
    print(f"iteration {iteration} delta {delta:.5f}")
