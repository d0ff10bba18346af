import xgboost as xgb
from xgboost import XGBClassifier, XGBRegressor


def native(params, dtrain, dvalid):
    return xgb.train(
        params,
        dtrain,
        num_boost_round=100,
        evals=[(dtrain, "train"), (dvalid, "valid")],
        callbacks=[xgb.callback.EarlyStopping(rounds=10)],
    )


def crossed(dtrain):
    return xgb.cv({"max_depth": 4}, dtrain, nfold=5)


def estimator(x, y, x_valid, y_valid):
    model = XGBClassifier(n_estimators=100, max_depth=4)
    model.fit(x, y, eval_set=[(x_valid, y_valid)])
    return model


class Model:
    def __init__(self, **settings):
        self.model = XGBRegressor(**settings)

    def fit(self, x, y, x_valid, y_valid):
        self.model.fit(x, y, eval_set=[(x_valid, y_valid)], verbose=False)
