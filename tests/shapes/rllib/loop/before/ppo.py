from ray.rllib.algorithms.ppo import PPOConfig

algo = PPOConfig().environment("CartPole-v1").build()
for _ in range(3):
    result = algo.train()
algo.stop()
