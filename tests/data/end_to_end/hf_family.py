"""Trainers without any tracker: a subclass that overrides `log`, one that is trained twice, Seq2Seq, a search of trials."""

import importlib.util
import json

import torch
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, Trainer, TrainerCallback, TrainingArguments, set_seed

kept = []


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, x, labels=None):
        y = self.layer(x)[:, 0]
        return {"loss": ((y - labels) ** 2).mean(), "logits": y}


class Doubled(Trainer):
    def log(self, logs, *args, **kwargs):
        if "loss" in logs:
            logs["doubled"] = 2 * logs["loss"]
        super().log(logs, *args, **kwargs)


class Keep(TrainerCallback):
    """What the Trainer logs, a list for each training."""

    def on_train_begin(self, args, state, control, **kwargs):
        kept.append([])

    def on_log(self, args, state, control, logs=None, **kwargs):
        kept[-1].append({**logs, "step": state.global_step})


def arguments(kind, **more):
    return kind(
        "out", max_steps=3, logging_steps=1, per_device_train_batch_size=4, eval_strategy="steps", eval_steps=3,
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True, **more,
    )  # fmt: skip


def main():
    set_seed(0)
    data = [{"x": torch.randn(2), "labels": torch.tensor(1.0)} for _ in range(8)]
    given = {"train_dataset": data, "eval_dataset": data}
    Doubled(Line(), arguments(TrainingArguments), callbacks=[Keep()], **given).train()
    more = [Keep()]
    trainer = Seq2SeqTrainer(Line(), arguments(Seq2SeqTrainingArguments, run_name="seq2seq"), callbacks=more, **given)
    trainer.train()
    if importlib.util.find_spec("optuna"):
        trainer = Trainer(model_init=Line, args=arguments(TrainingArguments), callbacks=(Keep(),), **given)
        trainer.hyperparameter_search(
            lambda trial: {"learning_rate": trial.suggest_float("learning_rate", 1e-3, 1e-1, log=True)},
            n_trials=3,
            backend="optuna",
            direction="minimize",
        )
    with open("record.json", "w") as file:
        json.dump(kept, file)


if __name__ == "__main__":
    main()
