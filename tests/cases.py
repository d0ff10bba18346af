"""Runs the example repositories (`../shared/cases`, beside the project) through the tool and their own checker.

Each case is copied, applied, applied again and undone; the checker then runs the edited trainer against recording
stand-ins of every library and compares what Probe got with what it should get.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(os.environ.get("INSTRUMENT_CASES") or Path(__file__).resolve().parents[2] / "shared" / "cases")

#: The first letter of a case's id, and what it stands for.
KINDS = {
    "w": "wandb", "h": "hugging face", "l": "lightning", "a": "accelerate", "r": "ray", "m": "registry", "c": "custom",
    "n": "notebook", "s": "syntax", "x": "launch", "z": "nothing to do", "i": "import",
}  # fmt: skip


def ids() -> list[str]:
    """Every case there is; none where the folder is not there."""
    return sorted(path.parent.name for path in ROOT.glob("*/expect.json"))


@dataclass
class Result:
    """What became of one case: the tool's report and everything that is wrong, by stage."""

    case: str
    report: str = ""
    #: It crashed, was not idempotent, or undo did not restore the bytes.
    unsafe: list[str] = field(default_factory=list)
    #: What the checker says.
    wrong: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.unsafe and not self.wrong


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def instrument(*arguments: str) -> tuple[int, str]:
    """(exit code, everything printed) of one command, in this process."""
    from instrument.cli import build

    out = io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            build()(list(arguments), prog_name="instrument")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 2
        except BaseException:
            traceback.print_exc(file=out)
            code = -1
    return code, out.getvalue()


def run(case: str, keep: Path | None = None) -> Result:
    """Take one case through apply, the checker, a second apply and undo. `keep` gets the edited tree."""
    result = Result(case)
    source = ROOT / case / "input"
    with tempfile.TemporaryDirectory(prefix=f"case-{case}-") as folder:
        work = Path(folder, "out")
        shutil.copytree(source, work, symlinks=True)
        subprocess.run(["chmod", "-R", "u+w", str(work)], check=True)
        before = tree(work)
        code, result.report = instrument("apply", str(work), "--yes", "--verbose")
        if code not in (0, 1, 2) or "Traceback" in result.report:
            result.unsafe.append(f"apply ended with {code}:\n{result.report[-3000:]}")
        after = tree(work)
        if keep is not None:
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(work, keep)
        message = Path(folder, "message.txt")
        message.write_text(result.report, "utf-8", errors="backslashreplace")
        check = subprocess.run(
            [sys.executable, str(ROOT / "tools" / "check.py"), case, "--out", str(work), "--message", str(message)],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        if check.returncode:
            result.wrong.append((check.stdout + check.stderr).strip())
        _, again = instrument("apply", str(work), "--yes", "--verbose")
        if tree(work) != after:
            result.unsafe.append(f"a second apply changed {_different(tree(work), after)}\n{again[-1000:]}")
        if after != before:
            _, undone = instrument("undo", str(work))
            if tree(work) != before:
                result.unsafe.append(f"undo did not restore {_different(tree(work), before)}\n{undone[-1000:]}")
    return result


def _different(one: dict[str, bytes], other: dict[str, bytes]) -> str:
    return ", ".join(sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path)))
