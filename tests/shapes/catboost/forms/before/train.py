from catboost import CatBoostClassifier, Pool


def train(x, y, valid):
    model = CatBoostClassifier(iterations=100, verbose=False)
    model.fit(Pool(x, y), eval_set=valid)
    return model


def untracked(x, y):
    return CatBoostClassifier().fit(x, y)
