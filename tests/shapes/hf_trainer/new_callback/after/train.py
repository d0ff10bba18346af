from transformers import Trainer, TrainingArguments

from probe_tracking import ProbeCallback


def main(model, data):
    args = TrainingArguments(output_dir="out", report_to="wandb")
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=data,
        callbacks=[ProbeCallback()],
    )
    trainer.train()
