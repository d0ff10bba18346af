import json, numpy as np
from catboost import CatBoostClassifier
rng = np.random.default_rng(0)
x = rng.normal(size=(200, 4)); y = (x[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
model = CatBoostClassifier(iterations=30, verbose=False, thread_count=1, early_stopping_rounds=3)
model.fit(x[:150], y[:150], eval_set=(x[150:], y[150:]))
json.dump(model.get_evals_result(), open("record.json", "w"))
