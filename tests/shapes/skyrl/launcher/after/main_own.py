import ray
from skyrl.train.entrypoints.main_base import BasePPOExp

import probe_tracking as probe


class OwnExp(BasePPOExp):
    def get_generator(self, cfg, tokenizer, client):
        return OwnGenerator(cfg, tokenizer, client)

    def get_tracker(self):
        probe.init(name=self.cfg.trainer.run_name, config=self.cfg)
        return probe.tee(super().get_tracker())


class OwnGenerator:
    def __init__(self, cfg, tokenizer, client):
        self.cfg = cfg


@ray.remote(num_cpus=1)
def skyrl_entrypoint(cfg):
    OwnExp(cfg).run()
