from torchtune import config
from torchtune.models.llama3_2 import llama3_2_1b


def build(cfg):
    return config.instantiate(cfg.model), llama3_2_1b()
