from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import CheckpointCallback
from stable_baselines3.common.logger import configure

model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, device="cpu", seed=0)
model.set_logger(configure("logs", ["csv"]))
model.learn(256, callback=[CheckpointCallback(1000, "checkpoints")], log_interval=1)

other = A2C("MlpPolicy", "CartPole-v1", device="cpu", seed=0)
other.set_logger(configure("more", ["csv"]))
for _ in range(2):
    other.learn(total_timesteps=200, reset_num_timesteps=False, log_interval=10)
