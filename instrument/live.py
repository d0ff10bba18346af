"""One cell of a living notebook, planned in the context of what its session has run.

The cells that ran make a notebook that exists nowhere but in memory, with the cell in question as its last one; it is
planned like any other. Only the last cell can still be changed, so what the plan puts into earlier ones (the guards
that stand in for an import, the opening of a run that the tracker has open already) is put at its top instead.
"""

from __future__ import annotations

import ast
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from instrument.plan import tracking_module
from instrument.plan.context import Options
from instrument.plan.edits import Edit, ordered
from instrument.plan.model import Plan
from instrument.plan.place import first_line
from instrument.plan.planner import make_plan
from instrument.repo.notebook import Cell, NotebookSource
from instrument.repo.scan import Repository

#: The notebook's name; it is shown to nobody.
NAME = "session.ipynb"
#: The rule of the edit that stands in for the import of Probe.
GUARDS = tracking_module.RULE


@dataclass(frozen=True, slots=True)
class Ran:
    """A cell that the session has run, by its prompt number."""

    number: int
    text: str


@dataclass(slots=True, kw_only=True)
class CellPlan:
    """What becomes of a cell."""

    before: str
    after: str
    plan: Plan
    #: What the cells of the context are called, the cell in question as the last one.
    cells: list[str]
    #: Cells ("In [3]") that ran, and the session's own modules, without what the plan would put there: reasons.
    elsewhere: dict[str, list[str]] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        return self.before != self.after


def session_notebook(cells: Iterable[str]) -> bytes:
    """Cells as a notebook file."""
    return json.dumps(
        {
            "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in cells],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    ).encode()


def plan_session(
    texts: Sequence[str], options: Options, modules: Mapping[str, bytes] | None = None
) -> tuple[Repository, NotebookSource, Plan]:
    """Plan cells as one notebook. `modules` are the session's own modules (path to bytes)."""
    with tempfile.TemporaryDirectory(prefix="instrument-") as folder:
        overlay = {**(modules or {}), NAME: session_notebook(texts)}
        repo = Repository(Path(folder), overlay=overlay)
        plan = make_plan(repo, options)
        source = repo.source(NAME)
    assert isinstance(source, NotebookSource)
    return repo, source, plan


def plan_cell(
    history: Sequence[Ran],
    text: str,
    options: Options | None = None,
    *,
    modules: Mapping[str, bytes] | None = None,
    works: Callable[[str], bool] = lambda expression: True,
) -> CellPlan:
    """Plan the cell `text` after the cells in `history`.

    `works` tells whether an expression has a value in the session: the tracker's run may have ended since. Raises
    ProofError or ConflictError where the result would not be the cell plus what is inserted.
    """
    options = options or Options()
    context = relevant(history, text)
    _, source, plan = plan_session([*(ran.text for ran in context), text], options, modules)
    last = source.cells[-1]
    here = [e for e in plan.edits if e.path == NAME and source.cell_of(e.start).index == last.index]
    result = CellPlan(
        before=text, after=text, plan=plan, cells=[*(f"In [{ran.number}]" for ran in context), "this cell"]
    )
    moved: list[Edit] = []
    # The last opening counts, as in the session; one in a cell before one in a module.
    for edit in sorted(plan.edits, key=lambda edit: (edit.path == NAME, edit.start), reverse=True):
        if edit in here or opened_later(edit, source):
            continue
        lifted = _lifted(edit, source, last, works) if here else None
        if lifted is not None and (lifted.rule == GUARDS or all(m.rule == GUARDS for m in moved)):
            moved.insert(0, lifted)
        elif edit.path == NAME:
            number = context[source.cell_of(edit.start).index].number
            result.elsewhere.setdefault(f"In [{number}]", []).append(edit.reason)
        elif edit.rule != GUARDS and edit.path.endswith(".py"):
            result.elsewhere.setdefault(edit.path, []).append(edit.reason)
    if here:
        moved.sort(key=lambda edit: edit.rule != GUARDS)  # the name before its use
        made = ordered([*moved, *here])
        data = source.render(made)
        source.prove(made, data)
        _same_program(source, data, made)
        result.after = NotebookSource(source.path, data).cells[-1].raw.text.rstrip("\n")
    return result


def relevant(history: Sequence[Ran], text: str) -> list[Ran]:
    """The cells that explain the session: each text once, at the place where it last ran, without earlier runs of
    the cell in question."""
    found: dict[str, Ran] = {}
    for ran in history:
        key = ran.text.strip()
        found.pop(key, None)
        found[key] = ran
    found.pop(text.strip(), None)
    return [ran for key, ran in found.items() if key]


def _lifted(edit: Edit, source: NotebookSource, last: Cell, works: Callable[[str], bool]) -> Edit | None:
    """An edit to an earlier cell, or to a module, as one at the top of the last cell, where it means the same there."""
    place = _top(source, last)
    if place is None:
        return None
    if edit.rule == GUARDS:
        text = edit.text.strip("\r\n")
        if edit.path != NAME or text[:1].isspace():
            return None
    else:
        name = _opens(edit)
        if name is None:
            return None
        # Values are those of the session now: a name of a function is none, and a tracker's run may have ended.
        given = [f"{keyword}={value}" for keyword, value in _arguments(edit) if works(value)]
        text = f"if {name}.active_run() is None:\n    {name}.init({', '.join(given)})"
    return Edit(
        path=NAME, start=place, end=place, text=text + "\n", reason=edit.reason, rule=edit.rule, group=edit.group
    )


def _call(edit: Edit) -> ast.Call | None:
    """The call that is all of an edit's text."""
    try:
        tree = ast.parse(edit.text.strip(" \t\r\n;"))
    except (SyntaxError, ValueError):
        return None
    value = tree.body[0].value if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
    return value if isinstance(value, ast.Call) else None


def _arguments(edit: Edit) -> list[tuple[str, str]]:
    call = _call(edit)
    return [(keyword.arg, ast.unparse(keyword.value)) for keyword in call.keywords if keyword.arg] if call else []


def _opens(edit: Edit) -> str | None:
    """The name that Probe has in an edit that opens a run and does nothing else, None for any other."""
    call = _call(edit)
    if call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "init":
        return ast.unparse(call.func.value)
    return None


def opened_later(edit: Edit, source: NotebookSource) -> bool:
    """Whether an edit would open a run in an earlier cell that the session has opened by now, in a cell of its own."""
    name = _opens(edit)
    calls = (node.func for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    return name is not None and any(
        isinstance(func, ast.Attribute) and func.attr == "init" and ast.unparse(func.value) == name for func in calls
    )


def _top(source: NotebookSource, cell: Cell) -> int | None:
    """The start of the line of a cell's first statement that may have something above it."""
    for statement in source.tree.body:
        start = source.line_start(first_line(statement))
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if start >= cell.body and not future:
            return start
    return None


def _same_program(source: NotebookSource, data: bytes, edits: list[Edit]) -> None:
    from instrument.patch.spans import Spans
    from instrument.patch.syntax import same_program

    same_program(source, NotebookSource(source.path, data), Spans(source, edits))
