from torchtitan.models.llama3 import llama3_configs


def build(trainer, name):
    trainer.train()
    return llama3_configs[name]
