from ray.rllib.algorithms.ppo import PPOConfig

import probe_tracking as probe

algo = PPOConfig().environment("CartPole-v1").build()
probe.init()
for _ in range(3):
    result = algo.train()
    probe.log({k: v for k, v in result.items() if k != "config"}, step=result.get("training_iteration"))
algo.stop()
probe.finish()
