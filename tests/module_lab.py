"""A place to run the generated module in: a script of its own, a private home and outbox, servers on 127.0.0.1."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from instrument.plan import render

RUN_ID = "00000000-0000-0000-0000-000000000007"


@dataclass
class Run:
    """One run of an offline outbox."""

    name: str | None = None
    config: dict[str, Any] | None = None
    tags: list[str] | None = None
    #: (key, step, value) in the order in which they were written.
    points: list[tuple[str, int | None, float]] = field(default_factory=list)
    clocks: list[str] = field(default_factory=list)
    status: str | None = None
    #: How many points had been written when the run was closed.
    before_close: int = 0
    foreign_keys: dict[str, str] = field(default_factory=dict)


def read_outbox(outbox: Path) -> list[Run]:
    """The runs of an outbox, oldest first; written here again so that the product's own reader is not its judge."""
    folders = (outbox / "offline").iterdir() if (outbox / "offline").exists() else ()
    runs = []
    for folder in folders:
        run, order = Run(), None
        for path in sorted((folder / "ops").glob("*.json")):
            op = json.loads(path.read_text())
            order = order or op["enqueued_at"]
            if op["kind"] == "create_run":
                made = op["create"]["body"]
                run.name, run.config, run.tags = made.get("name"), made.get("config"), made.get("tags")
            body = op.get("body") or {}
            if op.get("path", "").endswith("/metrics"):
                for point in body["points"]:
                    run.points.append((point["key"], point.get("step_index"), point["value"]))
                    run.clocks.append(point["wall_clock"])
            if op.get("method") == "PATCH" and "status" in body:
                run.status, run.before_close = body["status"], len(run.points)
            run.foreign_keys.update(body.get("foreign_keys") or {})
        runs.append((order or "", run))
    return [run for _, run in sorted(runs, key=lambda pair: pair[0])]


@dataclass(frozen=True)
class Done:
    """How a script ended."""

    code: int
    out: str
    err: str
    seconds: float
    runs: list[Run]

    @property
    def run(self) -> Run:
        assert len(self.runs) == 1, (self.runs, self.err)
        return self.runs[0]

    @property
    def said(self) -> list[str]:
        """What the module said in the log."""
        return [line for line in self.err.splitlines() if line.startswith("Probe ")]


class Lab:
    """A folder with the module in it."""

    def __init__(self, folder: Path, parts: Iterable[str] = ("core",)) -> None:
        self.folder = folder
        self.outbox = folder / "outbox"
        self.write("probe_tracking.py", render.render_module(parts))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def start(self, script: str, *, flags: Iterable[str] = (), **environment: str | None) -> subprocess.Popen[str]:
        """Run a script that sees nothing of this machine's settings. PROBE_MODE is offline unless given; None removes."""
        (self.folder / "home").mkdir(exist_ok=True)
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH")}
        given: dict[str, str | None] = {
            "HOME": str(self.folder / "home"), "PROBE_MODE": "offline", "PROBE_OUTBOX_DIR": str(self.outbox),
            "PYTHONDONTWRITEBYTECODE": "1", "WANDB_MODE": "offline", "WANDB_SILENT": "true",
            "WANDB_DIR": str(self.folder), **environment,
        }  # fmt: skip
        kept.update({key: value for key, value in given.items() if value is not None})
        path = self.write("train.py", script)
        return subprocess.Popen(
            [sys.executable, *flags, str(path)], cwd=self.folder, env=kept, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def run(self, script: str, *, flags: Iterable[str] = (), timeout: float = 60, **environment: str | None) -> Done:
        start = time.monotonic()
        process = self.start(script, flags=flags, **environment)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"still running after {timeout} s\n{out}\n{err}") from None
        return Done(process.returncode, out, err, time.monotonic() - start, read_outbox(self.outbox))


# -- servers --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def hung_server() -> Iterator[str]:
    """Takes connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def closed_port() -> str:
    """An address where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class Api:
    """Answers like Probe's API as far as a run needs it, keeps what it got, and can die."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, Any]]] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def answer(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                try:
                    body = json.loads(raw) if raw else {}
                except ValueError:
                    body = {}
                api.requests.append((self.command, self.path, body))
                run = {
                    "id": RUN_ID, "slug": "run-7", "status": "running", "name": "r", "config": {}, "tags": [],
                    "write_epoch": 1, "foreign_keys": {}, "metadata": {},
                }  # fmt: skip
                answer: object = run if "/runs" in self.path and "/metrics" not in self.path else {}
                if self.path == "/v1/server/features":
                    answer = {"features": ["run_config_merge"]}
                reply = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def die(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def bodies(self, method: str, ending: str) -> list[dict[str, Any]]:
        return [body for verb, path, body in self.requests if verb == method and path.split("?")[0].endswith(ending)]

    @property
    def points(self) -> list[tuple[str, int, float]]:
        return [
            (point["key"], point["step_index"], point["value"])
            for body in self.bodies("POST", "/metrics")
            for point in body["points"]
        ]


# -- a stand-in for the SDK, in this process ------------------------------------------------------------------------


class FakeRun:
    """Keeps what is logged. `trouble` is raised, or called, by each log."""

    def __init__(self, **given: Any) -> None:
        self.given = given
        self.rows: list[tuple[int, dict[str, float]]] = []
        self.status: str | None = None
        self.trouble: Any = None

    def log(self, metrics: dict[str, float], *, step: int, wall_clock: str) -> None:
        if isinstance(self.trouble, BaseException):
            raise self.trouble
        if self.trouble is not None:
            self.trouble()
        if metrics:
            self.rows.append((step, dict(metrics)))

    def finish(self, status: str = "completed") -> None:
        self.status = self.status or status

    @property
    def points(self) -> list[tuple[str, int, float]]:
        return [(key, step, value) for step, row in self.rows for key, value in row.items()]


class FakeSdk(types.ModuleType):
    """`probe` as far as the module calls it."""

    def __init__(self) -> None:
        super().__init__("probe")
        self.runs: list[FakeRun] = []
        self.current: FakeRun | None = None
        self.trouble: BaseException | None = None

    def init(self, **given: Any) -> FakeRun:
        if self.trouble is not None:
            raise self.trouble
        self.current = FakeRun(**given)
        self.runs.append(self.current)
        return self.current

    def active_run(self) -> FakeRun | None:
        return self.current

    def finish(self, status: str = "completed") -> None:
        if self.current is not None:
            run, self.current = self.current, None
            run.finish(status)


def load(parts: Iterable[str] = ("core",), name: str = "probe_tracking") -> Any:
    """The module, made in this process (not registered: each call gives another one)."""
    module: Any = types.ModuleType(name)
    exec(compile(render.render_module(parts), f"{name}.py", "exec"), module.__dict__)
    return module
