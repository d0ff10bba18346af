import torch
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict


class Walk(VecEnv):
    num_envs, num_actions, max_episode_length, device, cfg = 4, 1, 8, "cpu", {}

    def __init__(self):
        self.episode_length_buf = torch.zeros(4, dtype=torch.long)
        self.at = torch.zeros(4, 2)

    def get_observations(self):
        return TensorDict({"policy": self.at.clone()}, batch_size=[4])

    def reset(self):
        return self.get_observations(), {}

    def step(self, actions):
        self.at[:, :1] += actions.clamp(-1, 1)
        self.episode_length_buf += 1
        done = self.episode_length_buf >= self.max_episode_length
        self.at[done] = 0
        self.episode_length_buf[done] = 0
        reward = -self.at[:, 0].abs()
        extras = {"time_outs": done.float(), "log": {"distance": self.at[:, 0].abs().mean()}}
        return self.get_observations(), reward, done.long(), extras


torch.manual_seed(0)
model = {"class_name": "rsl_rl.models.MLPModel", "hidden_dims": [8], "activation": "elu"}
cfg = {
    "num_steps_per_env": 8,
    "save_interval": 100,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "actor": {**model, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}},
    "critic": model,
    "algorithm": {"class_name": "rsl_rl.algorithms.PPO", "num_learning_epochs": 1, "num_mini_batches": 1},
}
runner = OnPolicyRunner(Walk(), cfg, log_dir="logs", device="cpu")
runner.learn(3)
