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

from instrument.plan.context import Options
from instrument.plan.edits import Edit, ordered
from instrument.plan.model import Plan
from instrument.plan.place import first_line
from instrument.plan.planner import make_plan
from instrument.repo.notebook import Cell, NotebookSource
from instrument.repo.scan import Repository

#: The notebook's name; it is shown to nobody.
NAME = "session.ipynb"


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
    #: Prompt numbers of cells that ran without what the plan would put into them, and why it would.
    elsewhere: dict[int, list[str]] = field(default_factory=dict)

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
    """Plan cells as one notebook. `modules` are the session's own modules (path to bytes), which are not edited."""
    with tempfile.TemporaryDirectory(prefix="instrument-") as folder:
        overlay = {**(modules or {}), NAME: session_notebook(texts)}
        repo = Repository(Path(folder), only=(f"/{NAME}",), overlay=overlay)
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
    edits = [edit for edit in plan.edits if edit.path == NAME]
    here = [edit for edit in edits if source.cell_of(edit.start).index == last.index]
    result = CellPlan(before=text, after=text, plan=plan)
    moved: list[Edit] = []
    # The last opening counts, as in the session.
    for edit in reversed(edits):
        cell = source.cell_of(edit.start)
        if edit in here:
            continue
        if opened_later(edit, source):
            continue
        lifted = _lifted(edit, source, last, works) if here else None
        if lifted is None or (lifted.rule != "tracking-module" and any(m.rule == lifted.rule for m in moved)):
            result.elsewhere.setdefault(context[cell.index].number, []).append(edit.reason)
        else:
            moved.insert(0, lifted)
    result.elsewhere = dict(sorted(result.elsewhere.items()))
    if here:
        moved.sort(key=lambda edit: edit.rule != "tracking-module")  # the name before its use
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
    """An edit to an earlier cell as one at the top of the last, where it means the same there."""
    lines = edit.text.strip("\r\n")
    place = _top(source, last)
    if place is None or lines[:1] in (" ", "\t", ";"):
        return None
    try:
        tree = ast.parse(lines)
    except (SyntaxError, ValueError):
        return None
    if edit.rule != "tracking-module":
        name, call = _opens(edit), tree.body[0]
        if name is None or not isinstance(call, ast.Expr) or not isinstance(call.value, ast.Call):
            return None
        given = [k for k in call.value.keywords if k.arg and works(ast.unparse(k.value))]
        arguments = ", ".join(f"{k.arg}={ast.unparse(k.value)}" for k in given)
        lines = f"if {name}.active_run() is None:\n    {name}.init({arguments})"
    return Edit(
        path=edit.path, start=place, end=place, text=lines + "\n", reason=edit.reason, rule=edit.rule, group=edit.group
    )


def _opens(edit: Edit) -> str | None:
    """The name that Probe has in an edit that opens a run and does nothing else, None for any other."""
    try:
        tree = ast.parse(edit.text.strip())
    except (SyntaxError, ValueError):
        return None
    call = tree.body[0].value if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "init":
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
