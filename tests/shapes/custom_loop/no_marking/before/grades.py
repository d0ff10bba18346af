students = {"a": [1, 0, 1], "b": [1, 1, 1]}
for student, answers in students.items():
    accuracy = sum(answers) / len(answers)
    print(f"{student}: accuracy {accuracy:.2f}")
