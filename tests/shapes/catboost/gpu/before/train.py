from catboost import CatBoostRegressor


def train(x, y, valid, device):
    model = CatBoostRegressor(iterations=100, task_type="GPU" if device == "cuda" else "CPU")
    model.fit(x, y, eval_set=valid)
    return model
