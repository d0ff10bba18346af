"""Miles for tests: small packages in its version forms, planned and written, and what its Probe queue holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instrument.plan.context import Options
from instrument.plan.edits import ordered
from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

SHAPES = Path(__file__).with_name("shapes") / "miles"


def planned(folder: Path, **options: Any) -> tuple[Plan, dict[str, str]]:
    """The plan for a folder, and the text of each file that it edits."""
    repo = Repository(folder)
    plan = make_plan(repo, Options(**options))
    texts = {
        path: repo.source(path).render(ordered(e for e in plan.edits if e.path == path)).decode()
        for path in {edit.path for edit in plan.edits}
    }
    return plan, texts | {new.path: new.text for new in plan.new_files}


def files(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def copied(folder: Path, to: Path) -> Path:
    """A fixture outside any folder called `tests`, whose files would be left alone."""
    for path, text in files(folder).items():
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        (to / path).write_text(text)
    return to


def applied(folder: Path, **options: Any) -> Path:
    """Write the plan for a folder into it, by rendering alone."""
    _, texts = planned(folder, **options)
    for path, text in texts.items():
        (folder / path).write_text(text)
    return folder


@dataclass
class Queue:
    """What Miles' Probe backend queued: (key, step, value) of every point, and the last word on the run."""

    points: list[tuple[str, int | None, float]] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    status: str | None = None
    intent: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, save: Path) -> Queue:
        """Read `<save>/probe/metrics`; empty where there is none."""
        found = cls()
        for path in sorted(save.glob("probe/metrics/*/pending/*.json")):
            record = json.loads(path.read_text())
            if record["type"] == "finish":
                found.status = record["status"]
                continue
            for key, value in record["metrics"].items():
                found.points.append((key, record["step"], value))
                found.kinds[key] = record["kind"]
        for path in save.glob("probe/metrics/*/intent.json"):
            found.intent = json.loads(path.read_text())
        return found


#: A driver and an actor in a process of its own, whose arguments arrive pickled, as Ray's do.
DRIVER = """
import argparse, importlib, multiprocessing, sys

def actor(args, name):
    tracking = importlib.import_module(name)
    tracking.init_tracking(args, primary=False)
    for i in range(3):
        tracking.log(args, {"rollout/reward": i / 10, "rollout/step": i}, "rollout/step")
        tracking.log(args, {"train/loss": 1.0 - i, "train/step": 10 + i}, "train/step")
    tracking.log(args, {"eval/acc": 0.5, "eval/step": 2}, "eval/step")

def main(name, save, end):
    args = argparse.Namespace(save=save, use_wandb=False, wandb_group=None)
    tracking = importlib.import_module(name)
    if end == "off":
        args.use_probe = False
    tracking.init_tracking(args)
    if hasattr(tracking, "define_step_key_metric_group"):
        tracking.define_step_key_metric_group("adapter", "adapter/step")
    process = multiprocessing.get_context("spawn").Process(target=actor, args=(args, name))
    process.start()
    process.join()
    finish = getattr(tracking, "finish_tracking", lambda: None)
    try:
        if end == "crash":
            raise ValueError("diverged")
        if end == "stopped":
            raise KeyboardInterrupt
    finally:
        finish()
    print("trained", process.exitcode)

if __name__ == "__main__":
    main(*sys.argv[1:])
"""

#: What the actor of DRIVER logs.
LOGGED = sorted(
    [
        *[("rollout/reward", i, i / 10) for i in range(3)],
        *[("train/loss", 10 + i, 1.0 - i) for i in range(3)],
        ("eval/acc", 2, 0.5),
    ]
)


def run(folder: Path, code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code as a script in a folder, without anybody's token or home."""
    script = folder / "run_it.py"
    script.write_text(code)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROBE_", "WANDB_", "MILES_", "SLURM_", "RAY_"))}
    paths = os.pathsep.join([str(folder), *([environment.pop("PYTHONPATH")] if "PYTHONPATH" in environment else [])])
    kept.update(
        HOME=str(folder / "home"), PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1", RAY_ADDRESS="local", **environment
    )
    return subprocess.run(
        [sys.executable, str(script), *arguments], cwd=folder, env=kept, capture_output=True, text=True, timeout=180
    )
