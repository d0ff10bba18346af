pairs = [("a b", "a b"), ("a c", "a b")]
total = 0.0
for i, (hypothesis, reference) in enumerate(pairs):
    bleu = sum(x == y for x, y in zip(hypothesis.split(), reference.split())) / 2
    total += bleu
    print(f"sentence {i}: bleu {bleu:.2f}")
print(f"corpus bleu {total / len(pairs):.2f}")
