import json

import numpy as np
import xgboost as xgb
from xgboost import XGBClassifier

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 4))
y = (x[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
params = {"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "nthread": 1}
train, valid = xgb.DMatrix(x[:150], y[:150]), xgb.DMatrix(x[150:], y[150:])

record = {}
stop = [xgb.callback.EarlyStopping(rounds=3)]
xgb.train(params, train, 50, evals=[(train, "train"), (valid, "valid")], evals_result=record, callbacks=stop, verbose_eval=False)
model = XGBClassifier(n_estimators=6, n_jobs=1)
model.fit(x[:150], y[:150], eval_set=[(x[150:], y[150:])], verbose=False)
crossed = xgb.cv(params, train, num_boost_round=4, as_pandas=False)
with open("record.json", "w") as file:
    json.dump([record, model.evals_result(), crossed], file)
