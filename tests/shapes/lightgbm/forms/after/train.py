import lightgbm as lgb
from lightgbm import LGBMRegressor

from probe_tracking import ProbeLightGBMCallback, with_callback


def native(params, train, valid):
    return lgb.train(params, train, 100, valid_sets=[valid], callbacks=[lgb.early_stopping(10), lgb.log_evaluation(5), ProbeLightGBMCallback()])


def folds(params, sets):
    for train, valid in sets:
        callbacks = [lgb.early_stopping(10)]
        lgb.train(params, train, valid_sets=[train, valid], callbacks=[*callbacks, ProbeLightGBMCallback()])


def estimator(x, y, x_valid, y_valid, callbacks=None):
    model = LGBMRegressor(n_estimators=100)
    model.fit(x, y, eval_set=[(x_valid, y_valid)], callbacks=[ProbeLightGBMCallback()])
    return model.fit(x, y, eval_set=[(x_valid, y_valid)], callbacks=with_callback(callbacks, ProbeLightGBMCallback()))
