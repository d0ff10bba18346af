"""Runs many small programs, each in a fork of this process with the doubles loaded: `runner.py DOUBLES JOBS OUT`.

JOBS is a JSON list of {"folder", "main", "env"}; OUT gets a list of {"stdout", "stderr", "code", "calls", "runs", "probe"}.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import sys
import tempfile
import threading
import traceback
from typing import IO


def run(job: dict) -> dict:
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err, tempfile.TemporaryFile() as data:
        return _forked(job, out, err, data)


def _forked(job: dict, out: IO[bytes], err: IO[bytes], data: IO[bytes]) -> dict:
    child = os.fork()
    if child == 0:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = _inside(job)
        import recording

        sys.stdout.flush()
        data.write(json.dumps([code, recording.calls, recording.runs, recording.probe]).encode())
        data.flush()
        os._exit(0)
    os.waitpid(child, 0)
    for file in (out, err, data):
        file.seek(0)
    written = data.read()
    code, calls, runs, probe = json.loads(written) if written else (-1, [], [], [])
    return {
        "stdout": out.read().decode(), "stderr": err.read().decode(), "code": code, "calls": calls, "runs": runs,
        "probe": probe,
    }  # fmt: skip


def _inside(job: dict) -> int:
    signal.alarm(20)
    os.environ.update(job.get("env") or {})
    os.chdir(job["folder"])
    sys.path.insert(0, job["folder"])
    sys.argv = [job["main"]]
    code = 0
    try:
        runpy.run_path(job["main"], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.last_value = None
    threading._shutdown()
    atexit._run_exitfuncs()
    return code


def main() -> None:
    doubles, jobs, out = sys.argv[1:]
    sys.path.insert(0, doubles)
    sys.dont_write_bytecode = True
    with open(jobs, encoding="utf-8") as file:
        asked = json.load(file)
    results = [run(job) for job in asked]
    with open(out, "w", encoding="utf-8") as file:
        json.dump(results, file)


if __name__ == "__main__":
    main()
