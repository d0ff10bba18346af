import os
from ray.job_submission import JobSubmissionClient

client = JobSubmissionClient("x")
base = {"working_dir": "."}
a = client.submit_job(entrypoint="python train.py", runtime_env={**base, "pip": ["wandb", "probe-research"]})
b = client.submit_job(entrypoint="python train.py", runtime_env=base | {"pip": ["wandb", "probe-research"]})
c = client.submit_job(entrypoint="python train.py", runtime_env={"env_vars": {**os.environ}} if a else None)
d = client.submit_job(entrypoint="python train.py", runtime_env={"env_vars": {k: os.environ[k] for k in ("WANDB_API_KEY",)}})
e = client.submit_job(entrypoint="python train.py", runtime_env={"env_vars": dict(A="1", PROBE_TOKEN=os.environ.get("PROBE_TOKEN", ""))})
for env in [{"env_vars": {}}]:
    client.submit_job(entrypoint="python train.py", runtime_env=env)


def go(env={"env_vars": {"A": "1"}}):
    client.submit_job(entrypoint="python train.py", runtime_env=env)


def go2(self):
    env = {}
    env["env_vars"] = {"A": "1", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}
    client.submit_job(entrypoint="python train.py", runtime_env=env)
    x = dict(env_vars={"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})
    return client.submit_job(entrypoint="python train.py", runtime_env=x)


class Z:
    env = {"working_dir": "."}

    def go(self):
        return client.submit_job(entrypoint="python train.py", runtime_env=self.env)
