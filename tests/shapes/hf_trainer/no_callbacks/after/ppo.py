"""PPO as TRL had it up to 0.11: no Hugging Face Trainer."""

from trl import AutoModelForCausalLMWithValueHead, PPOConfig, PPOTrainer

from probe_tracking import ProbeTracker


def main(tokenizer, data, reward):
    model = AutoModelForCausalLMWithValueHead.from_pretrained("tiny")
    trainer = PPOTrainer(PPOConfig(model_name="tiny", log_with="wandb"), model, None, tokenizer)
    trainer.accelerator.trackers.append(ProbeTracker(config=vars(trainer.config)))
    for batch in data:
        answers = trainer.generate(batch["query"])
        rewards = [reward(answer) for answer in answers]
        stats = trainer.step(batch["query"], answers, rewards)
        trainer.log_stats(stats, batch, rewards)
