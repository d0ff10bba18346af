class SGDClassifier:
    def __init__(self):
        self.seen = 0

    def partial_fit(self, X, y, classes=None):
        self.seen += len(X)

    def score(self, X, y):
        return self.seen / 10
