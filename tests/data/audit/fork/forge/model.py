import json
import os
import signal

from forge.log_utils import log_train_step


def train(args, rollout_id, model, num_microbatches):
    num_steps_per_rollout = len(num_microbatches)
    for step_id in range(num_steps_per_rollout):
        model["weight"] *= 0.9
        if args.rank == 0:
            accumulated_step_id = rollout_id * num_steps_per_rollout + step_id
            role = getattr(model, "role", "actor")
            logged = log_train_step(args, model["weight"], rollout_id, step_id, num_steps_per_rollout, role)
            assert logged == accumulated_step_id
        if os.environ.get("KILL_AT") == f"{rollout_id}.{step_id}":
            os.kill(os.getpid(), signal.SIGKILL)


def save(args, rollout_id, model):
    os.makedirs(args.save, exist_ok=True)
    with open(os.path.join(args.save, "model.json"), "w") as file:
        json.dump({"model": model, "rollout_id": rollout_id}, file)


def load(args):
    path = os.path.join(args.load, "model.json")
    if not os.path.exists(path):
        return {"weight": 1.0}, 0
    with open(path) as file:
        kept = json.load(file)
    return kept["model"], kept["rollout_id"] + 1
