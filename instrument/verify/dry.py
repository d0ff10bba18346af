"""What `instrument verify` would do, in sentences."""

from __future__ import annotations

import shlex

from instrument.verify.environment import private, removed
from instrument.verify.records import all_readers
from instrument.verify.run import Request


def explain(request: Request, against: str | None) -> list[str]:
    """Every line of `--dry`: the command, where, with which environment, how it is stopped and what is compared."""
    lines = [f"would run   {shlex.join(request.command)}", f"in          {request.cwd}"]
    lines += [
        f"with        {name}={value}" for name, value in sorted({**private(request.folder), **request.extra}.items())
    ]
    gone = removed(request.env, request.keep)
    lines.append(f"without     {', '.join(gone) or 'nothing: no credential is set'}")
    stops = [
        f"after {request.steps} logged steps" if request.steps else "",
        f"after {request.timeout:g} s" if request.timeout else "",
    ]
    stop = " or ".join(part for part in stops if part)
    lines.append(
        f"stopped     {stop or 'not: it runs to its end'} (Ctrl-C stops it too, and what was recorded is read)"
    )
    lines.append(
        f"reads       the records of {', '.join(reader.title for reader in all_readers())}, and those in {request.cwd}"
    )
    lines.append("compares    run by run, key by key, step by step, value by value: equal floats, NaN equal to NaN")
    if against:
        lines.append(f"then        the same command on {against} in a git worktree: output, exit code, record and time")
    lines.append("sends       nothing")
    return lines
