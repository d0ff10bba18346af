"""A repository made to break its reader ends in a clean report, and nothing in it or around it changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="FIFOs, links and such names are POSIX")

WANDB = "import wandb\nwandb.init()\nwandb.log({'a': 1}, step=1)\n"
SPLICE = "</script><img src=x onerror=alert(1)>"


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "instrument", *arguments], cwd=cwd, capture_output=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("hostile")
    root = top / "r"
    root.mkdir()
    (top / "outside.py").write_text(WANDB)
    (root / "train.py").write_text(WANDB)
    (root / "esc \x1b[2J\x1b]0;owned\x07.py").write_text(WANDB)
    (root / "new\nline ::error::x.py").write_text(WANDB)
    (root / "<img src=x onerror=alert(1)>.py").write_text(WANDB)
    (root / "splice.py").write_text(f"{WANDB}x = '{SPLICE}'\nwandb.log({{'{SPLICE}': 1, '\\x1b[31m': 2}}, step=2)\n")
    (root / "long.py").write_text(
        WANDB + "wandb.log({" + ", ".join(f"'k{i}': {i}" for i in range(3000)) + "}, step=3)\n"
    )
    (root / "deep.py").write_text(WANDB + "x = " + "(" * 3000 + ")" * 3000 + "\n" + "y = " + "-" * 5000 + "1\n")
    (root / "nul.py").write_bytes(WANDB.encode() + b"\0\xff\xfe")
    (root / "bad_cookie.py").write_text("# -*- coding: rot13 -*-\n" + WANDB)
    (root / "bad.ipynb").write_text('{"cells": [{"cell_type": "code", "source": ["import wandb"]}' * 50)
    (root / "cells.ipynb").write_text(
        json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": 3,
                "cells": [1, None, {"cell_type": "code", "source": 5}, "wandb"],
            }
        )
    )
    (root / "pyproject.toml").write_text(
        "[tool.instrument]\nonly = 3\n[project]\nname = 'x'\ndependencies = ['wandb'\n"
    )
    (root / "bomb.yaml").write_text(
        "a: &a [wandb, wandb]\n"
        + "".join(f"{c}: &{c} [*{p}, *{p}, *{p}]\n" for p, c in zip("abcdefghij", "bcdefghijk"))
    )
    os.symlink(root, root / "loop")
    os.symlink("self", root / "self")
    os.symlink(top / "outside.py", root / "link.py")
    os.mkfifo(root / "pipe.py")
    with (root / "huge.py").open("wb") as file:
        file.write(b"import wandb\n")
        file.truncate(200 * 2**20)
    folder = root
    for _ in range(60):
        folder = folder / "nest"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(WANDB)
    return root


def state(root: Path) -> dict[str, object]:
    return {
        path.relative_to(root.parent).as_posix(): (
            path.read_bytes() if path.is_file() and path.stat().st_size < 10**7 else None
        )
        for path in sorted(root.parent.rglob("*"))
        if not path.is_fifo() and not path.is_symlink()
    }


def test_the_settings_file_is_named_where_it_is_broken(hostile: Path) -> None:
    done = run("check", str(hostile), cwd=hostile.parent)
    assert done.returncode == 2 and b"pyproject.toml" in done.stderr and b"Traceback" not in done.stderr
    (hostile / "pyproject.toml").unlink()


@pytest.mark.parametrize(
    "arguments",
    [
        ["detect"], ["detect", "--json"], ["diff", "--color", "always"], ["diff", "--json"], ["check", "-v"],
        ["check", "--github"], ["check", "--sarif", "-"], ["diff", "--markdown", "-"], ["diff", "--html", "../page.html"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_clean_report_and_no_side_effect(hostile: Path, arguments: list[str]) -> None:
    (hostile / "pyproject.toml").unlink(missing_ok=True)
    before = state(hostile)
    start = time.monotonic()
    done = run(arguments[0], str(hostile), *arguments[1:], cwd=hostile)
    assert time.monotonic() - start < 60
    assert done.returncode in (0, 1, 2) and b"Traceback" not in done.stderr and b"internal error" not in done.stderr
    said = done.stdout + done.stderr
    # Colours are ours; no sequence of the target's gets through, and no line of its own making.
    assert b"\x1b[2J" not in said and b"\x1b]0;" not in said and b"\x07" not in said
    assert not [line for line in said.split(b"\n") if line.startswith(b"line ::error::")]
    page = hostile.parent / "page.html"
    if page.exists():
        assert b"<img" not in page.read_bytes() and b"<script" not in page.read_bytes()
        page.unlink()
    assert state(hostile) == before


def test_apply_and_undo_touch_nothing_outside(hostile: Path) -> None:
    (hostile / "pyproject.toml").unlink(missing_ok=True)
    before = state(hostile)
    done = run("apply", str(hostile), "--yes", "--quiet", cwd=hostile)
    assert done.returncode == 0, done.stderr
    assert (hostile.parent / "outside.py").read_text() == WANDB
    assert b"probe.log" in (hostile / "train.py").read_bytes()
    assert run("undo", str(hostile), cwd=hostile).returncode == 0
    after = {name: data for name, data in state(hostile).items() if ".instrument" not in name}
    assert after == before
