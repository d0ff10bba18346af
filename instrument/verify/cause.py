"""Why Probe has nothing of a run that a tracker has, and in which process it should have been."""

from __future__ import annotations

import subprocess
from pathlib import Path

from instrument.errors import InstrumentError
from instrument.repo.scan import Repository
from instrument.verify.compare import RunResult
from instrument.verify.model import Run
from instrument.verify.run import Outcome

#: Text that stands in code that sends to Probe.
_CALLS = (
    b"import probe",
    b"probe.init(",
    b"probe_tracking",
    b"from probe",
    b"ProbeCallback",
    b"ProbeLogger",
    b"ProbeBackend",
)


def likely_cause(result: RunResult, outcome: Outcome, path: Path) -> str:
    """One or two sentences: what is missing, and the process where it should have been."""
    where = str(result.tracker.process)
    if result.probe is not None:
        return f"a Probe run was opened ({result.probe.process}) but nothing was logged to it"
    others = sorted({str(run.process) for run in outcome.probe if run.process.pid != result.tracker.process.pid})
    if others:
        return (
            f"Probe recorded in {', '.join(others)}, but this run was written by {where}: "
            "that process opens no Probe run of its own"
        )
    if not _calls_probe(path):
        return (
            "no code in this repository sends to Probe: "
            f"run `instrument apply` (the tracker's run was written by {where})"
        )
    missing = _not_installed(result.tracker, path)
    if missing:
        return f"{missing}, in {where}"
    role = result.tracker.process.role
    inner = (
        role.startswith(("Ray", "torchrun", "spawned", "child")) and "what is registered or opened in the driver alone"
    )
    return (
        f"Probe's calls were not reached, or the run did not open, in {where}: look for a guard that is off "
        f"(a flag, a rank), {f'for {inner} (it does not reach that process), ' if inner else ''}"
        "and for a line about Probe in the trainer's output"
    )


def _calls_probe(path: Path) -> bool:
    try:
        repository = Repository(path)
        repository.scan(_CALLS)
        return bool(repository.having(*_CALLS))
    except InstrumentError:
        return True


def _not_installed(run: Run, path: Path) -> str | None:
    """Ask the interpreter that wrote the run whether it has the SDK (without importing it)."""
    if run.process.executable is None:
        return None
    ask = (
        "import importlib.util as u\ns = u.find_spec('probe')\n"
        "print('' if s is None else 'sdk' if s.submodule_search_locations and "
        "any(__import__('os').path.isdir(p + '/sdk') for p in s.submodule_search_locations) else 'other')"
    )
    try:
        done = subprocess.run(
            [run.process.executable, "-c", ask], cwd="/", capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    answer = done.stdout.strip()
    if done.returncode == 0 and answer == "":
        return f"probe-research is not installed in {run.process.executable}"
    if answer == "other":
        return f"the package «probe» in {run.process.executable} is not probe-research"
    return None
