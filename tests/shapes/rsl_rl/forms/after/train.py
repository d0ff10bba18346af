from isaaclab_rl.rsl_rl import RslRlOnPolicyRunnerCfg, RslRlVecEnvWrapper
from rsl_rl.runners import DistillationRunner, OnPolicyRunner

from probe_tracking import record_rsl_rl


class Curriculum(OnPolicyRunner):
    def save(self, path, infos=None):
        super().save(path, infos)


def main(env, agent_cfg: RslRlOnPolicyRunnerCfg, log_dir):
    env = RslRlVecEnvWrapper(env, clip_actions=agent_cfg.clip_actions)
    if agent_cfg.class_name == "OnPolicyRunner":
        runner = OnPolicyRunner(env, agent_cfg.to_dict(), log_dir=log_dir, device=agent_cfg.device)
        record_rsl_rl(runner)
    elif agent_cfg.class_name == "DistillationRunner":
        runner = DistillationRunner(env, agent_cfg.to_dict(), log_dir=log_dir, device=agent_cfg.device)
        record_rsl_rl(runner)
    else:
        raise ValueError(agent_cfg.class_name)
    runner.add_git_repo_to_log(__file__)
    runner.learn(num_learning_iterations=agent_cfg.max_iterations, init_at_random_ep_len=True)


def curriculum(env, cfg):
    runner = Curriculum(env, cfg, log_dir="logs")
    record_rsl_rl(runner)
    runner.learn(100)
