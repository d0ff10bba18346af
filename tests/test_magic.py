"""The magic, used as a person uses it: cells typed into a shell, a kernel and a notebook."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from instrument.verify.model import Run
from instrument.verify.records import read_all
from instrument.verify.run import records_below

pytest.importorskip("IPython")
pytest.importorskip("probe")
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

#: A tracker with W&B's names; it stands outside the working folder, as an installed package does.
TRACKER = """
config, run = {}, None
class Run:
    def __init__(self, name): self.name, self.config, self.rows, self._local_step, self.step = name, {}, [], 0, 0
    def log(self, row, step=None):
        self.rows.append((step, row))
    def finish(self):
        global run
        run = None
def init(project=None, name="a run", **more):
    global run
    run = Run(name)
    return run
def log(row, step=None): run.log(row, step)
def finish(): run.finish()
"""


class Session:
    """A shell with the magic loaded, and what it said."""

    def __init__(self, shell: InteractiveShell, outbox: Path) -> None:
        self.shell, self.outbox = shell, outbox
        self.next: list[tuple[str, bool]] = []
        shell.set_next_input = lambda text, replace=False: self.next.append((text, replace))  # type: ignore[method-assign]
        self.stdout = self.stderr = ""
        self.shown: list[dict[str, str]] = []
        self.ok = True

    def type(self, cell: str) -> str:
        """Run a cell; returns the text of what it displayed."""
        with capture_output() as captured:
            result = self.shell.run_cell(cell, store_history=True)
        self.ok, self.stdout, self.stderr = bool(result.success), captured.stdout, captured.stderr
        self.shown = [output.data for output in captured.outputs]
        self.failure = result.error_in_exec
        return "\n".join(data.get("text/plain", "") for data in self.shown)

    def runs(self) -> list[Run]:
        """What Probe recorded."""
        return read_all(sorted(records_below(self.outbox)))[0]

    def points(self) -> list[dict[str, list[tuple[Any, float]]]]:
        return [{key: [(p[0], p[1]) for p in points] for key, points in run.points.items()} for run in self.runs()]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    packages, work = tmp_path / "site-packages", tmp_path / "work"
    for folder in (packages, work):
        folder.mkdir()
    (packages / "wandb.py").write_text(TRACKER)
    monkeypatch.chdir(work)
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.syspath_prepend(str(work))  # as kernels have it
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PROBE_MODE", "offline")
    monkeypatch.setenv("PROBE_OUTBOX_DIR", str(tmp_path / "outbox"))
    monkeypatch.setenv("PROBE_CONFIG_PATH", str(tmp_path / "probe.json"))
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("colors", "nocolor")
    session = Session(shell, tmp_path / "outbox")
    session.type("%load_ext instrument")
    assert session.ok
    yield session
    session.type("probe.finish()")
    InteractiveShell.clear_instance()
    for name in ("wandb", "own_tools", "own_loop"):
        sys.modules.pop(name, None)


LOOP = 'for step in range(3):\n    wandb.log({"loss": 1 / (step + 1)}, step=step)'
POINTS = {"loss": [(0, 1.0), (1, 0.5), (2, 1 / 3)]}


# -- a cell -----------------------------------------------------------------------------------------------------------


def test_a_cell_is_shown_with_probe_and_put_in_its_place(session: Session) -> None:
    session.type("import wandb")
    text = session.type(f'%%probe_instrument\nwandb.init(project="toy")\n{LOOP}\nwandb.finish()')
    assert session.ok and session.stdout == ""
    assert "+probe.init(" in text and "+    probe.log(" in text and "+probe.finish()" in text
    assert "-import" not in text and " wandb.init(" in text
    ((edited, replace),) = session.next
    assert replace and edited.endswith("probe.finish()") and "%%probe_instrument" not in edited
    assert not session.runs(), "nothing ran"
    session.type(edited)
    assert session.ok
    assert session.points() == [POINTS] and session.runs()[0].status == "completed"


def test_an_earlier_cell_that_opened_the_run_is_made_up_for(session: Session) -> None:
    session.type("import wandb")
    session.type('run = wandb.init(name="first")')
    text = session.type(f"%%probe_instrument --run\n{LOOP}")
    assert session.ok, session.stdout
    assert "if probe.active_run() is None:" in text
    assert session.points() == [POINTS] and session.runs()[0].name == "first"
    # The next cell needs neither the guards nor another run.
    text = session.type('%%probe_instrument --run\nrun.log({"late": 4}, step=9)')
    assert "class" not in text and "init" not in text
    assert session.points() == [{**POINTS, "late": [(9, 4.0)]}]


def test_a_tracker_that_is_closed_already_gives_no_name(session: Session) -> None:
    session.type("import wandb")
    session.type("run = wandb.init()")
    session.type("del run")
    session.type('%%probe_instrument\nrun.log({"x": 1}, step=0)')
    assert "probe.init()" in session.next[0][0]


def test_an_edited_cell_that_runs_twice_is_recorded_once(session: Session) -> None:
    session.type("import wandb")
    session.type("wandb.init();")
    session.type(f"%%probe_instrument --run\n{LOOP}")
    session.type(session.next[0][0])
    assert session.ok
    points = session.points()
    # The server keeps the first point of a key at a step; here both stand in the one run.
    assert len(points) == 1 and set(points[0]["loss"]) == set(POINTS["loss"])


def test_running_an_init_cell_again_leaves_no_run_open(session: Session) -> None:
    session.type("import wandb")
    session.type("%%probe_instrument\nrun = wandb.init()")
    cell = session.next[0][0]
    for _ in range(3):
        session.type(cell)
        assert session.ok and not session.shown and "Out" not in session.stdout
    assert sorted(str(run.status) for run in session.runs()) == ["None", "completed", "completed"]


def test_a_cell_that_is_instrumented_is_left_alone(session: Session) -> None:
    session.type("import wandb")
    session.type(f"%%probe_instrument\nwandb.init()\n{LOOP}")
    edited = session.next[0][0]
    session.type(edited)
    text = session.type("%%probe_instrument\n" + edited)
    assert "reaches Probe already" in text and len(session.next) == 1


def test_cells_say_why_nothing_changes(session: Session) -> None:
    assert "Nothing here logs" in session.type("%%probe_instrument\nx = 1")
    session.type("import wandb")
    session.type("def start():\n    return wandb.init()")
    session.type("start();")
    session.type("wandb.log({'x': 1})")
    text = session.type("%%probe_instrument\nwandb.log({'y': 2})")
    assert "In [4] ran without Probe" in text or "probe.log" in text
    assert not session.next or session.next[0][1]


def test_magics_titles_and_shell_lines_of_a_cell_stay(session: Session) -> None:
    session.type("import wandb")
    session.type(f"%%probe_instrument\n%%time\n#@title x\nfiles = !echo\nwandb.init()\n{LOOP}")
    edited = session.next[0][0].split("\n")
    assert edited[:2] == ["%%time", "#@title x"] and "files = !echo" in edited


def test_what_failed_or_was_never_run_is_no_context(session: Session) -> None:
    session.type("import wandb")
    session.type('%%probe_instrument\nrun = wandb.init(name="shown only")')
    text = session.type(f"%%probe_instrument\n{LOOP}")
    assert "shown only" not in text and "run.name" not in text


def test_run_shows_the_error_of_the_cell_once(session: Session) -> None:
    session.type("import wandb")
    session.type("%%probe_instrument --run\nwandb.init()\nwandb.log({'x': 1})\n1 / 0")
    assert not session.ok
    assert session.stdout.count("ZeroDivisionError: division by zero") == 1 and "CellFailed" not in session.stdout


def test_run_leaves_a_cell_that_awaits_to_the_person(session: Session) -> None:
    session.type("import asyncio, wandb")
    text = session.type("%%probe_instrument --run\nwandb.init()\nawait asyncio.sleep(0)\nwandb.log({'x': 1})")
    assert session.ok and "run it yourself" in text and not session.runs()
    session.type(session.next[0][0])
    assert session.ok and len(session.runs()) == 1


def test_options_reach_the_plan(session: Session) -> None:
    session.type("import wandb")
    session.type('%%probe_instrument --project speed --question "is it faster?"\nwandb.init()')
    assert 'project="speed"' in session.next[0][0] and 'question="is it faster?"' in session.next[0][0]


def test_names_come_from_the_sessions_own_modules(session: Session) -> None:
    module = "import wandb\n\ndef start():\n    run = wandb.init(name='there')\n    return run\n"
    Path("own_tools.py").write_text(module)
    session.type("import own_tools, wandb\nrun = own_tools.start()")
    session.type("%%probe_instrument --run\nrun.log({'x': 1}, step=0)")
    assert session.points() == [{"x": [(0, 1.0)]}] and session.runs()[0].name == "there"
    assert Path("own_tools.py").read_text() == module
    Path("own_loop.py").write_text("import wandb\n\ndef train():\n    wandb.init()\n    wandb.log({'a': 1}, step=0)\n")
    text = session.type("import own_loop") + session.type("%%probe_instrument\nown_loop.train()")
    assert "%probe_instrument own_loop.py --apply" in text


@pytest.mark.parametrize(
    "line, said",
    [
        ("%probe_instrument --bogus", "--bogus"),
        ("%probe_instrument nowhere.py", "no such file"),
        ("%probe_instrument --run", "above a cell"),
        ("%probe_instrument --apply", "path"),
        ("%probe_instrument --select nothing x.py", ""),
        ("%%probe_instrument x.py\ny = 1", "takes no path"),
        ("%%probe_instrument --strategy no\ny = 1", "--strategy"),
    ],
)
def test_mistakes_are_one_line(session: Session, line: str, said: str) -> None:
    session.type(line)
    assert not session.ok
    assert (session.stdout + session.stderr).startswith("UsageError: ")
    assert said in session.stdout + session.stderr and "Traceback" not in session.stdout


# -- what is displayed ------------------------------------------------------------------------------------------------


def test_one_object_is_displayed_and_its_page_is_escaped(session: Session) -> None:
    session.type("import wandb")
    session.type('%%probe_instrument\nwandb.init()\nwandb.log({"<script>alert(1)</script>\\x1b[2J": 1})\ns = "\u202e"')
    (data,) = session.shown
    page = data["text/html"]
    assert set(data) == {"text/plain", "text/html"}
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "\u202e" not in page + data["text/plain"] and "\\u202e" in page
    assert 'class="pi-k"' in page and 'class="pi-add"' in page and "<style>" in page
    from html.parser import HTMLParser

    opened: list[str] = []

    class Check(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Check().feed(page)
    assert not opened


def test_a_loop_without_a_tracker_gets_a_run_of_its_own(session: Session) -> None:
    session.type("w, data = 0.0, [1.0, 2.0, 3.0]")
    session.type(
        "%%probe_instrument --run\nfor epoch in range(3):\n    loss = sum((w - x) ** 2 for x in data)\n"
        "    grad = sum(2 * (w - x) for x in data)\n    w -= 0.05 * grad\n    print(f'epoch {epoch} loss {loss:.3f}')"
    )
    assert session.ok and "epoch 2 loss" in session.stdout
    (run,) = session.runs()
    assert run.status == "completed" and [point[0] for point in run.points["loss"]] == [0, 1, 2]


# -- files ------------------------------------------------------------------------------------------------------------

SCRIPT = "import wandb\n\nwandb.init()\nfor i in range(2):\n    wandb.log({'a': i}, step=i)\n"


def test_a_script_is_shown_written_and_taken_back(session: Session) -> None:
    script = Path("train.py")
    script.write_text(SCRIPT)
    text = session.type("%probe_instrument train.py")
    assert "+    probe.log({'a': i}, step=i)" in text and "diff --git" in text and "--apply" in text
    assert script.read_text() == SCRIPT
    text = session.type("%probe_instrument 'train.py' --apply")
    assert session.ok, session.stdout
    assert "written" in text and "probe.log" in script.read_text() and Path("probe_tracking.py").exists()
    assert "diff --git" not in session.type("%probe_instrument train.py")
    done = subprocess.run([sys.executable, "-m", "instrument", "undo", "."], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert script.read_text() == SCRIPT and not Path("probe_tracking.py").exists()


def test_a_notebook_is_shown_cell_by_cell(session: Session) -> None:
    from instrument.live import session_notebook

    Path("nb.ipynb").write_bytes(session_notebook(["import wandb", "wandb.init();\n" + LOOP]))
    session.type("%probe_instrument nb.ipynb")
    page = session.shown[0]["text/html"]
    assert "nb.ipynb, cell 1" in page and "nb.ipynb, cell 2" in page and "&#34;source&#34;" not in page


@pytest.mark.slow
def test_a_script_is_run_once_and_both_records_are_compared(session: Session) -> None:
    script = Path("train.py")
    script.write_text(SCRIPT)
    session.type("%probe_instrument train.py --apply")
    if subprocess.run([sys.executable, "-c", "import wandb.sdk"], capture_output=True).returncode:
        pytest.skip("wandb is not installed")
    text = session.type("%probe_instrument train.py --verify --timeout 120")
    assert session.ok and "equal: 2 points of 1 keys" in text, text + session.stdout


def test_without_a_path_it_is_this_notebook(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from instrument.live import session_notebook

    session.type("import wandb")
    session.type("wandb.init();")
    session.type(LOOP)
    text = session.type("%probe_instrument")
    assert "--- In [2]" in text and "--- In [4]" in text and "+    probe.log(" in text
    before = session_notebook(["import wandb", "wandb.init();\n" + LOOP])
    book = Path("this one.ipynb")
    book.write_bytes(before)
    monkeypatch.setenv("JPY_SESSION_NAME", str(book.resolve()))
    text = session.type("%probe_instrument")
    assert "this one.ipynb as it was last saved" in text and "diff --git" in text
    assert "reloaded" in session.type("%probe_instrument --apply")
    assert b"probe.log" in book.read_bytes()


# -- in IPython, kernels and notebooks --------------------------------------------------------------------------------


def test_help_and_completion(session: Session) -> None:
    Path("train.py").write_text("")
    Path("data.csv").write_text("")
    session.type("%probe_instrument?")
    assert "--allow-dirty" in session.stdout and "puts it in the place of this one" in session.stdout
    assert "%%probe_instrument: run the cell" in session.stdout
    matches = session.shell.complete("--ap", "%probe_instrument --ap", len("%probe_instrument --ap"))[1]
    assert "--apply" in matches
    matches = session.shell.complete("", "%probe_instrument ", len("%probe_instrument "))[1]
    assert "train.py" in matches and "data.csv" not in matches


def test_loading_costs_next_to_nothing(tmp_path: Path) -> None:
    code = (
        "import IPython, time\nfrom IPython.core.interactiveshell import InteractiveShell as S\ns = S.instance()\n"
        "b = time.process_time()\nimport instrument\ni = time.process_time()\n"
        "s.run_line_magic('load_ext', 'instrument')\n"
        "print(i - b, time.process_time() - i)"
    )
    env = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    importing, loading = map(float, done.stdout.split())
    assert importing < 0.05 and importing + loading < 0.15


def test_a_kernel_is_told_to_replace_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipykernel")
    manager = pytest.importorskip("jupyter_client.manager")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    kernel, client = manager.start_new_kernel(cwd=str(tmp_path))
    try:
        outputs: list[dict[str, Any]] = []

        def run(code: str) -> dict[str, Any]:
            reply = client.execute_interactive(code, timeout=60, output_hook=outputs.append)
            content: dict[str, Any] = reply["content"]
            return content

        assert run("%load_ext instrument")["status"] == "ok"
        run("class wandb: pass")
        began = time.perf_counter()
        content = run("%%probe_instrument\nimport wandb\nwandb.init()\nwandb.log({'a': 1})")
        assert time.perf_counter() - began < 10
        assert content["status"] == "ok"
        (payload,) = content["payload"]
        assert payload["source"] == "set_next_input" and payload["replace"] is True
        assert payload["text"].startswith("import wandb\n") and payload["text"].endswith("wandb.log({'a': 1})")
        shown = [o["content"]["data"] for o in outputs if o["msg_type"] == "display_data"]
        assert len(shown) == 1 and set(shown[0]) == {"text/plain", "text/html"}
        assert run("%%probe_instrument --run\n1 / 0")["status"] == "error"
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


@pytest.mark.slow
def test_the_example_notebook_runs_and_both_records_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("wandb")
    for name, value in {"IPYTHONDIR": "ipython", "PROBE_OUTBOX_DIR": "outbox", "WANDB_DIR": ""}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    book = nbformat.read(Path(__file__).parents[1] / "examples" / "magic.ipynb", 4)
    nbformat.validate(book)
    done = nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell for cell in done.cells if cell.cell_type == "code"]
    (verified,) = cells[-1].outputs
    assert "equal: 40 points of 2 keys" in verified.data["text/plain"], verified
    # nbclient knows no set_next_input: the cells are as they were.
    assert cells[2].source.startswith("%%probe_instrument --run")
    shown = [o for cell in cells for o in cell.outputs if o.output_type == "display_data"]
    assert len(shown) == 4 and all("text/html" in o.data for o in shown)
