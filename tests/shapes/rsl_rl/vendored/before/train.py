from rsl_rl.runners import OnPolicyRunner

OnPolicyRunner(env, {}).learn(3)
