from rsl_rl.runners import OnPolicyRunner

runner = OnPolicyRunner(env, cfg, log_dir=None, device="cpu")
runner.load("model.pt")
policy = runner.get_inference_policy(device="cpu")
