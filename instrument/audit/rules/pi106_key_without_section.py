"""PI106: keys without a panel section beside keys that have one; keys that make a chart for every step or sample."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.axes import declared, is_counter
from instrument.audit.keys import WILD, shown
from instrument.audit.rule import AuditRule, Finding
from instrument.audit.rules._shared import called, is_media, local_values, loops, names_in
from instrument.audit.sinks import NEEDLES, Sink

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rows import Entry
    from instrument.repo.module import Module

#: Trackers that group charts by what stands before a slash.
_GROUPED = ("wandb", "swanlab", "trackio", "accelerate", "layer")
#: What differs from one row to the next, or from one sample to the next.
_EVER_NEW = re.compile(
    r"(?:^|_)(?:(?:global|train|cur|current)_step|step|step_id|epoch|epoch_idx|iteration|iter_num|rollout_id|episode|episode_id|uid|"
    r"uuid|sample_id|prompt_id|request_id|trajectory_id|traj_id|timestamp)$"
)
#: A layer of the repository's own that may put a section before each key.
_PREFIXES = re.compile(r"prefix|sectioned\(|f\"|f'|%s|\.format|\+ *k\b|rewrite|join\(")
_TEXT = re.compile(
    r"(?:^|_)(?:path|name|url|status|text|dir|file|prompts?|responses?|completions?|table|samples|validation)$"
)
_MANY = 4


def check(context: AuditContext) -> Iterator[Finding]:
    told: set[int] = set()
    axes = {axis for one in declared(context) for axis in (*one.axes, *(n for n in one.names if one.axis is None))}
    homes = {
        sink.module.path.rpartition("/")[0]
        for sink in context.sinks
        if sink.kind == "row" and "examples" not in sink.module.path.split("/")
        if any("/" in e.key and WILD not in e.key for e in context.entries(sink))
    }
    for sink in context.sinks:
        if sink.kind == "row" and sink.tracker in _GROUPED and not _prefixed(context, sink):
            yield from _flat(context, sink, axes, homes, told)
    for sink in context.sinks:
        for entry in context.entries(sink):
            if id(entry.node) not in told and context.repo.editable(entry.module.path):
                name = _ever_new(entry)
                if name is not None:
                    told.add(id(entry.node))
                    yield context.finding(
                        "PI106", entry.module, entry.node,
                        f"the key «{shown(entry.key)}» has «{name}» in it: a chart of its own, of one point, for each",
                        kind="many", entry=entry,
                    )  # fmt: skip


def _flat(context: AuditContext, sink: Sink, axes: set[str], homes: set[str], told: set[int]) -> Iterator[Finding]:
    """Keys without a section, told once for each place where a row is written."""
    entries = [e for e in context.entries(sink) if not e.unknown]
    flat = [e for e in entries if WILD not in e.key and "/" not in e.key and e.key and not e.key.startswith("_")]
    # What is also seen with a section before it gets one on its way.
    sectioned = {id(e.node) for e in entries if "/" in e.key}
    flat = [e for e in flat if id(e.node) not in sectioned and not _TEXT.search(e.key)]
    flat = [e for e in flat if e.key not in axes and not is_counter(e.key)]
    meant = [key for key, section in context.settings.section.items() if not section]
    flat = [e for e in flat if not any(fnmatch.fnmatchcase(e.key, key) for key in meant)]
    grouped = any("/" in e.key and not e.key.startswith(WILD) for e in entries)
    places: dict[tuple[str, int], list[Entry]] = {}
    for entry in flat:
        if context.repo.editable(entry.module.path) and not is_media(context, entry) and not _several(entry):
            where = (entry.module.path, id(_written_in(entry.module, entry.node)))
            places.setdefault(where, []).append(entry)
    names = {e.key for place in places.values() for e in place}
    if not names or (not grouped and (len(names) < _MANY or sink.module.path.rpartition("/")[0] not in homes)):
        return
    for place in places.values():
        first = min(place, key=lambda e: e.module.start(e.node))
        keys = list(dict.fromkeys(e.key for e in sorted(place, key=lambda e: e.module.start(e.node))))
        if id(first.node) in told:
            continue
        told.update(id(entry.node) for entry in place)
        named = ", ".join(f"«{key}»" for key in keys[:6]) + (f" and {len(keys) - 6} more" if len(keys) > 6 else "")
        beside = ", beside keys that have one" if grouped else ""
        yield context.finding(
            "PI106",
            first.module,
            first.node,
            f"{named} without a section{beside}",
            kind="flat",
            entries=tuple(place),
            sink=sink,
        )


def _written_in(module: Module, node: ast.AST) -> ast.AST:
    """The literal or function that an item is written in."""
    parent = module.parent(node)
    if isinstance(parent, ast.Dict):
        return parent
    return module.function(node) or module.tree


def _several(entry: Entry) -> bool:
    """Whether a value is a collection, which is no point of a curve."""
    value = entry.value
    values = [value, *(local_values(entry.module, value) if isinstance(value, ast.Name) else ())]
    return any(
        isinstance(v, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)) or called(v or entry.node) == "defaultdict"
        for v in values
    )


def _prefixed(context: AuditContext, sink: Sink) -> bool:
    """Whether a section is put before the keys on their way, or may be."""
    if sink.prefix is not None and not (isinstance(sink.prefix, ast.Constant) and sink.prefix.value == ""):
        return True
    if sink.exact:
        function = sink.module.function(sink.call)
        given = function.args if function is not None else None
        named = [a.arg for a in (*given.args, *given.kwonlyargs)] if given is not None else []
        return any(re.search(r"prefix|section|namespace|split|scope", name) for name in named)
    found = context.program.definitions(sink.module, sink.call.func)
    if not found:
        return sink.prefix is None and not _known_plain(context, sink)
    return sink.prefix is None and any(_PREFIXES.search(module.code(node)) for module, node in found)


def _known_plain(context: AuditContext, sink: Sink) -> bool:
    """Layers of others that send keys as they are: verl's Tracking and those made after it."""
    names = context.program.resolve(sink.module, sink.call.func)
    return any(re.search(r"\.Tracking\(\)\.log$", name) for name in names)


def _ever_new(entry: Entry) -> str | None:
    """The name of what makes a key a new one each time."""
    if not isinstance(entry.node, ast.JoinedStr):
        return None
    for part in entry.node.values:
        if isinstance(part, ast.FormattedValue):
            value = part.value
            name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
            if name and _EVER_NEW.search(name) and not _few(entry.module, entry.node, name):
                return name
    return None


def _few(module: Module, node: ast.AST, name: str) -> bool:
    """Whether a name goes through a few values that are written out, or counts the inner ones of a row."""
    for loop in loops(module, node):
        if not isinstance(loop, ast.While) and name in names_in(loop.target):
            if isinstance(loop.iter, (ast.List, ast.Tuple, ast.Set)):
                return True
            # Filled inside the loop and sent after it: all of them stand in one row.
            return True
    return any(
        isinstance(owner, (ast.DictComp, ast.ListComp, ast.GeneratorExp))
        and any(name in names_in(g.target) for g in owner.generators)
        for owner in _holders(module, node)
    )


def _holders(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    parent = module.parent(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        yield parent
        parent = module.parent(parent)


RULE = AuditRule(
    code="PI106",
    name="key-without-section",
    summary="Keys have no section beside others that do, or have a number in them that makes a chart for every step.",
    why="Trackers group charts by what stands before the slash. Keys without one land in one heap, apart from the curves they "
    "belong to. A key with a step or a sample's id in it is a new chart each time: a wall of charts of one point.",
    bad='wandb.log({"train/loss": loss, "lr": lr, f"reward_step_{step}": reward})',
    good='wandb.log({"train/loss": loss, "train/lr": lr, "train/reward": reward}, step=step)',
    fix="Sections from the map [tool.instrument.audit.section] are put before the keys, in one place.",
    applicability="review",
    needles=NEEDLES,
    check=check,
)
