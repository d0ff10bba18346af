"""The form for notebooks: runs twice, shows nothing, and its calls never raise."""

from __future__ import annotations

import ast
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from instrument import sdk as facts
from instrument.plan import render
from tests.module_lab import FakeRun, FakeSdk, Lab
from tests.test_module_wandb import Tracker


class LooseRun(FakeRun):
    """As the SDK's run: a step is not needed."""

    def log(self, metrics: dict[str, Any], *, step: int | None = None) -> None:  # type: ignore[override]
        self.rows.append((len(self.rows) if step is None else step, {key: float(x) for key, x in metrics.items()}))


class LooseSdk(FakeSdk):
    def init(self, **given: Any) -> FakeRun:
        if self.trouble is not None:
            raise self.trouble
        self.current = LooseRun(**given)
        self.runs.append(self.current)
        return self.current

    def log(self, metrics: dict[str, Any], **given: Any) -> dict[str, bool]:
        assert self.current is not None
        self.current.log(metrics, **given)
        return {"ok": True}


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> LooseSdk:
    fake = LooseSdk()
    monkeypatch.setitem(sys.modules, "probe", fake)
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    for name in facts.DEFAULTS:
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    return fake


def cell(alias: str = "probe", names: tuple[str, ...] = ()) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(render.render_inline(["core", "wandb"], alias=alias, names=names), space)
    return space


def test_it_is_short_and_says_whose_it_is() -> None:
    text = render.render_inline(["core", "wandb"])
    assert len(text.splitlines()) <= 25
    assert "import probe\n" in text and "written by probe-instrument" in text
    for names in ((), ("ProbeCallback",), ("ProbeCallback", "ProbeLogger"), ("ProbeTracker",), ("with_probe",)):
        for alias in ("probe", None):
            ast.parse(render.render_inline(["core"], alias=alias, names=names), feature_version=(3, 9))
    assert render.render_inline(["core"], alias=None) == "\n"


def test_calls(sdk: LooseSdk) -> None:
    probe = cell("probe_sdk")["probe_sdk"]
    probe.init(name="n", config={"lr": 1}, tags=None, axes={"a": "b"})
    probe.log({"a": 1, "b": True, "text": "x", "none": None, "list": [1]})
    probe.log({"a": 2.0}, step=5, commit=False)
    assert probe.active_run() is sdk.runs[0]
    assert probe.finish() is None and probe.finish() is None
    probe.log({"a": 3.0})
    [run] = sdk.runs
    assert run.given == {"name": "n", "config": {"lr": 1}, "capture_reads": False, "capture_outputs": False}
    assert run.points == [("a", 0, 1.0), ("b", 0, 1.0), ("a", 5, 2.0)] and run.status == "completed"


def test_with(sdk: LooseSdk) -> None:
    probe = cell()["probe"]
    with probe.init():
        pass
    with pytest.raises(ZeroDivisionError), probe.init():
        raise ZeroDivisionError
    assert [run.status for run in sdk.runs] == ["completed", "failed"]


@pytest.mark.parametrize("trouble", [RuntimeError("x"), SystemExit(1)], ids=lambda e: type(e).__name__)
def test_nothing_raises(sdk: LooseSdk, trouble: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    probe = cell()["probe"]
    sdk.trouble = trouble
    with probe.init(name="x"):
        probe.log({"a": 1.0})
    assert caplog.text.count("Probe is off") == 1
    sdk.trouble = None
    probe.init()
    for metrics, step in (
        (None, None),
        ([], 1),
        ({"a": 10**400}, 1),
        ({"a": 1.0}, "abc"),
        ({"a": 1.0}, object()),
        (3, 2),
    ):
        probe.log(metrics, step=step)
    sdk.runs[-1].finish = lambda status: (_ for _ in ()).throw(RuntimeError("x"))  # type: ignore[method-assign]
    probe.finish()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "probe", None)
    probe = cell()["probe"]
    with probe.init(name="x"):
        probe.log({"a": 1.0})
    assert probe.active_run() is None
    assert caplog.text.count("Probe is off") == 1


def test_wandb_steps(sdk: LooseSdk, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = types.ModuleType("wandb")
    run: Any = Tracker("_local_step", disabled=False)
    vars(wandb)["run"] = run
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    probe = cell()["probe"]
    probe.init()
    for step in (None, None, 7, 7, 3, None):
        if step is None:
            probe.log({f"k{step}": 1.0})
            run.log({f"k{step}": 1.0})
        else:
            run.log({f"k{step}": 1.0}, step)
            probe.log({f"k{step}": 1.0}, step=step)
    assert {(key, step) for key, step, _ in sdk.runs[0].points} == {(key, step) for key, step, _ in run.points}


def test_a_launcher_s_run_is_joined(sdk: LooseSdk, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv("PROBE_RUN_ID", "x")
    cell()["probe"].init(name="n", config={"a": 1}, tags=["t"])
    assert sdk.runs[0].given == {"config": {"a": 1}, "capture_reads": False, "capture_outputs": False}
    assert {name: os.environ[name] for name in facts.DEFAULTS} == facts.DEFAULTS


def test_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    base = type("Base", (), {})
    monkeypatch.setitem(sys.modules, "probe", None)
    for name, content in (
        ("transformers", "TrainerCallback"),
        ("pytorch_lightning", "x"),
        ("pytorch_lightning.loggers", "Logger"),
    ):
        made = types.ModuleType(name)
        vars(made).update({content: base, "__path__": []})
        monkeypatch.setitem(sys.modules, name, made)
    space = cell(alias="probe", names=("ProbeCallback", "ProbeLogger"))
    assert isinstance(space["ProbeCallback"](name="n"), base)
    assert space["ProbeLogger"](name="n").log_metrics({"a": 1}, step=1) is None


def test_a_notebook(tmp_path: Path) -> None:
    """In IPython: twice the same cells, nothing shown, and a run each time."""
    pytest.importorskip("IPython")
    pytest.importorskip("probe.sdk", reason="install probe-research")
    lab = Lab(tmp_path)
    done = lab.run(f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shown = []
shell.displayhook.write_format_data = lambda *a: shown.append(a)
shell.display_pub.publish = lambda *a, **k: shown.append(a)
for cell in 2 * [{render.render_inline(["core", "wandb"])!r}, "probe.init(name='nb')",
                 "for i in range(3):\\n    probe.log({{'a': i}})", "probe.log({{'b': 1}})", "probe.finish()"]:
    result = shell.run_cell(cell, store_history=True)
    result.raise_error()
assert not shown, shown
""")  # fmt: skip
    assert done.code == 0, done.err + done.out
    points = [("a", 0, 0.0), ("a", 1, 1.0), ("a", 2, 2.0), ("b", 3, 1.0)]
    assert [(run.name, run.points, run.status) for run in done.runs] == 2 * [("nb", points, "completed")]
    assert "<" not in "".join(line for line in done.out.splitlines() if not line.startswith("probe:"))
