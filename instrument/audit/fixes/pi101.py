"""PI101: the axis is added to the declaration (`step_metric=`)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from instrument.audit.axes import Declared, axis_of, declared, is_counter
from instrument.audit.fixes import Fix, Fixed
from instrument.audit.fixes._edits import Writer, call_named, quoted
from instrument.audit.keys import WILD
from instrument.plan.append import append_argument
from instrument.plan.place import after

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.repo.module import Module

#: Sections that plot against another's counter where they have none of their own.
_SAME_AXIS = ("train", "training")


def _make(context: AuditContext, findings: Sequence[Finding]) -> Iterator[tuple[Finding, Fixed | str]]:
    known = declared(context)
    for finding in findings:
        module, node = finding.module, finding.node
        call = call_named(module, node, "define_metric") if module is not None and node is not None else None
        one = next((one for one in known if one.call is call), None)
        if module is None or call is None or one is None:
            yield finding, "the declaration is built in a way that is not followed"
            continue
        yield finding, _fix(context, module, one, known)


def _fix(context: AuditContext, module: Module, one: Declared, known: list[Declared]) -> Fixed | str:
    axes = {axis for other in known for axis in other.axes}
    orphans = [name for name in one.names if name not in axes and WILD not in name]
    if not orphans:
        return "the name is only known when it runs"
    if all(map(is_counter, orphans)) and not any(axis_of(name, known) for name in orphans):
        return _section(module, one, orphans)
    found = [_axis(name, known, context) for name in orphans]
    if None in found or len({axis for axis, _ in filter(None, found)}) != 1:
        return "the repository declares no axis for its section: name one with step_metric="
    axis, sure = next(pair for pair in found if pair)
    # A counter may be meant for more than one axis: it is logged in rows of several.
    sure = sure and not any(map(is_counter, orphans))
    writer = Writer("PI101", module, one.call, "safe" if sure else "review")
    text = f"step_metric={quoted(module, axis)}"
    writer.put(append_argument(module, one.call, text), f"{orphans[0]} plots against {axis}, as its section does")
    return Fixed(edits=tuple(writer.edits), applicability=writer.applicability)


def _axis(name: str, known: list[Declared], context: AuditContext) -> tuple[str, bool] | None:
    """The axis for a key, and whether the repository says so itself (a glob that the key falls under)."""
    covering = axis_of(name, known)
    if covering is not None and len(covering.axes) == 1 and WILD not in covering.axes[0] and covering.axes[0] != name:
        return covering.axes[0], True
    section = name.rpartition("/")[0]
    axes = dict.fromkeys(axis for one in known for axis in one.axes if WILD not in axis and axis != name)
    counters = dict.fromkeys(n for one in known for n in one.names if is_counter(n) and WILD not in n and n != name)
    written = dict.fromkeys(
        entry.key for sink in context.sinks for entry in context.entries(sink)
        if is_counter(entry.key) and WILD not in entry.key and entry.key != name
    )  # fmt: skip
    for candidates in (axes, counters, written):
        same = [axis for axis in candidates if axis.rpartition("/")[0] == section]
        if len(same) == 1:
            return same[0], False
    everything = dict.fromkeys([*axes, *counters])
    return (next(iter(everything)), False) if len(everything) == 1 else None


def _section(module: Module, one: Declared, orphans: list[str]) -> Fixed | str:
    """A counter that nothing plots against: its section is declared to."""
    section = orphans[0].rpartition("/")[0]
    stmt = module.statement(one.call)
    if len(orphans) != 1 or not (isinstance(stmt, ast.Expr) and stmt.value is one.call):
        return "no metric is declared to plot against it: declare the section's keys with step_metric="
    glob, func = f"{section}/*" if section else "*", module.code(one.call.func)
    writer = Writer("PI101", module, one.call, "review")
    line = f"{func}({quoted(module, glob)}, step_metric={quoted(module, orphans[0])})"
    if not writer.put(
        after(module, stmt, [line]), f"{glob} plots against {orphans[0]}, which was declared for nothing"
    ):
        return "there is no place for a statement after the declaration"
    return Fixed(edits=tuple(writer.edits), applicability="review")


def make(context: AuditContext, findings: Sequence[Finding]) -> Iterable[tuple[Finding, Fixed | str]]:
    return list(_make(context, findings))


FIX = Fix(code="PI101", make=make)
