import wandb
from stable_baselines3 import PPO
from wandb.integration.sb3 import WandbCallback

run = wandb.init(project="sb3", config={"total_timesteps": 25000}, sync_tensorboard=True)
model = PPO("MlpPolicy", "CartPole-v1", tensorboard_log=f"runs/{run.id}")
model.learn(total_timesteps=25000, callback=WandbCallback(verbose=2))
run.finish()
