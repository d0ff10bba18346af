import mlflow
