from skrl.agents.torch.ppo import PPO
from skrl.trainers.torch import SequentialTrainer

agent = PPO(models=models, cfg={})
agent.load("agent.pt")
SequentialTrainer(cfg={"timesteps": 100}, env=env, agents=agent).eval()
