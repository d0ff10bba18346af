"""PI102: the counter is put into the row, with the value that the function already logs it with or counts it by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from instrument.audit.axes import Declared, axis_of, declared, is_counter
from instrument.audit.fixes import Fix, Fixed
from instrument.audit.fixes._edits import Writer, call_named, first_entry, quoted, up
from instrument.audit.keys import WILD
from instrument.plan.bind import effect_free
from instrument.plan.edits import Applicability
from instrument.plan.place import Insertion, argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.audit.sinks import Sink
    from instrument.repo.module import Module


def _make(context: AuditContext, findings: Sequence[Finding]) -> Iterator[tuple[Finding, Fixed | str]]:
    axes = declared(context)
    for finding in findings:
        sink = finding.facts.get("sink")
        if sink is not None:
            yield finding, _row(context, sink, axes)
        elif "axis" in finding.facts and finding.module is not None and finding.node is not None:
            yield finding, _declaration(context, finding.module, finding.node, str(finding.facts["axis"]), axes)
        else:
            yield finding, "the counter is to be written by hand"


# -- a row


def _row(context: AuditContext, sink: Sink, axes: list[Declared]) -> Fixed | str:
    module = sink.module
    missing = _missing(context, sink, axes)
    if not missing:
        return "which counter belongs to these keys is not said: declare their axis, or give step="
    writer = Writer("PI102", module, sink.call)
    entries = []
    sure: Applicability = "safe"
    for axis in missing:
        found = _value(context, sink, axis)
        if found is None:
            return f"no value of {axis} is known where the row is sent"
        value, certain = found
        if not certain:
            sure = "review"
        entries.append(f"{quoted(module, axis)}: {value}")
    writer.applicability = sure
    reason = f"{', '.join(missing)} is in the row that plots against it"
    if isinstance(sink.row, ast.Dict):
        writer.put(first_entry(module, sink.row, ", ".join(entries)), reason)
    elif effect_free(sink.row):
        writer.put(Insertion(module.start(sink.row), "{**"), reason)
        writer.put(Insertion(module.end(sink.row), f", {', '.join(entries)}}}"), reason)
    else:
        return "the row is built where it is sent: put the counter into it there"
    return Fixed(edits=tuple(writer.edits), applicability=sure)


def _missing(context: AuditContext, sink: Sink, axes: list[Declared]) -> list[str]:
    """The axes that the row's keys are declared to plot against and that are not in the row."""
    keys = [entry.key for entry in context.entries(sink)]
    found: dict[str, None] = {}
    for key in keys:
        one = axis_of(key.split(WILD)[0] if WILD in key else key, axes)
        if one is not None and len(one.axes) == 1 and WILD not in one.axes[0] and one.axes[0] not in keys:
            found[one.axes[0]] = None
    return [axis for axis in found if not axis.startswith("_")]


def _value(context: AuditContext, sink: Sink, axis: str) -> tuple[str, bool] | None:
    """The counter's value where a row is sent: as another row of the function gives it, else by its name."""
    module, function = sink.module, sink.module.function(sink.call)
    for other in context.sinks:
        if other.module is not module or other is sink or module.function(other.call) is not function:
            continue
        for entry in context.entries(other):
            if entry.key == axis and entry.value is not None and entry.module is module and _simple(entry.value):
                if module.function(entry.value) is not function or not _bound(module, entry.value, sink.call):
                    continue
                return module.code(entry.value), not _counted_between(module, entry.value, other.call, sink.call)
    wanted = [re.sub(r"\W", "_", axis), axis.rpartition("/")[2], f"global_{axis.rpartition('/')[2]}"]
    for name in dict.fromkeys(wanted):
        if name.isidentifier() and _bound(module, ast.Name(name), sink.call):
            return name, False
    return None


def _simple(value: ast.expr) -> bool:
    """A name, an attribute, and arithmetic of them with constants: evaluated twice, it is the same."""
    if isinstance(value, ast.Constant):
        return False  # a number says nothing about another place
    if isinstance(value, ast.BinOp):
        sides = (value.left, value.right)
        return any(map(_simple, sides)) and all(_simple(s) or isinstance(s, ast.Constant) for s in sides)
    return isinstance(value, (ast.Name, ast.Attribute)) and effect_free(value)


def _bound(module: Module, value: ast.expr, place: ast.AST) -> bool:
    """Whether every name of an expression surely has a value where it is to be repeated."""
    holders = list(up(module, place))
    for part in ast.walk(value):
        if not isinstance(part, ast.Name):
            continue
        found = module.lookup(module.scope_of(place, inner=False), part.id)
        if found is None:
            return False
        if found[0].kind == "module" and module.function(place) is not None:
            continue
        if not any(_reaches(module, binding.node, holders, place) for binding in found[1]):
            return False
    return True


def _reaches(module: Module, bound: ast.AST, holders: list[ast.AST], place: ast.AST) -> bool:
    """Whether a binding is a parameter, a loop around the place, or a statement before it in a block that holds it."""
    if bound in holders:
        return True
    try:
        stmt = module.statement(bound)
    except ValueError:
        return False
    if stmt in holders:
        return True
    parent = module.parent(stmt)
    return parent in holders and module.start(stmt) < module.start(place)


def _counted_between(module: Module, value: ast.expr, one: ast.AST, two: ast.AST) -> bool:
    """Whether the counter is counted on between two calls: then the two rows are not of one step."""
    names = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
    low, high = sorted((module.start(one), module.start(two)))
    function = module.function(one) or module.tree
    return any(
        isinstance(part, (ast.AugAssign, ast.Assign))
        and low < module.start(part) < high
        and names & {t.id for t in ast.walk(part) if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)}
        for part in ast.walk(function)
    )


# -- an axis that is never written


def _declaration(context: AuditContext, module: Module, node: ast.AST, axis: str, axes: list[Declared]) -> Fixed | str:
    """The declaration names the counter that the section's rows do have."""
    call = call_named(module, node, "define_metric")
    given = argument(call, 1, "step_metric") if call is not None else None
    if call is None or not isinstance(given, ast.Constant):
        return f"no row has {axis}: log it, or declare the counter that is logged"
    sections = {name.rpartition("/")[0] for one in axes if axis in one.axes for name in one.names}
    written = dict.fromkeys(
        entry.key for sink in context.sinks for entry in context.entries(sink)
        if WILD not in entry.key and is_counter(entry.key) and entry.key.rpartition("/")[0] in sections
    )  # fmt: skip
    if len(written) != 1:
        return f"no row has {axis}: log it, or declare the counter that is logged"
    (counter,) = written
    writer = Writer("PI102", module, call, "review")
    for one in axes:
        other = argument(one.call, 1, "step_metric")
        if one.module is module and isinstance(other, ast.Constant) and other.value == axis:
            writer.replace(other, quoted(module, counter), f"rows have {counter}; {axis} is never written")
        name = argument(one.call, 0, "name")
        if one.module is module and isinstance(name, ast.Constant) and name.value == axis:
            writer.replace(name, quoted(module, counter), f"rows have {counter}; {axis} is never written")
    return Fixed(edits=tuple(writer.edits), applicability="review")


def make(context: AuditContext, findings: Sequence[Finding]) -> Iterable[tuple[Finding, Fixed | str]]:
    return list(_make(context, findings))


FIX = Fix(code="PI102", make=make)
