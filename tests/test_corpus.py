"""The corpus tool: its manifest, its unpacking, its own count of emitters; and some of the real repositories.

`make corpus` does all of them. In the tests that need the network a few are downloaded, the rest would take too long.
"""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from corpus import emitters, golden, manifest, run
from corpus.fetch import NotHad, fetch, unpack
from instrument.errors import InstrumentError

SOURCES = {source.name: source for source in manifest.read()}
#: More than half of those from PyPI: the larger ones would take longer than a run of the tests may.
SOME = (
    "adapters captum cleanrl d3rlpy dalle2 denoising-diffusion lightly lightning-bolts medcat "
    "neuralforecast open-clip openrlhf pfrl pythae pytorch-forecasting pytorch-tabular rl-zoo3 rsl-rl "
    "setfit skrl skyrl snntorch stable-baselines3 tianshou trl yolov5"
).split()


def test_the_manifest_is_as_broad_as_it_says() -> None:
    assert len(SOURCES) >= 40
    assert sum(bool(source.pypi) for source in SOURCES.values()) >= 30
    assert len({source.shape for source in SOURCES.values()}) >= 9
    missing = [name for name in SOURCES if not (golden.GOLDEN / f"{name}.json").exists()]
    assert not missing, f"without an answer: {missing}"
    strays = [path.stem for path in golden.GOLDEN.glob("*.json") if path.stem not in SOURCES]
    assert not strays


_ENTRY = (
    "[[source]]\nname = 'x'\npypi = 'x==1'\nfile = 'x-1.tar.gz'\nsha256 = '" + "0" * 64 + "'\nlicence = 'MIT'\n"
    "shape = 's'\nstrategy = 'alongside'\nprocesses = 'one'\nwhy = 'w'\n"
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("pypi = 'x==1'\n", ""), "either pypi or git"),
        (lambda text: text.replace("0" * 64, "abc"), "sha256"),
        (lambda text: text.replace("why = 'w'\n", ""), "missing: why"),
        (lambda text: text + "wether = 1\n", "unknown: wether"),
        (lambda text: text + text, "two sources are called x"),
        (lambda text: text + "[", "can't be read"),
        (lambda text: text.replace("name = 'x'", "name = '../x'"), "the name"),
    ],
)
def test_a_manifest_that_is_wrong_is_named(tmp_path: Path, change: object, said: str) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(change(_ENTRY))  # type: ignore[operator]
    with pytest.raises(InstrumentError, match=said):
        manifest.read(path)


def test_nothing_leaves_the_folder(tmp_path: Path) -> None:
    tarred, zipped = tmp_path / "a.tar.gz", tmp_path / "a.whl"
    with tarfile.open(tarred, "w:gz") as tar:
        for name in ("a/in.py", "../out.py", "/abs.py", "a/../../up.py"):
            info = tarfile.TarInfo(name)
            info.size = 2
            tar.addfile(info, io.BytesIO(b"x\n"))
        link = tarfile.TarInfo("a/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with zipfile.ZipFile(zipped, "w") as archive:
        for name in ("b/in.py", "../out.py", "c:/x.py"):
            archive.writestr(name, "x\n")
    target = tmp_path / "deep" / "target"
    unpack(tarred, target)
    unpack(zipped, target)
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.py")) == [
        "deep/target/a/in.py", "deep/target/b/in.py",
    ]  # fmt: skip
    (tmp_path / "broken.whl").write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(InstrumentError, match="can't be unpacked"):
        unpack(tmp_path / "broken.whl", target)


def test_a_file_that_is_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSTRUMENT_CORPUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("INSTRUMENT_CORPUS_MIRRORS", raising=False)
    source = SOURCES["cleanrl"]
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / source.file).write_bytes(b"something else")
    with pytest.raises(InstrumentError, match="is not the file of the manifest"):
        fetch(source, tmp_path / "out")
    with pytest.raises(NotHad, match="no mirror"):
        fetch(SOURCES["nanogpt"], tmp_path / "out")
    assert run.check(SOURCES["nanogpt"], tmp_path / "out").state == "not run"


_COUNTED = """\
import wandb as wb, mlflow
from wandb import init, log as send
from torch.utils.tensorboard import SummaryWriter
from transformers import Trainer, TrainingArguments
import math
run = init()
class T:
    def __init__(self):
        self.writer = SummaryWriter("x")
    def go(self):
        self.writer.add_scalar("a", 1, 0)
        self.other.add_scalar("a", 1, 0)
wb.log({})
wb.run.log({})
run.log({})
send({})
math.log(3)
mlflow.log_metric("a", 1)
mlflow.log_param("a", 1)
Trainer(args=TrainingArguments("x"))
"""


def test_the_count_is_the_tools_own(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(_COUNTED)
    cell = '{"cells": [{"cell_type": "code", "source": ["%time\\n", "import wandb\\n", "wandb.log({})"]}]}'
    (tmp_path / "b.ipynb").write_text(cell)
    (tmp_path / "c.py").write_text("wandb.log(")
    found = emitters.count(tmp_path, ["a.py", "b.ipynb", "c.py", "missing.py"])
    assert [(e.line, e.what) for e in found if e.path == "a.py"] == [
        (13, "wb.log"), (14, "wb.run.log"), (15, "run.log"), (16, "send"), (18, "mlflow.log_metric"), (20, "Trainer"),
        (11, "self.writer.add_scalar"),
    ]  # fmt: skip
    assert [e.what for e in found if e.path == "b.ipynb"] == ["wandb.log"]


_HANDLES = """\
import wandb, mlflow
from accelerate import Accelerator
from lightning import LightningModule, Trainer
from ray import train
from transformers import Trainer as HfTrainer
class Mine(HfTrainer): ...
class Net(LightningModule):
    def training_step(self, batch):
        self.log("loss", 1)
class A:
    def __init__(self, run: "wandb.Run | None", other: wandb.Run):
        self._wandb, self.run = wandb, None
        self._mlflow = mlflow
        other.log({})
    def log(self, row):
        self._mlflow.log_metrics(row)
class B:
    def __init__(self):
        self.run = wandb.init()
        self.run.log({})
class C:
    def __init__(self):
        self.run = print
        self.run.log({})
accelerator: Accelerator = make()
accelerator.log({})
train.report({})
Mine()
"""


def test_handles_are_followed_within_a_file_and_a_class(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(_HANDLES)
    found = sorted(emitters.count(tmp_path, ["a.py"]), key=lambda emitter: emitter.line)
    assert [(e.kind, e.what) for e in found] == [
        ("log", "self.log"), ("send", "other.log"), ("send", "self._mlflow.log_metrics"), ("send", "self.run.log"),
        ("send", "accelerator.log"), ("send", "train.report"), ("build", "Mine"),
    ]  # fmt: skip
    assert [e.line for e in found if e.what == "self.run.log"] == [20]


def test_what_changed_in_an_answer_is_shown() -> None:
    assert golden.differences("a\nb\n", "a\nc\n") == ["- b", "+ c"]
    # What repeats the file's own text is kept as a hash.
    own = "x" * 200
    assert golden._kept("probe.log(metrics)", own) == "probe.log(metrics)"
    assert golden._kept("y = " + "x" * 60, own).startswith("sha256 ")


def test_the_page_is_what_the_answers_say() -> None:
    rows = [run.kept(source) for source in SOURCES.values()]
    assert run.PAGE.read_text("utf-8") == run.page(rows), "python -m corpus.run --page"
    seen, every = run.share(rows)
    assert seen >= 0.95 * every


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("INSTRUMENT_NETWORK"), reason="set INSTRUMENT_NETWORK=1 to download")
@pytest.mark.parametrize("name", SOME)
def test_a_real_repository(name: str, tmp_path: Path) -> None:
    row = run.check(SOURCES[name], tmp_path)
    assert row.state == "ok", "\n".join(row.said[:30])
    assert not row.open, [fate.emitter for fate in row.fates if fate.kind == "fault"]
