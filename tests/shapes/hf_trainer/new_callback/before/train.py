from transformers import Trainer, TrainingArguments


def main(model, data):
    args = TrainingArguments(output_dir="out", report_to="wandb")
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=data,
    )
    trainer.train()
