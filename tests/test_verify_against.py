"""`--against REV`: the tree before the edit in a worktree, and what the edit changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from instrument.errors import InstrumentError
from instrument.verify.against import Against, as_data, before, lines
from instrument.verify.run import Request, run

pytest.importorskip("wandb")
pytest.importorskip("probe")
pytestmark = pytest.mark.slow

BEFORE = """
import random, sys
import wandb
wandb.init(project="toy")
random.seed(0)
for step in range(6):
    loss = random.random()
    print(f"step {step} loss {loss:.6f}", flush=True)
    wandb.log({"loss": loss}, step=step)
wandb.finish()
"""
AFTER = (
    BEFORE.replace("import wandb\n", "import wandb\nimport probe\n")
    .replace('project="toy")\n', 'project="toy")\nprobe.init(name="toy")\n')
    .replace("step=step)\n", 'step=step)\n    probe.log({"loss": loss}, step=step)\n')
    .replace("wandb.finish()", "probe.finish()\nwandb.finish()")
)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "train.py").write_text(BEFORE.lstrip())
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "before")
    return folder


def compared(repository: Path, text: str, revision: str = "HEAD") -> Against:
    (repository / "sub" / "train.py").write_text(text.lstrip())
    folder = repository.parent / "records"
    folder.mkdir()
    env = {**os.environ, "PYTHONPATH": str(repository)}
    request = Request(
        command=[sys.executable, "train.py"], cwd=repository / "sub", folder=folder, copy_stdout=True, env=env
    )
    result = before(run(request), request, revision)
    assert git(repository, "worktree", "list").count("\n") == 1, "the worktree was left behind"
    return result


def test_nothing_changed(repository: Path) -> None:
    result = compared(repository, AFTER)
    assert result.unchanged and (result.output, result.record, result.exit_codes) == ("equal", "equal", (0, 0))
    assert None not in result.per_step and not result.notes
    assert as_data(result)["unchanged"] is True
    assert any("a logged step takes" in line for line in lines(result))
    assert git(repository, "status", "--porcelain").strip() == "M sub/train.py"


def test_output_that_changed(repository: Path) -> None:
    result = compared(repository, AFTER.replace("import random", "print('hello')\nimport random", 1))
    assert not result.unchanged and result.output == "different"
    assert result.output_lines[0][1] == "hello"


def test_an_exit_code_that_changed(repository: Path) -> None:
    result = compared(repository, AFTER + "sys.exit(4)\n")
    assert not result.unchanged and result.exit_codes == (0, 4)


def test_a_record_that_changed(repository: Path) -> None:
    result = compared(repository, AFTER.replace('wandb.log({"loss": loss}', 'wandb.log({"loss": loss, "more": 1}'))
    assert not result.unchanged and result.record == "different"
    assert result.record_lines == ["more: only after the edit"]


def test_random_numbers_that_the_edit_draws(repository: Path) -> None:
    result = compared(repository, AFTER.replace("random.seed(0)\n", "random.seed(0)\nrandom.random()\n"))
    assert not result.unchanged and (result.output, result.record) == ("numbers", "different")
    assert result.record_lines == ["loss: different values: 6 of 6 common steps differ"]


def test_steps_that_changed(repository: Path) -> None:
    result = compared(repository, AFTER.replace("loss}, step=step)\n    probe", "loss}, step=step + 1)\n    probe"))
    assert not result.unchanged and result.record_lines == [
        "loss: different step axis: the edited tree's steps are +1 of the tree before's"
    ]


def test_a_training_that_is_not_deterministic(repository: Path) -> None:
    text = BEFORE.replace("random.seed(0)", "random.seed()")
    (repository / "sub" / "train.py").write_text(text.lstrip())
    git(repository, "commit", "-qam", "random")
    result = compared(repository, AFTER.replace("random.seed(0)", "random.seed()"))
    assert result.unchanged and (result.output, result.record) == ("numbers", "not deterministic")


def test_a_revision_that_is_not_there(repository: Path) -> None:
    with pytest.raises(InstrumentError, match="git rev-parse failed"):
        compared(repository, AFTER, "nowhere")


def test_a_revision_that_looks_like_an_option(repository: Path) -> None:
    with pytest.raises(InstrumentError):
        compared(repository, AFTER, "--upload-pack=x")
