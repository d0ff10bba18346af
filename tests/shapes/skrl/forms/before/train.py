import gymnasium as gym
from skrl.agents.torch.ppo import PPO, PPO_DEFAULT_CONFIG
from skrl.agents.torch.sac import SAC, SAC_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.trainers.torch import SequentialTrainer
from skrl.utils.runner.torch import Runner

env = wrap_env(gym.make("Pendulum-v1"))
memory = RandomMemory(memory_size=1024, num_envs=1)
cfg = PPO_DEFAULT_CONFIG.copy()
agent = PPO(
    models={},
    memory=memory,
    cfg=cfg,
    observation_space=env.observation_space,
    action_space=env.action_space,
)
trainer = SequentialTrainer(cfg={"timesteps": 1000}, env=env, agents=agent)
trainer.train()


class Guided(SAC):
    def track(self):
        self.track_data("Guide / weight", 1.0)


def guided(models):
    return SequentialTrainer(env=env, agents=Guided(models=models, cfg=SAC_CFG())).train()


def from_config(settings):
    Runner(env, settings).run("train")
