from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(0)
words = ["<pad>", "<eos>", "a", "b", "c", "d", "e", "f"]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="a"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="a")
model = GPT2LMHeadModel(
    GPT2Config(vocab_size=len(words), n_positions=32, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1)
)
data = Dataset.from_dict({"text": [" ".join(words[2 + (i + j) % 6] for j in range(10)) for i in range(16)]})
args = SFTConfig(
    "out",
    max_steps=4,
    logging_steps=2,
    per_device_train_batch_size=4,
    save_strategy="no",
    report_to=["wandb"],
    use_cpu=True,
    disable_tqdm=True,
    max_length=16,
    bf16=False,
)
trainer = SFTTrainer(model=model, args=args, train_dataset=data, processing_class=tokenizer)
trainer.train()
