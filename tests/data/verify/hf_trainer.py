import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from probe.integrations.huggingface import ProbeCallback

class Numbers(Dataset):
    def __len__(self): return 32
    def __getitem__(self, i):
        ids = torch.tensor([(i * j) % 50 for j in range(8)])
        return {"input_ids": ids, "labels": ids}

set_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=8, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0))
args = TrainingArguments("out", max_steps=12, logging_steps=2, eval_strategy="steps", eval_steps=4, per_device_train_batch_size=4, save_strategy="no", report_to=["wandb", "tensorboard"], disable_tqdm=True, use_cpu=True)
Trainer(model, args, train_dataset=Numbers(), eval_dataset=Numbers(), callbacks=[ProbeCallback()]).train()
