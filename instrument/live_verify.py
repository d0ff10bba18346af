"""`%probe_instrument --verify`: what Probe and the tracker recorded, of this session or of one run of a file."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from instrument.errors import InstrumentError
from instrument.report.notebook import View

if TYPE_CHECKING:
    from instrument.verify.session import Verification

#: Runs that are still open are compared up to their last rows: each side writes in its own time.
_OPEN_CUT = 2.0


def outbox() -> Path:
    """Where Probe keeps what it recorded offline (probe-research 0.337)."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(os.environ.get("PROBE_OUTBOX_DIR") or Path(state) / "probe" / "outbox").expanduser()


def verify_session(since: float) -> View:
    """Compare the records that this process has written so far, the trackers' below the working folder.

    A record that names no process counts if it began after `since` (seconds since the epoch).
    """
    from instrument.verify.compare import Rules, compare
    from instrument.verify.records import read_all
    from instrument.verify.run import Outcome, records_below
    from instrument.verify.session import Verification, explain, notes

    here, box = Path.cwd(), outbox()
    folders = {here, box, Path(os.environ.get("WANDB_DIR") or here)}
    probe, trackers = read_all(sorted({file for folder in folders for file in records_below(folder)}))
    mine = [
        [run for run in side if run.process.pid == os.getpid() or (not run.process.pid and (run.began or 0) >= since)]
        for side in (probe, trackers)
    ]
    view = View()
    open_runs = [run for run in mine[1] if run.status is None]
    if open_runs:
        view.say(
            "The tracker's run is still open: it may not have written all of its record yet (wandb.finish() does)."
        )
    if mine[1] and not mine[0]:
        view.say("The tracker recorded, but there is no record of Probe's on this machine.", "warn")
        view.say("What was sent to the server can't be compared here: set PROBE_MODE=offline before the run starts.")
        return view
    outcome = Outcome(exit_code=0, probe=mine[0], trackers=mine[1])
    comparison = compare(mine[0], mine[1], Rules(cut=_OPEN_CUT if open_runs else 0))
    explain(comparison, outcome, here)
    said = notes(outcome, comparison, box if box.is_dir() else here)
    _show(
        view,
        Verification(
            command=["this session"], path=here, folder=box, outcome=outcome, comparison=comparison, notes=said
        ),
    )
    return view


def verify_file(path: Path, steps: int | None = None, timeout: float | None = None) -> View:
    """Run a script or notebook once, offline, in a process of its own, and compare. Raises InstrumentError."""
    from instrument.verify.run import Request
    from instrument.verify.session import verify

    if not path.is_file():
        raise InstrumentError("is no script or notebook", path=str(path), hint="`instrument verify` takes any command")
    command = [sys.executable, path.name]
    if path.suffix == ".ipynb":
        # Runs the notebook and leaves its file as it is.
        command = [sys.executable, "-c", "from nbclient.cli import main; main()", path.name]
    folder = Path(tempfile.mkdtemp(prefix="instrument-verify-"))
    request = Request(
        command=command, cwd=path.parent.resolve(), folder=folder, steps=steps, timeout=timeout, copy_stdout=True
    )
    view = View()
    passed = False
    try:
        verification = verify(request, path)
        passed = verification.passed
        _show(view, verification)
        if verification.outcome.failed:
            view.more_html += f"<pre>{escape(verification.outcome.stdout.decode('utf-8', 'replace')[-4000:])}</pre>"
    finally:
        if passed:
            shutil.rmtree(folder, ignore_errors=True)
    if not passed:
        view.say(f"Both records are kept in {folder}")
    return view


def _show(view: View, verification: Verification) -> None:
    from rich.console import Console

    from instrument.verify.report import show, summary

    out = io.StringIO()
    show(verification, Console(file=out, width=120, color_system=None, highlight=False, force_jupyter=False))
    view.say(summary(verification), "done" if verification.passed else "warn")
    view.patch = out.getvalue().strip("\n")
    view.more_html = f"<pre>{escape(view.patch)}</pre>"
