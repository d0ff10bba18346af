tokens = [1]
for step in range(5):
    logits = [t * 2 for t in tokens]
    token = max(logits) % 7
    perplexity = 1.0 / (1 + token)
    tokens.append(token)
    print(f"step {step} token {token} perplexity {perplexity:.2f}")
