"""PI102: a row without the counter that its keys plot against; an axis that is declared and never written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.axes import Declared, axis_of, declared, is_counter
from instrument.audit.keys import WILD, pattern, shown
from instrument.audit.rule import AuditRule, Finding
from instrument.audit.rules._shared import around, is_media, names_in
from instrument.audit.sinks import NEEDLES, Sink
from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rows import Entry

#: Axes that frameworks write by themselves.
_FRAMEWORKS = {
    "trainer/global_step": (b"lightning",),
    "train/global_step": (b"transformers",),
    "epoch": (b"lightning",),
}
_STEP_KEY = re.compile(rb"""["'](?:\w+/)*(?:\w+_)?(?:steps?|iters?|iterations?)["']""")
_COUNTS = re.compile(r"step|iter|batch|update|count|episode")


def check(context: AuditContext) -> Iterator[Finding]:
    axes = declared(context)
    yield from _never_written(context, axes)
    twins = _twins(context)
    for sink in context.sinks:
        if sink.kind != "row" or sink.tracker not in ("wandb", "swanlab") or _held_back(sink):
            continue
        entries = [e for e in context.entries(sink) if not is_media(context, e)]
        if not entries:
            continue
        message = (
            _without_counter(sink, entries, axes)
            or (None if axes else _beside(sink, twins))
            or _every_nth(context, sink, entries, axes)
        )
        if message:
            yield context.finding("PI102", sink.module, sink.call, message, sink=sink)


# -- an axis that nothing writes


def _never_written(context: AuditContext, axes: list[Declared]) -> Iterator[Finding]:
    wanted: dict[str, Declared] = {}
    for one in axes:
        for axis in one.axes:
            if WILD not in axis and not axis.startswith("_"):
                wanted.setdefault(axis, one)
    rows = [e.key for s in context.sinks if s.tracker in ("wandb", "layer") for e in context.entries(s)]
    for axis, one in wanted.items():
        needles = _FRAMEWORKS.get(axis)
        globs = sorted({name for other in axes if axis in other.axes for name in other.names})
        seen = any(g.endswith("*") and key.startswith(g[:-1]) and len(g) > 1 for g in globs for key in rows)
        if not seen or (needles and context.repo.having(*needles)) or _said_elsewhere(context, axis):
            continue
        if not any(_may_be(context, key, axis) for key in rows):
            yield context.finding(
                "PI102", one.module, one.call,
                f"«{axis}» is the axis of {', '.join(f'«{shown(g)}»' for g in globs)}, but no row has it", axis=axis,
            )  # fmt: skip


def _may_be(context: AuditContext, key: str, axis: str) -> bool:
    """Whether a key may turn out to be the axis: its open part must be written out somewhere."""
    if WILD not in key or not pattern(key).fullmatch(axis):
        return key == axis
    start, end = len(key.split(WILD)[0]), len(axis) - len(key.split(WILD)[-1])
    return any(_said_elsewhere(context, part) for part in {axis[start:end], axis.rpartition("/")[2]} if part)


def _said_elsewhere(context: AuditContext, axis: str) -> bool:
    """Whether the axis is written out anywhere but in `define_metric`."""
    quoted = re.compile(r"""["']""" + re.escape(axis) + r"""["']""")
    for path in context.repo.having(axis.encode(), suffixes=(".py", ".ipynb")):
        if context.repo.kind(path) in ("vendored", "tests"):
            continue
        for line in context.repo.read(path).decode("utf-8", "replace").splitlines():
            if quoted.search(line) and "define_metric" not in line and not line.lstrip().startswith("#"):
                return True
    return False


# -- a row without its counter


def _without_counter(sink: Sink, entries: list[Entry], axes: list[Declared]) -> str | None:
    """The keys' own axis is not in the row; or other keys have axes, and these are given neither one nor a step."""
    if sink.tracker != "wandb" or not axes or any(e.key == WILD for e in entries):
        return None
    keys = [e.key for e in entries]
    missing: dict[str, Declared] = {}
    torn: tuple[str, str, str] | None = None
    covered = False
    own = {axis for one in axes for axis in one.axes}
    for key in keys:
        if key in own:
            continue
        one = axis_of(key.split(WILD)[0] if WILD in key else key, axes)
        if one is None:
            continue
        covered = True
        torn = torn or _torn(key, keys, axes)
        if one.step_sync or not one.axes or any(WILD in axis for axis in one.axes):
            return None
        if not any(pattern(k).fullmatch(axis) for axis in one.axes for k in keys):
            missing[one.axes[0]] = one
    if torn is not None:
        return "«{}» is declared to plot against both «{}» and «{}»; this row has only the first".format(*torn)
    if missing and not any(axis.startswith("_") for axis in missing):
        named = ", ".join(f"«{axis}»" for axis in missing)
        return f"this row lacks {named}, the axis that its keys are declared to plot against"
    explicit = [axis for one in axes for axis in one.axes if WILD not in axis]
    if covered or sink.step is not None or not explicit or any(k in explicit for k in keys):
        return None
    if any("*" in one.names for one in axes) or any(map(is_counter, keys)):
        return None
    return f"«{shown(keys[0])}» has neither a step nor a declared axis, unlike the other metrics of this run"


def _torn(key: str, keys: list[str], axes: list[Declared]) -> tuple[str, str, str] | None:
    """A key that two globs name with different axes, only one of which the row has."""
    begun = key.split(WILD)[0]
    known = {
        axis
        for one in axes
        if one.axis is not None
        and not one.step_sync
        and any(WILD in n or (n.endswith("*") and begun.startswith(n[:-1])) for n in one.names)
        for axis in one.axes
    }
    there = sorted(axis for axis in known if axis in keys)
    rest = sorted(axis for axis in known if axis not in keys and WILD not in axis)
    return (shown(key), there[0], rest[0]) if there and rest else None


def _twins(context: AuditContext) -> dict[tuple[str, int, str], list[Sink]]:
    """Sinks of one function that are given the same row."""
    found: dict[tuple[str, int, str], list[Sink]] = {}
    for sink in context.sinks:
        if sink.exact and sink.tracker != "probe" and sink.kind == "row" and isinstance(sink.row, ast.Name):
            key = (sink.module.path, id(sink.module.function(sink.call)), sink.row.id)
            found.setdefault(key, []).append(sink)
    return found


def _beside(sink: Sink, twins: dict[tuple[str, int, str], list[Sink]]) -> str | None:
    """Another tracker is given the same row with a step."""
    if sink.step is not None or not isinstance(sink.row, ast.Name):
        return None
    key = (sink.module.path, id(sink.module.function(sink.call)), sink.row.id)
    for other in twins.get(key, ()):
        if other.step is not None and other.tracker != sink.tracker:
            step = sink.module.code(other.step)
            return f"this row has no step here, and step={step} for {other.tracker}: the two do not line up"
        if other.tracker != sink.tracker and _held_back(other):
            return f"{other.tracker} joins this row to its next one; here it takes a step of its own"
    return None


def _every_nth(context: AuditContext, sink: Sink, entries: list[Entry], axes: list[Declared]) -> str | None:
    """Logged each so many steps, with the step nowhere: the automatic step counts rows."""
    if (
        sink.step is not None
        or axes
        or (any(WILD in e.key.rpartition("/")[2] for e in entries) and _steps_are_keys(context))
    ):
        return None
    for holder in around(sink.module, sink.call):
        if not isinstance(holder, ast.If):
            continue
        for part in ast.walk(holder.test):
            if (
                isinstance(part, ast.BinOp)
                and isinstance(part.op, ast.Mod)
                and isinstance(part.left, (ast.Name, ast.Attribute))
            ):
                counter = part.left.id if isinstance(part.left, ast.Name) else part.left.attr
                if not _COUNTS.search(counter.lower()):
                    continue
                if any(counter in names_in(e.value) or counter.lower() in e.key.lower() for e in entries):
                    return None
                if any(_counts(e.key) for e in entries):
                    return None
                return f"logged each few steps without «{sink.module.code(part.left)}»: its axis counts rows, not steps"
    return None


def _steps_are_keys(context: AuditContext) -> bool:
    """Whether a file that sends metrics has a step as a key anywhere."""
    return any(_STEP_KEY.search(context.repo.read(path)) for path in {sink.module.path for sink in context.sinks})


def _counts(key: str) -> bool:
    return bool(re.search(r"(^|/)(global_)?(step|steps|iter|iteration|epoch)$", key.lower()))


def _held_back(sink: Sink) -> bool:
    """`commit=False`: the row is merged into the next one, counter and all."""
    commit = argument(sink.call, 2, "commit")
    return commit is not None and not (isinstance(commit, ast.Constant) and commit.value is True)


RULE = AuditRule(
    code="PI102",
    name="counter-not-logged",
    summary="A row is sent without the counter that its keys plot against, or a declared axis is never written.",
    why="A declared axis takes its value from the same row. A row without it has no place on that axis: the chart drops the "
    "point or fills in an old one, and curves of one run have different numbers of points. An axis that no row ever "
    "has leaves every chart declared on it empty.",
    bad='wandb.define_metric("eval/*", step_metric="eval/step")\nwandb.log({"eval/acc": acc})',
    good='wandb.define_metric("eval/*", step_metric="eval/step")\nwandb.log({"eval/acc": acc, "eval/step": step})',
    fix="The counter that stands in the same function is added to the row.",
    applicability="review",
    needles=NEEDLES,
    check=check,
)
