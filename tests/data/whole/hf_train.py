import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


class Numbers(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        ids = torch.tensor([(i * j) % 50 for j in range(8)])
        return {"input_ids": ids, "labels": ids}


def main():
    set_seed(0)
    config = GPT2Config(vocab_size=50, n_positions=8, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
    args = TrainingArguments(
        "out",
        max_steps=6,
        logging_steps=2,
        eval_strategy="steps",
        eval_steps=3,
        per_device_train_batch_size=4,
        save_strategy="no",
        report_to="wandb",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=Numbers(), eval_dataset=Numbers())
    trainer.train()


if __name__ == "__main__":
    main()
