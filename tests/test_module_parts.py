"""The parts for frameworks: with the SDK, without it, and without loading a framework that a file does not use."""

from __future__ import annotations

import ast
import itertools
import pickle
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from instrument import resources, sdk
from instrument.plan import render
from instrument.repo.scan import OUR_MARK
from tests.module_lab import FakeRun, FakeSdk, Lab, load

MINE = ["core", "wandb", "axes", "accelerate", "huggingface", "lightning"]
ALL = [chosen for size in range(1, len(MINE) + 1) for chosen in itertools.combinations(MINE, size)]


# -- the text -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", ALL, ids="+".join)
def test_each_choice_of_parts_is_a_module_of_its_own(parts: tuple[str, ...]) -> None:
    text = render.render_module(parts)
    tree = ast.parse(text, feature_version=(3, 9))
    compile(text, "probe_tracking.py", "exec", dont_inherit=True)
    assert OUR_MARK in text.encode() and text.endswith("\n") and "\t" not in text and "{%" not in text
    assert max(map(len, text.splitlines())) <= 88, "a repository's own line limit is rarely lower"
    assert render.parts_of(text) == set(render.complete(parts))
    assert render.parts_of(text.replace("written by probe-instrument", "ours now")) == set(render.complete(parts))
    names = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert len(names) == len(set(names)), "a part is in it twice"
    assert text.count("PROBE_AUTO_LOGIN") == 1
    assert ("def log(" in text) == ("core" in render.complete(parts))
    top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = {alias.name.split(".")[0] for node in top for alias in node.names} - {"Mapping", "datetime", "timezone"}
    assert modules <= sys.stdlib_module_names, "only the standard library when it is imported"


def test_all_parts_fit_in_one_module() -> None:
    text = render.render_module(render.PARTS)
    tree = ast.parse(text, feature_version=(3, 9))
    names = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert len(names) == len(set(names)), "two parts use one name"
    assert render.parts_of(text) == set(render.PARTS)


@pytest.mark.parametrize("parts", [["core"], ["core", "wandb"], ["axes"], MINE], ids="+".join)
@pytest.mark.parametrize("width", ["88", "100", "120"])
def test_a_formatter_and_a_linter_find_nothing(parts: list[str], width: str) -> None:
    text = render.render_module(parts)
    ruff = [sys.executable, "-m", "ruff"]
    done = subprocess.run(
        [*ruff, "format", "--isolated", "--line-length", width, "-"], input=text, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip("ruff is not installed")
    assert done.stdout == text
    rules = ["--isolated", "--select", "E,W,F,I,UP,B,SIM,RUF,C4", "--target-version", "py39", "--line-length", width]
    done = subprocess.run([*ruff, "check", *rules, "-"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_module_sets_what_sdk_py_says() -> None:
    text = render.render_module(["core"])
    for name, value in sdk.DEFAULTS.items():
        assert f'os.environ.setdefault("{name}", "{value}")' in text
        assert f"{name.removeprefix('PROBE_')}={value}" in render.render_inline(["core"])


def test_the_tracker_is_named_and_a_part_must_exist() -> None:
    assert render.render_module(["core"], tracker="Weights & Biases").startswith(
        '"""Sends what goes to Weights & Biases to'
    )
    assert render.render_module([]) == render.render_module(["core"])
    with pytest.raises(KeyError):
        render.render_module(["nonsense"])


def test_templates_are_found_in_a_checkout_and_missed_by_name() -> None:
    assert (resources.folder("templates") / "probe_tracking.py.jinja").is_file()
    with pytest.raises(FileNotFoundError):
        resources.folder("nonsense")


def test_importing_the_module_loads_neither_the_sdk_nor_a_framework(tmp_path: Path) -> None:
    lab = Lab(tmp_path, MINE)
    done = lab.run(
        "import sys, probe_tracking\n"
        "print(sorted({'probe', 'wandb', 'torch', 'transformers', 'lightning', 'accelerate', 'numpy'} & set(sys.modules)))\n"
        "probe_tracking.log({'a': 1})\n"
        "print('probe' in sys.modules, hasattr(probe_tracking, 'nonsense'))\n"
    )
    assert done.out == "[]\nFalse False\n", done.err


# -- with stand-ins for the frameworks ------------------------------------------------------------------------------


def module(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(content)
    monkeypatch.setitem(sys.modules, name, made)
    return made


@pytest.fixture
def tracking(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = load(MINE)
    monkeypatch.setitem(sys.modules, "probe_tracking", made)
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    for name in sdk.DEFAULTS:
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    return made


class TrainerCallback:
    def on_log(self, *_: Any, **__: Any) -> str:
        return "nothing"


class Logger:
    def __init__(self) -> None:
        raise AssertionError("a stand-in needs nothing of this")

    def finalize(self, status: str) -> None:
        pass


def test_the_classes_of_the_sdk_are_taken_where_it_is(tracking: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    callback, logger = type("ProbeCallback", (), {}), type("ProbeLogger", (), {})
    for name in ("probe", "probe.integrations"):
        module(monkeypatch, name, __path__=[])
    module(monkeypatch, "probe.integrations.huggingface", ProbeCallback=callback)
    module(monkeypatch, "probe.integrations.lightning", ProbeLogger=logger)
    assert tracking.ProbeCallback is callback and tracking.ProbeLogger is logger
    assert {name: os.environ.get(name) for name in sdk.DEFAULTS} == sdk.DEFAULTS


def test_a_callback_that_does_nothing_stands_in(
    tracking: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "probe", None)
    module(monkeypatch, "transformers", TrainerCallback=TrainerCallback)
    made = tracking.ProbeCallback(project="p", name="n")
    assert isinstance(made, TrainerCallback) and made.on_log() == "nothing"
    assert tracking.ProbeCallback is tracking.ProbeCallback
    assert type(pickle.loads(pickle.dumps(made))) is tracking.ProbeCallback
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == [
        "Probe is off; training goes on without it"
    ]


@pytest.mark.parametrize("package", ["lightning.pytorch", "pytorch_lightning"])
def test_a_logger_that_does_nothing_stands_in(tracking: Any, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, "probe", None)
    for name in (
        "lightning",
        "lightning.pytorch",
        "lightning.pytorch.loggers",
        "pytorch_lightning",
        "pytorch_lightning.loggers",
    ):
        monkeypatch.setitem(sys.modules, name, None)
        if name.split(".")[0] == package.split(".")[0]:
            module(monkeypatch, name, __path__=[], Logger=Logger)
        elif "." not in name:
            monkeypatch.delitem(sys.modules, name)
            monkeypatch.setitem(sys.modules, f"{name}.loggers", None)
    made = tracking.ProbeLogger(name="n", project="p")
    assert isinstance(made, Logger)
    assert made.log_metrics({"a": 1}, step=3) is None and made.log_hyperparams({"a": 1}) is None
    assert (made.name, made.version) == ("", "")
    made.finalize("success")
    assert type(pickle.loads(pickle.dumps(made))) is tracking.ProbeLogger


def accelerate(monkeypatch: pytest.MonkeyPatch, *, main: bool = True) -> None:
    state = type("PartialState", (), {"is_main_process": main})
    general = type("GeneralTracker", (), {"__init__": lambda self, _blank=False: None, "start": lambda self: None})
    module(monkeypatch, "accelerate", PartialState=state, __path__=[])
    module(monkeypatch, "accelerate.tracking", GeneralTracker=general)


def test_a_tracker_for_accelerate(tracking: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    accelerate(monkeypatch)
    fake = FakeSdk()
    monkeypatch.setitem(sys.modules, "probe", fake)
    tracker = pickle.loads(pickle.dumps(tracking.ProbeTracker(name="n")))
    assert (tracker.name, tracker.requires_logging_directory, tracker.tracker) == ("probe", False, None)
    tracker.start()
    tracker.store_init_configuration({"lr": 0.1})
    for step in range(3):
        tracker.log({"loss": 1.0, "text": "x"}, step=step, extra=1)
    tracker.log({"acc": 0.5})
    tracker.log({"acc": 0.6})
    tracker.log({"acc": 0.7}, step="odd")
    tracker.log(None)
    assert isinstance(tracker.tracker, FakeRun)
    tracker.finish()
    tracker.finish()
    [run] = fake.runs
    assert (run.given["name"], run.given["config"], run.status) == ("n", {"lr": 0.1}, "completed")
    assert run.points == [("loss", 0, 1.0), ("loss", 1, 1.0), ("loss", 2, 1.0), ("acc", 2, 0.5), ("acc", 3, 0.6)]


def test_a_tracker_opens_with_its_first_row_and_again_after_its_end(
    tracking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    accelerate(monkeypatch)
    fake = FakeSdk()
    monkeypatch.setitem(sys.modules, "probe", fake)
    tracker = tracking.ProbeTracker()
    tracker.start()
    assert not fake.runs
    tracker.log({"a": 1.0}, step=7)
    tracker.finish()
    tracker.log({"a": 2.0}, step=7)
    tracker.finish()
    assert [run.points for run in fake.runs] == [[("a", 7, 1.0)], [("a", 7, 2.0)]]


def test_a_tracker_is_quiet_on_other_processes_and_without_the_sdk(
    tracking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    accelerate(monkeypatch, main=False)
    fake = FakeSdk()
    monkeypatch.setitem(sys.modules, "probe", fake)
    tracker = tracking.ProbeTracker()
    tracker.store_init_configuration({"lr": 0.1})
    tracker.log({"a": 1.0})
    tracker.finish()
    assert not fake.runs
    accelerate(monkeypatch, main=True)
    monkeypatch.setitem(sys.modules, "probe", None)
    vars(tracking).pop("ProbeTracker")
    tracker = tracking.ProbeTracker()
    tracker.log({"a": 1.0})
    tracker.finish()


# -- with the frameworks themselves ---------------------------------------------------------------------------------

TRAINER = """
import sys
if WITHOUT: sys.modules["probe"] = None
import torch
from transformers import Trainer, TrainingArguments
from probe_tracking import ProbeCallback
import probe_tracking as probe

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
    def forward(self, x=None, labels=None):
        y = self.layer(x)[:, 0]
        return {"loss": ((y - labels) ** 2).mean(), "logits": y}

data = [{"x": torch.tensor([1.0, 2.0]), "labels": torch.tensor(1.0)} for _ in range(16)]
settings = TrainingArguments("out", report_to=[], logging_steps=1, max_steps=3, use_cpu=True, save_strategy="no", disable_tqdm=True)
trainer = Trainer(model=Model(), args=settings, train_dataset=data, callbacks=[ProbeCallback()])
trainer.train()
probe.log({"mine": torch.tensor(2.0), "two": torch.ones(2)}, step=trainer.state.global_step)
"""
FIT = """
import sys
if WITHOUT: sys.modules["probe"] = None
import torch
import PACKAGE as L
from PACKAGE.loggers import CSVLogger
from probe_tracking import ProbeLogger

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
    def training_step(self, batch, index):
        loss = self.layer(batch).mean()
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

trainer = L.Trainer(max_epochs=1, logger=[CSVLogger("csv"), ProbeLogger()], log_every_n_steps=1, accelerator="cpu",
                    enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(6, 2), batch_size=2))
assert type(trainer.logger) is CSVLogger
assert trainer.checkpoint_callback.dirpath.startswith("csv"), trainer.checkpoint_callback.dirpath
"""
ACCELERATE = """
import sys
if WITHOUT: sys.modules["probe"] = None
from accelerate import Accelerator
from probe_tracking import ProbeTracker
accelerator = Accelerator(log_with=[ProbeTracker(name="n")], cpu=True)
accelerator.init_trackers("project", config={"lr": 0.1})
for step in range(3):
    accelerator.log({"loss": 1.0}, step=step)
assert accelerator.get_tracker("probe").name == "probe"
accelerator.end_training()
"""


@pytest.mark.framework
@pytest.mark.parametrize("without", [False, True], ids=["with Probe", "without Probe"])
@pytest.mark.parametrize(
    ("script", "package", "expected"),
    [
        (TRAINER, "transformers", {("train/loss", 1), ("train/loss", 2), ("train/loss", 3), ("mine", 3)}),
        (FIT, "lightning.pytorch", {("loss", 0), ("loss", 1), ("loss", 2)}),
        (FIT, "pytorch_lightning", {("loss", 0), ("loss", 1), ("loss", 2)}),
        (ACCELERATE, "accelerate", {("loss", 0), ("loss", 1), ("loss", 2)}),
    ],
    ids=["transformers", "lightning", "pytorch_lightning", "accelerate"],
)
def test_a_training_with_the_framework(
    tmp_path: Path, script: str, package: str, expected: set[tuple[str, int]], without: bool
) -> None:
    pytest.importorskip(package)
    lab = Lab(tmp_path, MINE)
    done = lab.run(script.replace("WITHOUT", str(without)).replace("PACKAGE", package), timeout=300)
    assert done.code == 0, done.err
    if without:
        assert len(done.said) == 1 and not done.runs
    else:
        assert expected <= {(key, step) for key, step, _ in done.run.points}
        assert "two" not in {key for key, _, _ in done.run.points}
        assert done.run.status == "completed" and not done.said
