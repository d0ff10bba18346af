"""RL trainers with a tracker layer of their own: what is edited, and what their layer then sends to Probe when it runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.miles import SHAPES, applied, copied, files, planned, run

ROOT = SHAPES.parent
FRAMEWORKS = (
    "areal", "art", "ms_swift", "nemo_rl", "oat", "openrlhf", "prime_rl", "rllm", "roll", "skyrl", "torchforge",
    "unknown_tracker",
)  # fmt: skip
CASES = sorted(f"{shape}/{p.name}" for shape in FRAMEWORKS for p in (ROOT / shape).iterdir())


@pytest.mark.parametrize("case", CASES)
def test_before_and_after(case: str, tmp_path: Path) -> None:
    root = copied(ROOT / case / "before", tmp_path)
    plan, texts = planned(root)
    ours = {path: text for path, text in texts.items() if path.endswith("probe_tracking.py")}
    assert {path: text for path, text in texts.items() if path not in ours} == files(ROOT / case / "after")
    assert len(ours) <= 1
    shape = case.split("/")[0]
    assert shape in plan.shapes
    for edit in plan.edits:
        if edit.rule in FRAMEWORKS:
            assert edit.applicability == ("review" if shape in ("unknown_tracker", "art") else "safe")
    for path, text in texts.items():
        compile(text, path, "exec")
        (root / path).write_text(text)
    assert planned(root)[1] == {}


@dataclass
class Record:
    """What an offline run holds."""

    points: list[tuple[str, int | None, float]] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    name: str | None = None
    config: dict[str, Any] = field(default_factory=dict)


def recorded(outbox: Path) -> Record:
    """Read every offline run below an outbox as one."""
    record = Record()
    for path in sorted(outbox.glob("offline/*/ops/*.json")):
        operation = json.loads(path.read_text())
        body = operation.get("body") or {}
        record.points += [(p["key"], p["step_index"], p["value"]) for p in body.get("points", [])]
        record.statuses += [body["status"]] if "status" in body else []
        created = (operation.get("create") or {}).get("body", {})
        record.name = created.get("name") or record.name
        record.config.update(created.get("config") or {})
    return record


#: Stand-ins for libraries that a layer imports at its top, which are not there.
SILENT = "def __getattr__(name):\n    return lambda *args, **kwargs: None\n"


def layer(case: str, tmp_path: Path) -> Path:
    """The instrumented fixture, with libraries that swallow everything beside it."""
    folder = applied(copied(ROOT / case / "before", tmp_path / "repo"))
    for name in ("swanlab", "wandb"):
        (folder / f"{name}.py").write_text(SILENT)
    return folder


#: The same for a layer that keeps what it is given: it may be called, and has every method.
STAND_IN = """
class Any:
    def __getattr__(self, name):
        return lambda *args, **kwargs: self

def remote(cls):
    return cls

def __getattr__(name):
    return lambda *args, **kwargs: Any()
"""

#: The script of a fixture, and the points that it must leave.
RUNS: dict[str, tuple[str, list[tuple[str, int, float]]]] = {
    "skyrl/fork": (  # T2
        "main.py",
        [p for s in (1, 2, 3) for p in (("policy/loss", s, 1 / s), ("timing/step", s, 0.5))],
    ),
    "roll/fork": (  # R2
        "main.py",
        [p for s in (0, 1, 2) for p in (("actor/loss", s, 1.0 - s), ("system/step", s, float(s)))],
    ),
    "nemo_rl/fork": (  # L1
        "main.py",
        [*(p for s in (1, 2, 3) for p in (("train/loss", s, 1 / s), ("validation/accuracy", s, 0.5))),
         ("ray/gpu", 7, 90.0)],
    ),
    "prime_rl/fork": ("src/prime_rl/train.py", [("loss", s, 1.0 - s) for s in (0, 1, 2)]),  # L1, module functions
    "areal/fork": ("main.py", [("loss", s, 1.0 - s) for s in (0, 1, 2, 3)]),  # L2
    "openrlhf/fork": (  # H1
        "main.py",
        [*(("train/loss", s, 1 / s) for s in (1, 2, 3)), ("eval/accuracy", 3, 0.5)],
    ),
}  # fmt: skip


#: A layer of nobody's: how it is built, fed (row `r`, step `s`) and closed, with two trackers on.
OWN = {
    "flags": ("import acme.tracking as t; t.start(A(use_wandb=True, use_tensorboard=True, project='p', logdir='d'))",
              "t.record(r, s)", "t.stop()"),
    "recorders": ("import acme.sinks as t; m = t.get_recorder('stdout', {'lr': 1})", "m.log(r, s)", "m.finish()"),
    "checked_list": ("import acme.metrics as t; m = t.Metrics('p', 'n', ['wandb', 'console'], {'lr': 1})",
                     "m.record(r, s)", "m.close()"),
    "one_backend": ("import acme.metrics as t; m = t.RunLog('p', 'n', 'console')", "m.log(r, s, commit=True)",
                    "m.finish()"),
    "sinks": ("import acme.fan as t; m = t.Fan({'wandb': True, 'tensorboard': True})", "m.write(r, s)", "m.close()"),
    "factory": ("import acme.observability as t; m = t.MetricActor({'console': {}, 'wandb': {'project': 'p'}})",
                "m.flush(r, s)", "m.shutdown()"),
}  # fmt: skip


@pytest.mark.parametrize("end", ["", "crash"])
@pytest.mark.parametrize("case", OWN)
def test_a_layer_of_nobodys_sends_its_rows_once(case: str, end: str, tmp_path: Path) -> None:
    """However many trackers are on; a crash is recorded as failed; without the SDK the program runs as it did."""
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder = applied(copied(ROOT / "unknown_tracker" / case / "before", tmp_path / "repo"))
    for name in ("wandb", "torch/__init__", "torch/utils/__init__", "torch/utils/tensorboard", "ray"):
        (folder / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(STAND_IN)
    opened, fed, closed = OWN[case]
    code = (
        "import argparse, sys\n"
        "if 'missing' in sys.argv: sys.modules['probe'] = None\n"
        f"A = argparse.Namespace\n{opened}\n"
        "try:\n"
        f"    for s in (1, 2, 3):\n        r = {{'loss': 1 / s}}\n        {fed}\n"
        "    if 'crash' in sys.argv: raise ValueError('diverged')\n"
        f"finally:\n    {closed}\n"
    )
    for missing in (False, True):
        outbox = tmp_path / f"outbox-{missing}"
        arguments = [end, *(["missing"] if missing else [])]
        done = run(folder, code, *arguments, PROBE_MODE="offline", PROBE_OUTBOX_DIR=str(outbox))
        assert (done.returncode != 0) == bool(end), done.stderr
        assert "diverged" in done.stderr or not end
        record = recorded(outbox)
        assert record.points == ([] if missing else [("loss", s, 1 / s) for s in (1, 2, 3)])
        assert record.statuses == ([] if missing else ["failed" if end else "completed"])


@pytest.mark.parametrize("end", ["", "crash"])
@pytest.mark.parametrize("case", RUNS)
def test_the_layer_sends_its_rows(case: str, end: str, tmp_path: Path) -> None:
    """Every row once, at the layer's own step, with no other tracker on; a crash is recorded as failed."""
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder = layer(case, tmp_path)
    script, points = RUNS[case]
    done = run(
        folder, (folder / script).read_text(), end, PROBE_MODE="offline", PROBE_OUTBOX_DIR=str(tmp_path / "outbox"),
        PYTHONPATH=str(folder / "src"),
    )  # fmt: skip
    assert (done.returncode != 0) == bool(end), done.stderr
    record = recorded(tmp_path / "outbox")
    assert sorted(record.points) == sorted(points)
    assert record.statuses == ["failed" if end else "completed"]


def test_logins_stay_out_of_the_config(tmp_path: Path) -> None:
    """OpenRLHF's `--logger.wandb.key` is a login under a name that tells nobody so."""
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder = layer("openrlhf/fork", tmp_path)
    code = (folder / "main.py").read_text().replace('key=""', 'key="s3cret-login", level=3')
    trainer = folder / "openrlhf/trainer/ppo_trainer.py"  # W&B itself is not there
    trainer.write_text(trainer.read_text().replace("WandbLogger(self.args) if", "None if"))
    done = run(folder, code, PROBE_MODE="offline", PROBE_OUTBOX_DIR=str(tmp_path / "outbox"))
    assert done.returncode == 0, done.stderr
    record = recorded(tmp_path / "outbox")
    assert record.name == "first"
    assert record.config["lr"] == 0.1
    assert record.config["logger"]["wandb"]["level"] == 3
    everything = "".join(path.read_text() for path in (tmp_path / "outbox").rglob("*.json"))
    assert "s3cret-login" not in everything


BREAKS = {
    "missing": "",
    "someone else's": "VERSION = 1\n",
    "raises when imported": "raise RuntimeError('broken install')\n",
    "raises when called": (
        "class Run:\n"
        "    def log(self, *args, **kwargs): raise OSError('disk is full')\n"
        "    finish = log\n"
        "run = Run()\n"
        "def init(**kwargs): return run\n"
        "def active_run(): return run\n"
        "def finish(*args): raise OSError('disk is full')\n"
    ),
    "raises when opened": (
        "def init(**kwargs): raise OSError('no token')\ndef active_run(): return None\ndef finish(*args): pass\n"
    ),
}


@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("case", RUNS)
def test_an_sdk_that_breaks_costs_nothing(case: str, how: str, tmp_path: Path) -> None:
    """The layer's own output and exit code stay; what is wrong with Probe is said on stderr."""
    script = RUNS[case][0]
    plain = copied(ROOT / case / "before", tmp_path / "plain")
    folder = layer(case, tmp_path)
    for name in ("swanlab", "wandb"):
        (plain / f"{name}.py").write_text(SILENT)
    shadow = tmp_path / "broken"
    shadow.mkdir()
    if how == "missing":
        (shadow / "sitecustomize.py").write_text("import sys\nsys.modules['probe'] = None\n")
    else:
        (shadow / "probe.py").write_text(BREAKS[how])
    paths = ":".join([str(shadow), str(folder / "src")])
    done = run(folder, (folder / script).read_text(), PYTHONPATH=paths)
    before = run(plain, (plain / script).read_text(), PYTHONPATH=str(plain / "src"))
    assert (done.returncode, done.stdout) == (before.returncode, before.stdout), done.stderr
    assert "Probe " in done.stderr


def test_a_tracker_that_closes_when_it_is_collected(tmp_path: Path) -> None:
    """`__del__` runs after the last thread: it must not wait for it (30 s without that check)."""
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder = layer("skyrl/fork", tmp_path)
    code = (
        "from skyrl.train.utils.tracking import Tracking\n"
        "tracker = Tracking('toy', 'first')\n"
        "tracker.me = tracker\n"
        "tracker.log({'a': 1.0}, step=1)\n"
    )
    done = run(folder, code, PROBE_MODE="offline", PROBE_OUTBOX_DIR=str(tmp_path / "outbox"))
    assert done.returncode == 0, done.stderr
    assert "too slow" not in done.stderr
    assert recorded(tmp_path / "outbox").points == [("a", 1, 1.0)]


def test_a_wrapped_tracker_is_still_the_tracker(tmp_path: Path) -> None:
    """Launchers of SkyRL and ROLL wrap it: its other methods and attributes answer as before."""
    folder = applied(copied(ROOT / "skyrl" / "launcher" / "before", tmp_path / "repo"))
    code = (
        "import pickle, probe_tracking as probe\n"
        "class Tracker:\n"
        "    backend = 'wandb'\n"
        "    def log(self, data, step, commit=False): print('row', data, step, commit)\n"
        "    def log_exception(self, error, step=0): print('failed', step)\n"
        "    def table(self, key): return key\n"
        "    def finish(self): print('finished')\n"
        "tracker = probe.tee(Tracker())\n"
        "tracker.log({'a': 1}, step=2, commit=True)\n"
        "tracker.log(data={'a': 1}, step=2)\n"
        "tracker.log_exception(ValueError(), step=3)\n"
        "tracker.finish()\n"
        "print(tracker.backend, tracker.table('k'), hasattr(tracker, 'other'))\n"
    )
    done = run(folder, code, PROBE_MODE="disabled")
    assert done.stdout.splitlines() == [
        "row {'a': 1} 2 True", "row {'a': 1} 2 False", "failed 3", "finished", "wandb k False",
    ], done.stderr  # fmt: skip


def test_each_process_is_named(tmp_path: Path) -> None:
    """Where a layer runs is said of each of them."""
    expected = {
        "openrlhf": "Ray actor", "roll": "where it is built", "ms_swift": "last rank", "oat": "rank 0 of the learner",
        "prime_rl": "each process", "torchforge": "actor GlobalLoggingActor",
    }  # fmt: skip
    for shape, process in expected.items():
        plan, _ = planned(copied(ROOT / shape / "fork" / "before", tmp_path / shape))
        assert process in {site.process for site in plan.sites if site.rule == shape}
