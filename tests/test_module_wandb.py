"""The module beside W&B: the same (key, step, value) in both records, whatever way rows are logged."""

from __future__ import annotations

import json
import struct
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.module_lab import FakeSdk, Lab, load

RANDOM = """
import random, sys
import wandb, probe_tracking as probe

rnd = random.Random(SEED)
wandb.init(project="toy", name="the name", config={"lr": 0.1})
probe.init(name=wandb.run.name, config=dict(wandb.config))
for call in range(250):
    row = {rnd.choice("abcde") + str(rnd.randrange(2)): rnd.random() for _ in range(rnd.randrange(1, 4))}
    if rnd.random() < 0.1:
        row["nested"] = {"x": 1.0 * call, "y": {"z": call, "t": "text"}}
    if rnd.random() < 0.1:
        row["flag"], row["text"] = rnd.random() < 0.5, "text"
    if rnd.random() < 0.05:
        row = {"only": "text"}
    if rnd.random() < 0.03:
        row = {}
    now = wandb.run._local_step
    ahead, behind = now + rnd.choice([0, 0, 1, 1, 2, 7]), max(0, now - rnd.choice([1, 2, 3, 10]))
    step, commit = rnd.choice([
        (None, None), (None, None), (None, False), (None, True), (ahead, None), (ahead, None), (ahead, True), (ahead, False),
        (behind, None), (behind, True), (behind, False),
    ])
    given = {key: value for key, value in (("step", step), ("commit", commit)) if value is not None}
    if step is not None and commit is None:  # where inserted calls stand
        wandb.log(row, **given)
        probe.log(row, **given)
    else:
        probe.log(row, **given)
        wandb.log(row, **given)
    if rnd.random() < 0.1:  # a call that has no counterpart
        wandb.log({"unseen": 1}, **rnd.choice([{}, {"step": ahead}, {"commit": False}]))
probe.finish()
print("id", wandb.run.id)
wandb.finish()
"""


def wandb_records(path: Path) -> list[Any]:
    """The protobuf records of a .wandb file: 32 KiB blocks of LevelDB frames after a 7-byte header."""
    from wandb.proto import wandb_internal_pb2

    data, at, part, found = path.read_bytes(), 7, b"", []
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        part += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(part)
            found.append(record)
            part = b""
    return found


def numbers(key: str, value: object) -> list[tuple[str, float]]:
    if isinstance(value, dict):
        return [pair for name, inner in value.items() for pair in numbers(f"{key}.{name}", inner)]
    return [(key, float(value))] if isinstance(value, (int, float)) else []


def wandb_points(folder: Path) -> set[tuple[str, int, float]]:
    points = set()
    [path] = folder.glob("wandb/offline-run-*/*.wandb")
    for record in wandb_records(path):
        if record.WhichOneof("record_type") == "history":
            for item in record.history.item:
                key = item.key or ".".join(item.nested_key)
                if not key.startswith("_"):
                    points.update(
                        (name, record.history.step.num, x) for name, x in numbers(key, json.loads(item.value_json))
                    )
    return points


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_both_records_have_the_same_points(tmp_path: Path, seed: int) -> None:
    pytest.importorskip("wandb.proto.wandb_internal_pb2", reason="install wandb")
    pytest.importorskip("probe.sdk", reason="install probe-research")
    lab = Lab(tmp_path, ["core", "wandb"])
    done = lab.run(RANDOM.replace("SEED", str(seed)), timeout=120)
    assert done.code == 0 and not done.said, done.err
    expected = {point for point in wandb_points(tmp_path) if point[0] != "unseen"}
    assert len(expected) > 150
    assert set(done.run.points) == expected
    assert len(done.run.points) == len(expected), "a point was sent twice"
    identifier = next(line.split()[1] for line in done.out.splitlines() if line.startswith("id "))
    assert done.run.foreign_keys == {"wandb_run_id": identifier}
    assert (done.run.name, done.run.config, done.run.status) == ("the name", {"lr": 0.1}, "completed")


def test_who_switches_wandb_off_gets_no_run_at_probe(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="install wandb")
    pytest.importorskip("probe.sdk", reason="install probe-research")
    lab = Lab(tmp_path, ["core", "wandb"])
    done = lab.run(
        """
import wandb, probe_tracking as probe
with wandb.init(project="toy") as run, probe.init(name=run.name, config=run.config):
    for step in range(5):
        probe.log({"a": step}); wandb.log({"a": step})
""",
        WANDB_MODE="disabled",
    )
    assert done.code == 0 and not done.said, done.err
    assert done.runs == []


# -- other versions and stand-ins of W&B ----------------------------------------------------------------------------


class Tracker:
    """W&B's own rules, as its service has them, with the count kept under the name that a version gives it."""

    def __init__(self, count: str | None, **attributes: object) -> None:
        self.id, self._name, self._rows, self.step_now = "w1", count, {}, 0
        self.local = 0
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> int:
        if name == self.__dict__.get("_name"):
            return int(self.local)
        if name == "step" and self.__dict__.get("_name") == "_local_step":
            return int(self.step_now)  # asks the service
        raise AttributeError(name)

    def log(self, row: dict[str, float], step: int | None = None, commit: bool | None = None) -> None:
        if step is not None and step > self.local:
            self.local = step
        if (step is None and commit is None) or commit:
            self.local += 1
        if step is not None:
            if step < self.step_now:
                return
            self.step_now = step
        self._rows.setdefault(self.step_now, {}).update(row)
        if commit or (step is None and commit is None):
            self.step_now += 1

    @property
    def points(self) -> set[tuple[str, int, float]]:
        return {(key, step, value) for step, row in self._rows.items() for key, value in row.items()}


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> FakeSdk:
    fake = FakeSdk()
    monkeypatch.setitem(sys.modules, "probe", fake)
    return fake


@pytest.mark.parametrize("count", ["_local_step", "step", None])
@pytest.mark.parametrize("seed", range(20))
def test_the_rules_hold_for_each_version(
    sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch, count: str | None, seed: int
) -> None:
    import random

    rnd = random.Random(seed)
    wandb = types.ModuleType("wandb")
    run: Any = Tracker(count)
    vars(wandb)["run"] = run
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    probe = load(["core", "wandb"])
    probe.init()
    for _ in range(200):
        row = {rnd.choice("abc"): rnd.random()}
        step = rnd.choice([None, None, max(0, run.local + rnd.randrange(-4, 4))])
        commit = rnd.choice([None, None, True, False])
        after = step is not None and commit is None
        if after:
            run.log(row, step, commit)
        probe.log(row, step, commit)
        if not after:
            run.log(row, step, commit)
        if count == "_local_step" and rnd.random() < 0.2:  # a call that has no counterpart
            run.log({"unseen": 1.0}, *rnd.choice([(), (run.local,), (run.local, False)]))
    probe.finish()
    expected = {point for point in run.points if point[0] != "unseen"}
    assert set(sdk.runs[0].points) == expected
    assert len(sdk.runs[0].points) == len(expected)


def test_a_run_that_is_resumed_goes_on_at_its_step(sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = types.ModuleType("wandb")
    run: Any = Tracker("_local_step")
    run.local = run.step_now = 500
    vars(wandb)["run"] = run
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    probe = load(["core", "wandb"])
    probe.init()
    probe.log({"a": 1.0})
    run.log({"a": 1.0})
    run.log({"a": 0.0}, 3)
    probe.log({"a": 0.0}, 3)
    probe.finish()
    assert sdk.runs[0].points == [("a", 500, 1.0)]


@pytest.mark.parametrize(
    "run", [None, "", types.SimpleNamespace(disabled=True, step=0), types.SimpleNamespace(step="?"), types.SimpleNamespace()],
    ids=["none", "RunDisabled", "disabled", "odd step", "no step"],
)  # fmt: skip
def test_without_a_live_run_the_module_counts(sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch, run: object) -> None:
    wandb = types.ModuleType("wandb")
    vars(wandb)["run"] = run
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    probe = load(["core", "wandb"])
    probe.init()
    for value in (1.0, 2.0):
        probe.log({"a": value})
    probe.finish()
    assert sdk.runs[0].points == [("a", 0, 1.0), ("a", 1, 2.0)]


def test_a_run_of_wandb_that_breaks_when_it_is_asked(sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        @property
        def step(self) -> int:
            raise RuntimeError("service is gone")

    wandb = types.ModuleType("wandb")
    vars(wandb)["run"] = Broken()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    probe = load(["core", "wandb"])
    probe.init()
    probe.log({"a": 1.0})
    probe.finish()
    assert sdk.runs[0].status == "completed"
