from catboost import CatBoostClassifier, Pool

from probe_tracking import ProbeCatBoostCallback


def train(x, y, valid):
    model = CatBoostClassifier(iterations=100, verbose=False)
    model.fit(Pool(x, y), eval_set=valid, callbacks=[ProbeCatBoostCallback()])
    return model


def untracked(x, y):
    return CatBoostClassifier().fit(x, y)
