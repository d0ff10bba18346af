import mlflow

with mlflow.start_run(run_name="parent"):
    for fold in range(2):
        with mlflow.start_run(run_name=f"fold{fold}", nested=True):
            mlflow.log_metric("loss", 1.0 / (fold + 1), step=fold)
