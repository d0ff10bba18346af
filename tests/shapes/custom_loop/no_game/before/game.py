score = 0
for round_number, guess in enumerate([3, 5, 7]):
    score += guess == 7
    print(f"Round {round_number}: score {score}")
print("final score", score)
