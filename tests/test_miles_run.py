"""Miles, run: what the registered backend queues in each version form, and what a training loses by it (nothing)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.miles import DRIVER, LOGGED, SHAPES, Queue, applied, copied, run

pytest.importorskip("probe.integrations.miles", reason="probe-research is not installed")

FORMS = {
    "fork_functions": "miles.utils.tracking_utils",
    "fork_base": "miles.utils.tracking_utils",
    "fork_tracking": "miles.utils.tracking_utils.tracking",
}


@pytest.fixture(params=sorted(FORMS))
def fork(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """An instrumented fork in each form, and the module that has its functions."""
    return applied(copied(SHAPES / request.param / "before", tmp_path / "repo")), FORMS[request.param]


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A server that refuses everything and remembers what it was asked."""
    asked: list[str] = []

    class Refuse(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_error(401)

        do_POST = do_PATCH = do_PUT = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuse) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}", asked
        http.shutdown()


def test_the_actor_leaves_its_points(fork: tuple[Path, str], tmp_path: Path) -> None:
    """Every row at its own step, none of the step counters as a metric, and the run closed as completed."""
    folder, name = fork
    done = run(folder, DRIVER, name, str(tmp_path / "save"), "")
    assert done.stdout == "trained 0\n", done.stderr
    queue = Queue.read(tmp_path / "save")
    assert sorted(queue.points) == LOGGED
    assert queue.kinds["eval/acc"] == "validation"
    assert queue.status == "completed"
    assert queue.intent["run_spec"]["config"]["save"] == str(tmp_path / "save")


@pytest.mark.parametrize(("end", "status", "code"), [("crash", "failed", 1), ("stopped", "canceled", -2)])
def test_how_it_ended(fork: tuple[Path, str], end: str, status: str, code: int, tmp_path: Path) -> None:
    """An exception that passes through `finally: finish_tracking()`, or through no finish at all."""
    folder, name = fork
    done = run(folder, DRIVER, name, str(tmp_path / "save"), end)
    assert done.returncode == code
    queue = Queue.read(tmp_path / "save")
    assert queue.status == status
    assert sorted(queue.points) == LOGGED


def test_joins_the_run_of_probe_exec(fork: tuple[Path, str], tmp_path: Path) -> None:
    folder, name = fork
    run(folder, DRIVER, name, str(tmp_path / "save"), "", PROBE_RUN_ID="run-7", PROBE_MODE="offline")
    assert Queue.read(tmp_path / "save").intent["run_id"] == "run-7"


@pytest.mark.parametrize(("end", "mode"), [("off", ""), ("", "disabled")])
def test_switched_off(fork: tuple[Path, str], end: str, mode: str, tmp_path: Path) -> None:
    """`use_probe: false` in a Miles config, or PROBE_MODE=disabled: no queue, no word."""
    folder, name = fork
    done = run(folder, DRIVER, name, str(tmp_path / "save"), end, PROBE_MODE=mode)
    assert done.stdout == "trained 0\n"
    assert done.stderr == ""
    assert not (tmp_path / "save").exists()


def test_offline_asks_no_server(fork: tuple[Path, str], server: tuple[str, list[str]], tmp_path: Path) -> None:
    """The SDK's own backend ignores PROBE_MODE and would ask."""
    folder, name = fork
    url, asked = server
    environment = {"PROBE_TOKEN": "t", "PROBE_BASE_URL": url}
    run(folder, DRIVER, name, str(tmp_path / "save"), "", PROBE_MODE="offline", **environment)
    assert asked == []
    assert sorted(Queue.read(tmp_path / "save").points) == LOGGED
    done = run(folder, DRIVER, name, str(tmp_path / "other"), "", **environment)
    assert asked
    assert done.stdout == "trained 0\n"
    assert sorted(Queue.read(tmp_path / "other").points) == LOGGED


BREAKS = {
    "missing": {},
    "someone else's": {"probe/__init__.py": "VERSION = 1\n"},
    "raises when imported": {"probe/__init__.py": "raise RuntimeError('broken install')\n"},
    "raises when called": {
        "probe/__init__.py": "", "probe/connectors/__init__.py": "", "probe/integrations/__init__.py": "",
        "probe/connectors/miles.py": "def register(args=None):\n    raise ImportError('not this Miles')\n",
        "probe/integrations/miles.py": (
            "class ProbeBackend:\n"
            "    def init(self, args, **kwargs): pass\n"
            "    def log(self, metrics, **kwargs): raise OSError('disk is full')\n"
            "    def finish(self): raise OSError('disk is full')\n"
        ),
    },
    "raises when opened": {
        "probe/__init__.py": "", "probe/connectors/__init__.py": "", "probe/integrations/__init__.py": "",
        "probe/connectors/miles.py": "def register(args=None):\n    raise ValueError('odd')\n",
        "probe/integrations/miles.py": (
            "class ProbeBackend:\n    def init(self, args, **kwargs): raise OSError('read-only')\n"
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize(("form", "end"), [("fork_tracking", ""), ("fork_functions", "crash")])
def test_an_sdk_that_breaks_costs_nothing(form: str, how: str, end: str, tmp_path: Path) -> None:
    """The trainer's own output and exit code stay; each process says once that Probe is off, and why."""
    folder, name = applied(copied(SHAPES / form / "before", tmp_path / "repo")), FORMS[form]
    shadow = tmp_path / "broken"
    shadow.mkdir()
    if not BREAKS[how]:
        (shadow / "sitecustomize.py").write_text("import sys\nsys.modules['probe'] = None\n")
    for path, text in BREAKS[how].items():
        (shadow / path).parent.mkdir(parents=True, exist_ok=True)
        (shadow / path).write_text(text)
    done = run(folder, DRIVER, name, str(tmp_path / "save"), end, PYTHONPATH=str(shadow))
    assert done.returncode == (1 if end else 0)
    assert done.stdout == ("" if end else "trained 0\n")
    said = [line for line in done.stderr.splitlines() if line.startswith("Probe ")]
    assert said
    assert len(said) <= 4
    assert ("ValueError: diverged" in done.stderr) == bool(end)


ODD = """
import argparse, importlib, sys

class Odd:
    def item(self): raise OverflowError("odd")
    def __repr__(self): raise RuntimeError("odd")
    def __eq__(self, other): raise RuntimeError("odd")

name, save = sys.argv[1:]
args = argparse.Namespace(save=save, use_wandb=False, wandb_group=None)
tracking = importlib.import_module(name)
tracking.init_tracking(args)
rows = [{"a": Odd(), "x/step": 1}, {"a": "text", "b": None, "x/step": "two"}, {}, {"a": float("nan"), "x/step": 1},
        {"b": True, "c": 2, "x/step": 3}]
for row in rows:
    tracking.log(args, row, "x/step")
print("trained")
"""


def test_odd_rows(fork: tuple[Path, str], tmp_path: Path) -> None:
    folder, name = fork
    done = run(folder, ODD, name, str(tmp_path / "save"))
    assert done.stdout == "trained\n", done.stderr
    assert sorted(Queue.read(tmp_path / "save").points) == [("b", 3, 1.0), ("c", 3, 2.0)]


def test_an_interface_that_grows(tmp_path: Path) -> None:
    """A method that a later Miles asks of its backends, even an abstract one, meets Miles' own default."""
    folder = copied(SHAPES / "fork_tracking" / "before", tmp_path / "repo")
    base = folder / "miles/utils/tracking_utils/base.py"
    grown = "    @abstractmethod\n    def flush(self): ...\n\n    def describe(self):\n        return 'x'\n"
    base.write_text(base.read_text().replace("\n\nclass Wandb", f"{grown}\n\nclass Wandb", 1))
    applied(folder)
    code = ODD.replace('print("trained")', "print([(b.flush(), b.describe()) for b in tracking._manager.backends])")
    done = run(folder, code, FORMS["fork_tracking"], str(tmp_path / "save"))
    assert done.stdout == "[(None, 'x')]\n", done.stderr


#: Ray's decorator, with actors that are fresh interpreters.
RAY = """
import importlib, multiprocessing

def _serve(module, name, args, pipe):
    made = getattr(importlib.import_module(module), name).cls(args)
    pipe.send(None)
    for method, given in iter(pipe.recv, None):
        pipe.send(getattr(made, method)(*given))

class _Method:
    def __init__(self, pipe, name): self.pipe, self.name = pipe, name
    def remote(self, *given):
        self.pipe.send((self.name, given))
        return self.pipe.recv()

class _Handle:
    def __init__(self, pipe): self.pipe = pipe
    def __getattr__(self, name): return _Method(self.pipe, name)

class _Class:
    def __init__(self, cls): self.cls = cls
    def remote(self, args):
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        given = (self.cls.__module__, self.cls.__name__, args, theirs)
        spawn.Process(target=_serve, args=given, daemon=True).start()
        ours.recv()
        return _Handle(ours)

def remote(cls): return _Class(cls)
def get(value): return value
"""


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_launcher_on_each_installed_miles(form: str, tmp_path: Path) -> None:
    """One text for all versions: driver and actor register for themselves, and both leave their points."""
    folder = applied(copied(SHAPES / "launcher" / "before", tmp_path / "repo"))
    installed = copied(SHAPES / form / "before", tmp_path / "installed")
    (installed / "ray.py").write_text(RAY)
    (installed / "miles/ray/placement.py").write_text("def create_training_models(args): ...\n")
    for name in ("actor.py", "train.py"):
        text = (folder / name).read_text()
        if form != "fork_tracking":
            text = text.replace("tracking_utils.tracking import", "tracking_utils import")
            text = text.replace("miles.utils.tracking_utils import tracking\n", "miles.utils import tracking_utils\n")
            text = text.replace(" tracking.", " tracking_utils.")
        if form == "fork_functions":  # which have no finish
            text = text.replace("finish_tracking, ", "")
            text = re.sub(r"\S*finish_tracking\(\)", "pass", text)
        (folder / name).write_text(text)
    main = (folder / "train.py").read_text().replace(
        "use_wandb=False,", f"use_wandb=False, wandb_group=None, save={str(tmp_path / 'save')!r},"
    )  # fmt: skip
    done = run(folder, main, PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    queue = Queue.read(tmp_path / "save")
    assert sorted(queue.points) == sorted(
        [*[("rollout/reward", i, 0.1 * i) for i in range(3)], *[("train/loss", 10 * i, 1 / (i + 1)) for i in range(3)]]
    )
    assert queue.status == "completed"


@pytest.mark.parametrize("form", ["fork_base", "fork_tracking"])
def test_registering_in_the_driver_alone_records_nothing(form: str, tmp_path: Path) -> None:
    """The flag reaches the actor with its arguments, yet its registry has no Probe: nothing raises, nothing comes."""
    folder = copied(SHAPES / form / "before", tmp_path / "repo")
    applied(copied(SHAPES / "launcher" / "before", tmp_path / "launcher"))
    (folder / "probe_tracking.py").write_bytes((tmp_path / "launcher" / "probe_tracking.py").read_bytes())
    opening = "    tracking.init_tracking(args)\n"
    code = DRIVER.replace(opening, f"    import probe_tracking\n    probe_tracking.register(args)\n{opening}")
    last = '    tracking.log(args, {"eval'
    code = code.replace(last, f"    assert args.use_probe is True\n{last}")
    done = run(folder, code, FORMS[form], str(tmp_path / "save"), "")
    assert done.stdout == "trained 0\n", done.stderr
    queue = Queue.read(tmp_path / "save")
    assert queue.points == []
    assert queue.status == "completed"


def test_what_is_relied_on_in_the_sdk() -> None:
    """Without these a crash reads as completed, or PROBE_MODE=offline asks the server."""
    from probe.integrations.miles import ProbeBackend
    from probe.sdk.transport import deadline_scope

    assert callable(ProbeBackend.set_terminal_status)
    assert callable(deadline_scope)
