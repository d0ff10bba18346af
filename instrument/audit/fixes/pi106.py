"""PI106: keys without a section get theirs from one map, put before them where a row leaves for the tracker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from instrument.audit.fixes import Fix, Fixed
from instrument.audit.fixes._edits import Writer
from instrument.audit.fixes._funnel import funnels, is_sectioned, sections
from instrument.audit.fixes._module import imported, path_of
from instrument.audit.keys import WILD
from instrument.plan.edits import NewFile
from instrument.plan.place import Insertion
from instrument.plan.render import environment

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.audit.sinks import Sink

_FILE, _CALLED = "metric_sections", "sectioned"
#: Words of a key, and the sections that they belong to, the first that the repository has (else the first).
_GUESSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"val|valid|validation|eval|evaluation|test", ("eval", "val", "validation", "test")),
    (r"reward|rewards|return|returns|rollout|response|advantage|advantages|episodic", ("rollout", "reward")),
    (r"loss|lr|learning|grad|gradient|norm|entropy|kl|clip|clipfrac|weight|ppl|perplexity|acc|accuracy", ("train",)),
    (
        r"time|seconds|sec|throughput|tps|sps|fps|mfu|tokens|memory|mem|gpu|speed|latency",
        ("perf", "time", "throughput"),
    ),
)
_MANY = "one series against the step, or a table: which of them is a person's to say"
_WHY = "the keys' sections stand in one map"


def _make(context: AuditContext, findings: Sequence[Finding]) -> Iterator[tuple[Finding, Fixed | str]]:
    through = next(funnels(context), None)
    if through is not None:
        # One place for all: what the funnel does settles them.
        done = "the funnel has its sections" if is_sectioned(through[1]) else sections(context, *through)
        for finding in findings:
            yield finding, done if finding.facts.get("kind") == "flat" else _MANY
        return
    flat = [finding for finding in findings if finding.facts.get("kind") == "flat" and finding.module is not None]
    known = _sections(context)
    chosen: dict[str, str] = {}
    open_: dict[str, None] = {}
    for finding in flat:
        for entry in finding.facts["entries"]:
            section = _section(context, entry.key, known)
            if section:
                chosen[entry.key] = section
            else:
                open_[entry.key] = None
    for finding in findings:
        if finding not in flat:
            yield finding, _MANY
            continue
        unknown = [entry.key for entry in finding.facts["entries"] if entry.key in open_]
        if unknown:
            named = ", ".join(f"«{key}»" for key in unknown[:6])
            yield finding, f"name the section of {named} in [tool.instrument.audit.section]"
            continue
        yield finding, _fix(context, finding, chosen, open_)


def _sections(context: AuditContext) -> list[str]:
    """The sections that the repository's keys have, in the order in which they are seen."""
    found: dict[str, None] = {}
    for sink in context.sinks:
        for entry in context.entries(sink):
            section = entry.key.partition("/")[0] if "/" in entry.key else ""
            if section and WILD not in section:
                found[section] = None
    return list(found)


def _section(context: AuditContext, key: str, known: Sequence[str]) -> str:
    """The section of a key: as the settings say, else by its words."""
    said = context.settings.section
    if key in said:
        return said[key]
    fitting = [glob for glob in said if fnmatchcase(key, glob)]
    if fitting:
        return said[max(fitting, key=len)]
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower())
    for section in known:  # `rollout_len` beside `rollout/reward`
        if words[0] == section.lower() and len(words) > 1:
            return section
    for pattern, candidates in _GUESSES:
        if any(re.fullmatch(pattern, word) for word in words):
            return next((section for section in candidates if section in known), candidates[0])
    return ""


def _fix(context: AuditContext, finding: Finding, chosen: dict[str, str], open_: dict[str, None]) -> Fixed | str:
    keys = {entry.key for entry in finding.facts["entries"]}
    sinks = _sinks(context, keys)
    if not sinks:
        return "the call that sends this row is not seen"
    path = path_of(context, sinks[0].module, _FILE)
    writer = Writer("PI106", sinks[0].module, sinks[0].call, "review")
    writer.group = "PI106"
    for module in dict.fromkeys(sink.module for sink in sinks):
        own = path_of(context, module, _FILE)
        if own != path or module.path.endswith(".ipynb"):
            return f"rows leave from more than one package ({path}, {own}): put the map where both can import it"
        if not imported(context, module, _FILE, _CALLED, writer, _WHY):
            return f"{_CALLED} can't be imported in {module.path}"
    for sink in sinks:
        if not _wrapped(sink):
            writer.put(Insertion(sink.module.start(sink.row), f"{_CALLED}("), _WHY, sink.module)
            writer.put(Insertion(sink.module.end(sink.row), ")"), _WHY, sink.module)
    new = _file(context, path, {key: section for key, section in chosen.items() if key not in open_})
    if isinstance(new, str):
        return new
    return Fixed(edits=tuple(writer.edits), new_files=(new,), applicability="review")


def _sinks(context: AuditContext, keys: set[str]) -> list[Sink]:
    """Every call that sends one of the keys: those of trackers where there are some, else those of a layer."""
    found = [
        sink for sink in context.sinks
        if sink.kind == "row" and sink.prefix is None and any(entry.key in keys for entry in context.entries(sink))
        and context.repo.editable(sink.module.path)
    ]  # fmt: skip
    return [sink for sink in found if sink.exact] or found


def _wrapped(sink: Sink) -> bool:
    return isinstance(sink.row, ast.Call) and isinstance(sink.row.func, ast.Name) and sink.row.func.id == _CALLED


def _file(context: AuditContext, path: str, chosen: dict[str, str]) -> NewFile | str:
    """The map, with what an earlier one has."""
    before: str | None = None
    if context.repo.exists(path):
        before = context.repo.read(path).decode("utf-8", "replace")
        old = re.search(r"^SECTION = (\{.*?^\})", before, re.MULTILINE | re.DOTALL)
        try:
            chosen = {**chosen, **(ast.literal_eval(old[1]) if old else {})}
        except (ValueError, SyntaxError):
            return f"{path} is there already, with something else in it"
        if old is None:
            return f"{path} is there already, with something else in it"
    pairs = [(_literal(key), _literal(section)) for key, section in sorted(chosen.items(), key=lambda p: (p[1], p[0]))]
    text = environment().get_template(f"{_FILE}.py.jinja").render(sections=pairs, funnel=False)
    return NewFile(path=path, text=text, reason=_WHY, rule="PI106", applicability="review", replaces=before)


def _literal(text: str) -> str:
    return f'"{text}"' if text.isprintable() and not set('"\\') & set(text) else repr(text)


def make(context: AuditContext, findings: Sequence[Finding]) -> Iterable[tuple[Finding, Fixed | str]]:
    return list(_make(context, findings))


FIX = Fix(code="PI106", make=make)
