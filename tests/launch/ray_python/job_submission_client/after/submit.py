import os

from ray.job_submission import JobSubmissionClient

client = JobSubmissionClient("http://127.0.0.1:8265")
client.submit_job(entrypoint="python train.py", runtime_env={"env_vars": {"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}})
client.submit_job(
    entrypoint="python train.py",
    runtime_env={"working_dir": "./", "env_vars": {"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}},
)
client.submit_job(entrypoint="python train.py", runtime_env={"working_dir": "./", "env_vars": {"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}})
env = {"working_dir": "./", "pip": "requirements.txt", "env_vars": {"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}}
client.submit_job(entrypoint="python train.py", runtime_env=env)
client.submit_job(entrypoint="python train.py", runtime_env=env, metadata={"a": "b"})
client.submit_job(entrypoint="python train.py", runtime_env=dict(working_dir="./", env_vars=dict(os.environ)))
client.submit_job(
    entrypoint="python train.py",
    runtime_env=dict(env_vars=dict(WANDB_API_KEY=os.environ["WANDB_API_KEY"], PROBE_TOKEN=os.environ.get("PROBE_TOKEN", ""))),
)
names = {k: os.environ[k] for k in ["WANDB_API_KEY", "HF_TOKEN"]}
client.submit_job(entrypoint="python train.py", runtime_env={"env_vars": names})


def later(options):
    client.submit_job(entrypoint="python train.py", **options)
