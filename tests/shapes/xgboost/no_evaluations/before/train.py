import xgboost as xgb
from sklearn.model_selection import GridSearchCV

search = GridSearchCV(xgb.XGBClassifier(), {"max_depth": [3, 4]})


def train(params, dtrain, x, y):
    search.fit(x, y)
    model = xgb.XGBRegressor()
    model.fit(x, y)
    return xgb.train(params, dtrain, 100)
