from mmengine.config import Config
from mmengine.registry import MODELS
from mmengine.runner import Runner

cfg = Config.fromfile("config.py")
model = MODELS.build(cfg.model)
runner = Runner.from_cfg(cfg)
runner.test()
