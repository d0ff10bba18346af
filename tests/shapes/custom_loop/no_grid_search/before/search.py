class SVC:
    def __init__(self, C):
        self.C = C

    def fit(self, X, y):
        return self

    def score(self, X, y):
        return self.C / 10


best = 0.0
for C in [0.1, 1.0, 10.0]:
    clf = SVC(C).fit([], [])
    accuracy = clf.score([], [])
    print(f"C={C} accuracy={accuracy:.3f}")
    best = max(best, accuracy)
