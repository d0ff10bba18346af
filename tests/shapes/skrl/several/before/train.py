from skrl.agents.torch.ddpg import DDPG
from skrl.agents.torch.sac import SAC
from skrl.trainers.torch import SequentialTrainer

first = DDPG(models=one, cfg={})
second = SAC(models=two, cfg={})
SequentialTrainer(cfg={"timesteps": 100}, env=env, agents=[first, second], agents_scope=[64, 64]).train()
