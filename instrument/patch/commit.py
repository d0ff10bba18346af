"""One commit that holds what `apply` wrote and nothing else."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from instrument.errors import InstrumentError
from instrument.report.text import plural, shown

if TYPE_CHECKING:
    from instrument.repo.scan import Repository
    from instrument.report.summary import Summary


def check(repo: Repository) -> None:
    """Raises InstrumentError where there is no git to commit to: before anything is written."""
    if repo.git_root is None:
        raise InstrumentError(
            "is in no git repository; nothing was written", path=str(repo.root), hint="leave --commit out"
        )


def message(summary: Summary) -> str:
    """A subject, and a line for each edit with its reason."""
    lines = ["Send the trainer's metrics to Probe as well", ""]
    for change in summary.files:
        if change.new:
            lines.append(f"- {shown(change.path)}: {shown(change.new.reason)}")
        for edit in change.explained:
            lines.append(f"- {shown(change.path)}:{summary.line(edit)}: {shown(edit.reason)}")
    files = plural(len(summary.files), "file")
    return "\n".join([*lines, "", f"Written by `instrument apply`, {files}; `instrument undo` takes it back."]) + "\n"


def commit(repo: Repository, summary: Summary) -> None:
    """Commit the files of a plan that was written; what else is staged stays staged.

    The repository's own hooks run, as they do for any commit. Raises InstrumentError where git refuses; the files stay
    written then.
    """
    paths = [change.path for change in summary.files]
    for arguments in (["add", "--"], ["commit", "--quiet", "--file=-", "--only", "--"]):
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "--literal-pathspecs", "-C", str(repo.root), *arguments, *paths],
            input=message(summary).encode(), capture_output=True, check=False,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        )  # fmt: skip
        if done.returncode:
            said = shown((done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason"])[-1])
            raise InstrumentError(f"git would not commit ({said}); the files are written", hint="commit them by hand")
