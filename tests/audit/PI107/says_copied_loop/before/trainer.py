class Trainer:
    def fit(self):
        pass
