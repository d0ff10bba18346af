import ray
from skyrl.train.entrypoints.main_base import BasePPOExp


class OwnExp(BasePPOExp):
    def get_generator(self, cfg, tokenizer, client):
        return OwnGenerator(cfg, tokenizer, client)


class OwnGenerator:
    def __init__(self, cfg, tokenizer, client):
        self.cfg = cfg


@ray.remote(num_cpus=1)
def skyrl_entrypoint(cfg):
    OwnExp(cfg).run()
