from stable_baselines3 import PPO

model = PPO(
    "MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, device="cpu", seed=0, tensorboard_log="runs"
)
model.learn(256, log_interval=1)
