import gymnasium as gym
import torch
from skrl.agents.torch.dqn import DQN, DQN_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed


class Q(DeterministicMixin, Model):
    def __init__(self, **kwargs):
        Model.__init__(self, **kwargs)
        DeterministicMixin.__init__(self)
        self.net = torch.nn.Linear(4, 2)

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {}


set_seed(0)
env = wrap_env(gym.make("CartPole-v1"))
spaces = dict(observation_space=env.observation_space, action_space=env.action_space, device=env.device)
cfg = DQN_CFG()
cfg.learning_starts, cfg.batch_size, cfg.random_timesteps = 20, 8, 20
cfg.experiment.directory, cfg.experiment.write_interval, cfg.experiment.checkpoint_interval = "logs", 20, 0
agent = DQN(
    models={"q_network": Q(**spaces), "target_q_network": Q(**spaces)},
    memory=RandomMemory(memory_size=100, num_envs=1, device=env.device),
    cfg=cfg,
    **spaces,
)
SequentialTrainer(cfg={"timesteps": 120, "headless": True}, env=env, agents=agent).train()
