from ray.rllib.algorithms.ppo import PPOConfig

import probe_tracking as probe

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
probe.init()
for _ in range(10):
    result = algo.train()
    probe.log({k: v for k, v in result.items() if k != "config"}, step=result.get("training_iteration"))
algo.stop()
probe.finish()
