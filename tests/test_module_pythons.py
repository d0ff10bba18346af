"""The module on every Python that is here, with a small stand-in for the SDK that closes its run as the SDK does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.module_lab import Lab

SDK = """
import atexit, json, os

class Run:
    def __init__(self):
        self.rows, self.status, self.pid = [], None, os.getpid()
    def log(self, metrics, *, step, wall_clock):
        if metrics:
            self.rows.append([step, metrics, self.status])
    def finish(self, status="completed"):
        self.status = status
        with open(f"run-{os.getpid()}.json", "w") as file:
            json.dump({"rows": self.rows, "status": status}, file)

current = None

def init(**given):
    global current
    current = Run()
    atexit.register(at_exit)
    return current

def at_exit():
    if current is not None and current.pid == os.getpid():
        finish()

def active_run():
    return current

def finish(status="completed"):
    global current
    run, current = current, None
    run.finish(status)
"""
SCRIPT = """
import os, sys, multiprocessing
import probe_tracking as probe

def child():
    probe.init(name="child")
    probe.log({"child": 1.0})

probe.init(name="r", config={"a": 1}, tags="t")
for step in range(500):
    probe.log({"a": 1.0, "b": {"c": step}, "text": "x"}, step=step)
if hasattr(os, "fork"):
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0
probe.log({"last": True})
"""


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
def test_rows_are_out_before_the_process_ends(tmp_path: Path, version: str) -> None:
    python = sys.executable if version == "{}.{}".format(*sys.version_info) else shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no Python {version} here")
    lab = Lab(tmp_path, ["core", "wandb", "axes", "huggingface", "lightning", "accelerate"])
    lab.write("probe/__init__.py", SDK)
    lab.write("train.py", SCRIPT)
    done = subprocess.run([python, "-W", "error", "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    records = [json.loads(path.read_text()) for path in tmp_path.glob("run-*.json")]
    # Since 3.13 a forked worker runs its own `atexit` hooks too.
    assert [record["rows"] for record in records if len(record["rows"]) == 1] in ([], [[[0, {"child": 1.0}, None]]])
    [record] = [record for record in records if len(record["rows"]) > 1]
    assert record["status"] == "completed"
    rows = [[step, {"a": 1.0, "b.c": float(step)}, None] for step in range(499)]
    assert record["rows"] == [*rows, [499, {"a": 1.0, "b.c": 499.0, "last": 1.0}, None]]
