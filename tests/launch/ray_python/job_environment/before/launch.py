import json
import os
import subprocess


def execute(master, extra):
    runtime_env_vars = {
        "PYTHONUNBUFFERED": "1",
        **({"A": "1"} if master else {}),
        # needed
        "MASTER_ADDR": master,
        **extra,
    }
    runtime_env_json = json.dumps({"env_vars": runtime_env_vars})
    subprocess.run(f"ray job submit --runtime-env-json='{runtime_env_json}' -- python3 train.py", shell=True)
