"""The screens in the README are what the tool prints: `BLESS=1 pytest tests/test_readme.py` writes them anew."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"

#: <!-- screen: ARGUMENTS -->, and the block that follows it.
SCREEN = re.compile(r"<!-- screen: (?P<arguments>[^\n]+) -->\n(\n?```\w*\n.*?\n```\n)?", re.DOTALL)


def _screen(match: re.Match[str]) -> str:
    arguments = shlex.split(match["arguments"])
    command = [sys.executable, "-m", "instrument", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    text = re.sub(r"[\d.]+ s$", "0.1 s", done.stdout.rstrip(), flags=re.MULTILINE)
    kind = "text"
    if arguments[0] == "diff":
        # The added module is not worth its length here.
        text = "".join(part for part in re.split(r"(?m)^(?=diff --git )", text) if "probe_tracking.py b/" not in part)
        kind = "diff"
    return f"<!-- screen: {match['arguments']} -->\n\n```{kind}\n{text.rstrip()}\n```\n"


def test_screens_are_true() -> None:
    text = README.read_text("utf-8")
    made = SCREEN.sub(_screen, text)
    if os.environ.get("BLESS"):
        README.write_text(made, "utf-8")
    assert made == README.read_text("utf-8")
