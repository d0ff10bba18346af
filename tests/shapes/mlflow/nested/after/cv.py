import mlflow

import probe_tracking as probe

with mlflow.start_run(run_name="parent"):
    for fold in range(2):
        with mlflow.start_run(run_name=f"fold{fold}", nested=True), probe.init(name=f"fold{fold}"):
            _value = 1.0 / (fold + 1)
            mlflow.log_metric("loss", _value, step=fold)
            probe.log({"loss": _value}, step=fold)
