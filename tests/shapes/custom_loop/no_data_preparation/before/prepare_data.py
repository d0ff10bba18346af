import json

for i, line in enumerate(["{}", "{"]):
    try:
        json.loads(line)
    except ValueError as error:
        print(f"line {i}: error {error}")
    if i % 1000 == 0:
        print(f"processed {i} lines, error rate {i / 100:.2f}")
