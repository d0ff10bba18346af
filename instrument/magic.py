"""`%load_ext instrument`: `%%probe_instrument` above a cell, `%probe_instrument PATH` for files.

Thin: arguments in, one displayed object out. The session's history is the context in which a cell is understood
(`live.py`); nothing of the session is run or changed but the cell's own text, and that only with `--run` at once.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

if TYPE_CHECKING:
    from argparse import Namespace

    from IPython.core.interactiveshell import InteractiveShell

    from instrument.live import CellPlan, Ran
    from instrument.plan.context import Options
    from instrument.plan.model import Plan
    from instrument.repo.scan import Repository
    from instrument.report.notebook import View

MAGIC = "probe_instrument"
#: The session's own modules that are read along, at most.
_MAX_MODULES = 300


class CellFailed(Exception):
    """The cell that `--run` ran raised; its traceback stands above already."""

    def _render_traceback_(self) -> list[str]:
        return []


@magics_class
class InstrumentMagics(Magics):
    """The magic, and what it remembers of the cells it ran."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        #: By prompt number: the text that ran in place of a cell with `%%probe_instrument --run` above it.
        self.ran: dict[int, str] = {}
        self.loaded = time.time()
        self._shell: Any = shell

    @magic_arguments()
    @argument("path", nargs="?", help="a repository, script or notebook; the session itself without one")
    @argument("--run", action="store_true", help="%%%%probe_instrument: run the cell with Probe at once")
    @argument("--apply", action="store_true", help="write the change to the files (`instrument undo` takes it back)")
    @argument("--allow-dirty", action="store_true", help="also write to files that have uncommitted changes")
    @argument(
        "--verify",
        action="store_true",
        help="compare what Probe and the tracker recorded: of this session, or of one run of PATH",
    )
    @argument("--steps", type=int, help="--verify PATH: stop after so many logged steps")
    @argument("--timeout", type=float, help="--verify PATH: stop after so many seconds")
    @argument("--strategy", choices=("register", "alongside", "import"), help="only this strategy")
    @argument("--select", action="append", metavar="RULE", help="use only this framework or tracker (repeatable)")
    @argument("--ignore", action="append", metavar="RULE", help="leave this framework or tracker out (repeatable)")
    @argument("--project", help="Probe project to record into")
    @argument("--experiment", help="Probe experiment to record into")
    @argument("--question", help="the question that the experiment answers")
    @argument("--name", help="the run's name; by default the tracker's own")
    @line_cell_magic
    def probe_instrument(self, line: str, cell: str | None = None) -> None:
        """Send what a cell, notebook, script or repository logs to Probe as well.

        %%probe_instrument above a cell shows the cell with Probe as a diff and puts it in the place of this one;
        nothing runs until you run it (or --run). %probe_instrument PATH shows the change to files, --apply writes it.
        Without a path it is this notebook: its file where the server tells which one, else what the session has run.
        """
        from instrument.errors import InstrumentError

        given = parse_argstring(self.probe_instrument, line)
        for name, value in vars(given).items():
            if isinstance(value, str):
                setattr(given, name, _unquoted(value))
        try:
            if cell is not None:
                self._cell(cell, given)
            elif given.run:
                raise UsageError("--run belongs to %%probe_instrument above a cell")
            elif given.verify:
                display(self._verified(given))
            else:
                display(self._planned(given))
        except InstrumentError as error:
            raise UsageError(str(error)) from None

    # -- a cell ---------------------------------------------------------------------------------------------------

    def _cell(self, text: str, given: Namespace) -> None:
        from instrument.live import plan_cell

        if given.path or given.apply or given.verify:
            raise UsageError(
                "%%probe_instrument above a cell takes no path, --apply or --verify; %probe_instrument does"
            )
        planned = plan_cell(
            self.history(), text.rstrip("\n"), _options(given, Path()), modules=self._modules(), works=self._works
        )
        after = planned.after
        waits = given.run and self._awaits(after)
        display(_cell_view(planned, given.run and not waits, waits))
        if planned.changed:
            self._shell.set_next_input(after, replace=True)
        if not given.run or waits:
            return
        self.ran[self._shell.execution_count] = after
        if not self._shell.run_cell(after, store_history=False).success:
            raise CellFailed

    def _awaits(self, text: str) -> bool:
        code = self._shell.transform_cell(text)
        return bool(self._shell.should_run_async(text, transformed_cell=code))

    def history(self) -> list[Ran]:
        """What the session has run before this cell, as it was typed, with what `--run` ran in its place."""
        from instrument.live import Ran

        found = []
        for number, raw in enumerate(self._shell.history_manager.input_hist_raw):
            if number == 0 or number >= self._shell.execution_count:
                continue
            if raw.lstrip().startswith("%%" + MAGIC):
                raw = self.ran.get(number, "")
            if raw.strip():
                found.append(Ran(number, raw))
        return found

    def _modules(self) -> dict[str, bytes]:
        """The modules of the session that lie below the working folder: they say what its names stand for."""
        here = os.path.realpath(os.getcwd()) + os.sep
        found: dict[str, bytes] = {}
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if not isinstance(file, str) or not file.endswith(".py") or "site-packages" in file:
                continue
            path = os.path.realpath(file)
            if path.startswith(here) and not path.startswith(str(Path(__file__).parent)) and len(found) < _MAX_MODULES:
                try:
                    found[path[len(here) :].replace(os.sep, "/")] = Path(path).read_bytes()
                except OSError:
                    continue
        return found

    def _works(self, expression: str) -> bool:
        """Whether an attribute path of the tracker has a value now (`wandb.run.name` has none after finish)."""
        try:
            eval(expression, self._shell.user_global_ns, self._shell.user_ns)
        except Exception:
            return False
        return True

    # -- files and the session --------------------------------------------------------------------------------------

    def _planned(self, given: Namespace) -> View:
        path = Path(given.path).expanduser() if given.path else self.notebook_file()
        if path is not None:
            view = _files_view(path, given)
            if not given.path:
                view.said.insert(0, _said(f"{path.name} as it was last saved"))
            return view
        if given.apply:
            raise UsageError("which file is this notebook? The server does not tell; give its path")
        return self._session_view(given)

    def notebook_file(self) -> Path | None:
        """This notebook's file where it is known: Jupyter Server 2 and VS Code's kernel tell it."""
        for name in (os.environ.get("JPY_SESSION_NAME"), self._shell.user_ns.get("__vsc_ipynb_file__")):
            if isinstance(name, str) and name.endswith(".ipynb") and Path(name).is_file():
                return Path(name)
        return None

    def _session_view(self, given: Namespace) -> View:
        from instrument.live import NAME, opened_later, plan_session, relevant
        from instrument.plan.edits import ordered
        from instrument.report.notebook import Diff, View

        ran = relevant(self.history(), "")
        _, source, plan = plan_session([cell.text for cell in ran], _options(given, Path()), self._modules())
        edits = ordered(edit for edit in plan.edits if edit.path == NAME and not opened_later(edit, source))
        result = source.render(edits)
        source.prove(edits, result)
        view = View()
        after = type(source)(source.path, result)
        for cell, old, new in zip(ran, source.cells, after.cells):
            if old.raw.text != new.raw.text:
                view.diffs.append(Diff(f"In [{cell.number}]", old.raw.text, new.raw.text))
        if view.diffs:
            view.say(f"What this session has run, as it would be with Probe. Put %%{MAGIC} above a cell to change it.")
        else:
            view.say(_nothing(plan))
        _say_notes(view, plan, [f"In [{cell.number}]" for cell in ran])
        return view

    # -- verify -----------------------------------------------------------------------------------------------------

    def _verified(self, given: Namespace) -> View:
        from instrument.live_verify import verify_file, verify_session

        if given.path:
            return verify_file(Path(given.path).expanduser(), given.steps, given.timeout)
        return verify_session(self.loaded)


def _options(given: Namespace, target: Path) -> Options:
    """The options for a plan: `[tool.instrument]` of the folder with what was typed laid over it."""
    options: Options = _ask(given, target).options
    return options


def _ask(given: Namespace, target: Path) -> Any:
    from instrument.commands._common import Ask

    names = ("strategy", "select", "ignore", "project", "experiment", "question", "name")
    return Ask(path=target, quiet=True, color="never", **{name: getattr(given, name) for name in names})


def _said(text: str) -> Any:
    from instrument.report.notebook import Said
    from instrument.report.text import shown

    return Said(shown(text))


def _cell_view(planned: CellPlan, runs: bool, waits: bool) -> View:
    from instrument.report.notebook import Diff, View

    view = View()
    if planned.changed:
        view.diffs.append(Diff("cell", planned.before, planned.after))
        if waits:
            view.say("The cell awaits something, which a magic can't run: run it yourself, it is in place.", "warn")
        else:
            view.say("It runs with Probe now." if runs else "The cell with Probe is in place: run it.", "done")
    elif any(site.outcome == "already" for site in planned.plan.sites) and not planned.elsewhere:
        view.say("This cell reaches Probe already.", "done")
    elif planned.elsewhere:
        view.say("Nothing to change in this cell.")
    else:
        view.say(_nothing(planned.plan))
    for place, reasons in planned.elsewhere.items():
        why = "; ".join(dict.fromkeys(reasons))
        do = (
            f"%{MAGIC} {place} --apply, then import it anew"
            if place.endswith(".py")
            else f"put %%{MAGIC} above it, too"
        )
        view.say(f"{place} ran without Probe ({why}): {do}.", "warn")
    _say_notes(view, planned.plan, planned.cells)
    if planned.changed and not _installed():
        view.say(
            "probe-research is not installed in this kernel, so nothing is recorded: %pip install probe-research",
            "warn",
        )
    return view


def _nothing(plan: Plan) -> str:
    if any(site.outcome == "already" for site in plan.sites):
        return "Already instrumented, nothing to do."
    return "Nothing here logs metrics to a tracker or framework that is known."


def _say_notes(view: View, plan: Plan, cells: Sequence[str] = ()) -> None:
    """Questions, refusals and warnings; what is merely information is left to the command line.

    `cells` are the names of the cells where they have come from a session instead of a file.
    """
    for note in plan.notes:
        if note.level == "info" and note.code != "other-kernel":
            continue
        message, where = note.message, ""
        if note.path == "session.ipynb":
            message = re.sub(r"\(cell (\d+), ", lambda found: f"({cells[int(found[1]) - 1]}, ", message)
        elif note.path:
            where = f"{note.path}:{note.line}: " if note.line else f"{note.path}: "
        then = f" {note.next}" if note.next else ""
        view.say(f"{where}{message.rstrip('.')}.{then}", "" if note.level == "info" else "warn")


def _installed() -> bool:
    from importlib.util import find_spec

    try:
        return find_spec("probe.sdk") is not None
    except (ImportError, ValueError):
        return False


def _files_view(path: Path, given: Namespace) -> View:
    from instrument.commands._common import proved
    from instrument.patch.diff import git_prefix, patch
    from instrument.patch.write import apply as write
    from instrument.report.notebook import Diff, View
    from instrument.report.text import plural

    ask = _ask(given, path)
    repo, plan = ask.repo, ask.plan()
    (summary, changes), view = proved(ask, plan), View()
    names = "; ".join(f"{title} ({form})" if form else title for title, form in summary.shapes)
    view.say(f"Found: {names}" if names else _nothing(plan))
    _say_notes(view, plan)
    view.patch = patch(changes, git_prefix(repo)).decode("utf-8", "surrogateescape")
    for change in changes:
        view.diffs += [Diff(*parts) for parts in _parts(repo, change.path, change.before or b"", change.after)]
    if plan.empty:
        return view
    if given.apply:
        if not given.allow_dirty:
            from instrument.commands.apply import _refuse_dirty

            _refuse_dirty(repo, plan)
        write(repo, plan)
        view.say(f"{plural(len(changes), 'file')} written. `instrument undo {path}` takes it back.", "done")
        if any(change.path.endswith(".ipynb") for change in changes):
            view.say("A notebook that is open has to be reloaded from disk.", "warn")
    else:
        view.say(f"Nothing is written yet: %{MAGIC} {path} --apply")
    return view


def _parts(repo: Repository, path: str, before: bytes, after: bytes) -> Iterator[tuple[str, str, str, bool]]:
    """(title, before, after, Python?) for the page: a notebook cell by cell, everything else as one text."""
    from pathlib import PurePosixPath

    from instrument.repo.notebook import NotebookSource

    if path.endswith(".ipynb") and before:
        old, new = NotebookSource(PurePosixPath(path), before), NotebookSource(PurePosixPath(path), after)
        for a, b in zip(old.cells, new.cells):
            if a.raw.text != b.raw.text:
                yield f"{path}, {a.label}", a.raw.text, b.raw.text, True
        return
    yield path, before.decode("utf-8", "replace"), after.decode("utf-8", "replace"), path.endswith(".py")


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _complete(shell: Any, event: Any) -> list[str]:
    """Options, and files and folders for the path."""
    from glob import escape, glob

    word = "" if event.line.endswith(" ") else event.line.split()[-1]
    if word.startswith("-"):
        actions = InstrumentMagics.probe_instrument.parser._actions
        return [flag for action in actions for flag in action.option_strings if flag.startswith(word)]
    found = []
    for name in sorted(glob(escape(word) + "*")):
        if os.path.isdir(name):
            found.append(name + "/")
        elif name.endswith((".py", ".ipynb")):
            found.append(name)
    return found


def load(shell: InteractiveShell) -> None:
    """Register the magic and its completion."""
    shell.register_magics(InstrumentMagics)
    shell.set_hook("complete_command", _complete, re_key=rf"%%?{MAGIC}")
