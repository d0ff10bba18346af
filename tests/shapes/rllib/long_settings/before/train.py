from ray.rllib.algorithms.ppo import PPOConfig

config = (
    PPOConfig()
    .environment("CartPole-v1")
    .framework("torch")
    .env_runners(num_env_runners=2)
    .training(lr=1e-4, gamma=0.99)
    .learners(num_learners=0)
    .evaluation(evaluation_interval=5)
)
algo = config.build_algo()
for _ in range(10):
    result = algo.train()
algo.stop()
