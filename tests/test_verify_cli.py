"""`instrument verify` as a program: arguments, streams, exit codes, the page it writes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("wandb")
pytest.importorskip("probe")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent

TRAINER = """
import sys
import wandb, probe
wandb.init(project="toy")
probe.init(name="one")
for step in range(4):
    print("loss", step)
    wandb.log({"loss": step, "<b>&\\x1b[31m": step}, step=step)
    probe.log({"loss": step, "<b>&\\x1b[31m": step}, step=step)
probe.finish()
wandb.finish()
sys.stdout.buffer.write(b"\\xff raw\\r\\n")
"""


def verify(folder: Path, *arguments: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder.parent), "WANDB_SILENT": "true"}
    command = [sys.executable, "-m", "instrument", "verify", *arguments]
    return subprocess.run(command, capture_output=True, check=False, env=env, cwd=folder.parent, **more)  # type: ignore[call-overload]


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    folder = tmp_path / "trainer"
    folder.mkdir()
    (folder / "train.py").write_text(TRAINER.lstrip())
    return folder


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.parent.iterdir() if path.name.startswith("instrument-")]


def test_equal_passes_the_output_through_and_leaves_nothing(trainer: Path) -> None:
    done = verify(trainer, "trainer", "--", sys.executable, "train.py")
    assert done.returncode == 0, done.stderr.decode()
    lines = [line for line in done.stdout.splitlines() if not line.startswith(b"probe:")]
    assert lines == [b"loss 0", b"loss 1", b"loss 2", b"loss 3", b"\xff raw"]
    assert b"equal: 8 points of 2 keys" in done.stderr
    assert b"\x1b" not in done.stderr and b"<b>&\\x1b[31m" in done.stderr
    assert not left_behind(trainer)
    assert {path.name for path in trainer.iterdir()} == {"train.py"}


def test_not_equal_keeps_the_records(trainer: Path) -> None:
    text = (trainer / "train.py").read_text().replace("probe.log", "if step: probe.log")
    (trainer / "train.py").write_text(text)
    done = verify(trainer, "trainer", "--", sys.executable, "train.py")
    assert done.returncode == 1 and b"missing at Probe: 2 of 2 keys differ" in done.stderr
    [kept] = left_behind(trainer)
    assert f"both records are kept in {trainer.parent / kept}".encode() in done.stderr.replace(b"\n", b"")


def test_json_alone_on_stdout(trainer: Path) -> None:
    done = verify(trainer, "trainer", "--json", "--html", "page.html", "--", sys.executable, "train.py")
    data = json.loads(done.stdout)
    assert done.returncode == 0 and data["passed"] and data["command"] == [sys.executable, "train.py"]
    assert b"loss 3" in done.stderr
    page = (trainer.parent / "page.html").read_text("utf-8")
    assert page.count("<svg") == 2 and page.count("<path") == 4
    assert "<script" not in page and not re.search(r"(https?:)?//[\w.]", page) and "<b>&\x1b" not in page
    assert "&lt;b&gt;&amp;\\x1b[31m" in page

    class Balanced(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "br"):
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            pass

    parser = Balanced()
    parser.feed(page)
    assert not parser.open


def test_against_a_revision(trainer: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(trainer)]
    before = "\n".join(line for line in TRAINER.splitlines() if "probe." not in line).replace("wandb, probe", "wandb")
    after = (trainer / "train.py").read_text()
    (trainer / "train.py").write_text(before.lstrip() + "\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    (trainer / "train.py").write_text(after)
    done = verify(trainer, "trainer", "--against", "HEAD", "--json", "--", sys.executable, "train.py")
    data = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr.decode()
    assert data["against"]["unchanged"] and data["against"]["output"] == "equal"
    assert not left_behind(trainer)
    done = verify(trainer, "trainer", "--against", "HEAD~9", "--", sys.executable, "train.py")
    assert done.returncode == 2 and b"error: git rev-parse failed" in done.stderr


def test_the_demo_instrumented_by_the_tool(tmp_path: Path) -> None:
    folder = tmp_path / "trainer"
    shutil.copytree(ROOT / "corpus" / "demo", folder)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    apply = [sys.executable, "-m", "instrument", "apply", str(folder), "--yes"]
    subprocess.run(apply, check=True, capture_output=True, env=env)
    done = verify(folder, "trainer", "--json", "--", sys.executable, "train.py")
    data = json.loads(done.stdout)
    assert done.returncode == 0 and data["verdict"] == "equal", done.stderr.decode()
    assert sum(key["tracker_points"] for key in data["runs"][0]["keys"]) > 300


def test_dry_runs_nothing(trainer: Path) -> None:
    env_before = dict(os.environ)
    os.environ["OPENAI_API_KEY"] = "secret"
    try:
        done = verify(trainer, "trainer", "--dry", "--steps", "5", "--", "sh", "-c", "touch was-run")
    finally:
        os.environ.clear()
        os.environ.update(env_before)
    said = done.stdout.decode()
    assert done.returncode == 0 and not (trainer / "was-run").exists() and not left_behind(trainer)
    assert "would run   sh -c 'touch was-run'" in said and "after 5 logged steps" in said
    assert "OPENAI_API_KEY" in said and "secret" not in said and "PROBE_MODE=offline" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("trainer", "--", "no-such-command"), b"error: the command can't be started"),
        (("nowhere", "--", "true"), b"error: nowhere: there is no such file or folder"),
        (("trainer",), b"Missing argument"),
        (("trainer", "--steps", "0", "--", "true"), b"Invalid value"),
    ],
)
def test_what_could_not_be_done(trainer: Path, arguments: tuple[str, ...], said: bytes) -> None:
    done = verify(trainer, *arguments)
    assert done.returncode == 2 and said in done.stderr and b"Traceback" not in done.stderr
    assert not left_behind(trainer)


def test_a_command_that_records_nothing(trainer: Path) -> None:
    done = verify(trainer, "trainer", "--", "true")
    assert done.returncode == 1 and b"neither Probe nor a tracker recorded anything" in done.stderr


def test_a_page_that_can_not_be_written(trainer: Path) -> None:
    done = verify(trainer, "trainer", "--html", "no/such/page.html", "--", sys.executable, "train.py")
    assert done.returncode == 2 and b"can't be written" in done.stderr


def test_ctrl_c_in_a_terminal(trainer: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    text = (
        TRAINER.lstrip()
        .replace("range(4)", "range(100000)")
        .replace("    print(", "    __import__('time').sleep(0.05)\n    print(")
    )
    (trainer / "train.py").write_text(text)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(trainer.parent), "WANDB_SILENT": "true"}
    arguments = ["-m", "instrument", "verify", str(trainer), "--", sys.executable, "-u", "train.py"]
    child = pexpect.spawn(sys.executable, arguments, env=env, timeout=60, dimensions=(50, 120))
    child.expect("loss 5")
    child.sendintr()
    child.expect("was stopped by an interrupt")
    child.expect("equal: ")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and signal.SIGINT
