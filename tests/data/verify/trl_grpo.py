from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from tokenizers import Tokenizer, models, pre_tokenizers
from trl import GRPOConfig, GRPOTrainer
from probe.integrations.huggingface import ProbeCallback
set_seed(0)
words = ["<pad>", "<eos>", "a", "b", "c", "d", "e", "f"]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="a")); core.pre_tokenizer = pre_tokenizers.Whitespace()
tok = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="a", padding_side="left")
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(words), n_positions=32, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1, pad_token_id=0))
data = Dataset.from_dict({"prompt": [" ".join(words[2 + (i + j) % 6] for j in range(4)) for i in range(32)]})
def reward(completions, **kw): return [float(c.count("a")) for c in completions]
args = GRPOConfig("out", max_steps=4, logging_steps=1, per_device_train_batch_size=4, num_generations=4, max_completion_length=8, save_strategy="no", report_to="wandb", use_cpu=True, disable_tqdm=True, bf16=False, log_completions=True)
GRPOTrainer(model=model, reward_funcs=reward, args=args, train_dataset=data, processing_class=tok, callbacks=[ProbeCallback()]).train()
