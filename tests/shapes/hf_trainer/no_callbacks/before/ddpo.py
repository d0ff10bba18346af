"""Trainers of TRL's own, which log through an Accelerator of theirs."""

from trl import AlignPropConfig, AlignPropTrainer, DDPOConfig, DDPOTrainer


def reward(images, prompts, metadata):
    return images.mean(), {}


def hook(samples, step, tracker):
    tracker.log_images({"images": samples[0][0]}, step=step)


def main(pipeline, prompts):
    config = DDPOConfig(num_epochs=2, log_with="wandb")
    trainer = DDPOTrainer(config, reward, prompts, pipeline, image_samples_hook=hook)
    trainer.train()
    AlignPropTrainer(AlignPropConfig(log_with="tensorboard"), reward, prompts, pipeline).train()
