import json

import lightgbm as lgb
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 4))
y = (x[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
params = {"objective": "binary", "metric": ["auc", "binary_logloss"], "verbose": -1, "num_threads": 1}
train, valid = lgb.Dataset(x[:150], y[:150]), lgb.Dataset(x[150:], y[150:])

record = {}
lgb.train(
    params,
    train,
    num_boost_round=50,
    valid_sets=[valid],
    callbacks=[lgb.early_stopping(3, verbose=False), lgb.record_evaluation(record)],
)
model = lgb.LGBMClassifier(n_estimators=6, verbose=-1)
model.fit(x[:150], y[:150], eval_set=[(x[150:], y[150:])])
with open("record.json", "w") as file:
    json.dump([record, model.evals_result_], file)
