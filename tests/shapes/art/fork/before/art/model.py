import json
import os
import time


class Model:
    name: str = "first"
    _wandb_run = None

    def _get_wandb_run(self):
        import wandb

        if self._wandb_run is None:
            run = wandb.init(project="toy", name=self.name, resume="allow")
            self._wandb_run = run
            run.define_metric("training_step")
            run.define_metric("train/*", step_metric="training_step")
        return self._wandb_run

    def _log_metrics(self, metrics, split, step):
        """Log metrics to history.jsonl and optionally wandb."""
        prefixed = {f"{split}/{k}": v for k, v in metrics.items()}
        prefixed["training_step"] = step
        prefixed["time/wall_clock_sec"] = time.time()

        output_dir = f".art/{self.name}"
        os.makedirs(output_dir, exist_ok=True)
        with open(f"{output_dir}/history.jsonl", "a") as f:
            f.write(json.dumps(prefixed | {"step": step}) + "\n")

        if "WANDB_API_KEY" in os.environ:
            if run := self._get_wandb_run():
                run.log(prefixed)
