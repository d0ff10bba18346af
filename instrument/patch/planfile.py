"""A plan as a JSON document that can be saved, reviewed, and applied later if the sources still match.

The same plan gives the same bytes: sorted, no times, no absolute paths. `docs/plan.schema.json` describes the form.
What is read back was maybe written by somebody else: every type, path and span is checked before it is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar, get_args

from instrument import __version__
from instrument.errors import InstrumentError
from instrument.patch.journal import check_path
from instrument.plan.edits import Applicability, Edit, NewFile, Strategy, ordered
from instrument.plan.model import Note, Outcome, Plan, Site, SiteKind
from instrument.repo.processes import Coverage, Emitter, Process, ProcessKind, ProcessMap, Start
from instrument.repo.scan import Repository

SCHEMA = "instrument.plan/1"
#: More than any real plan has: a document beyond is a mistake or an attack (bytes; entries of one list).
MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 100_000

_T = TypeVar("_T")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LEVELS = ("question", "refusal", "warning", "info")


def save(plan: Plan, repo: Repository) -> bytes:
    """The plan as JSON. `repo` is what it was made on: lines and hashes come from there."""
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "shapes": dict(sorted(plan.shapes.items())),
        "passed_over": [{"strategy": strategy, "why": why} for strategy, why in plan.passed_over],
        "files": {path: repo.source(path).sha256 for path in sorted({edit.path for edit in plan.edits})},
        "edits": [_edit(edit, repo) for edit in _sorted_edits(plan.edits)],
        "new_files": [_new_file(new) for new in sorted(plan.new_files, key=lambda new: new.path)],
        "sites": [_site(site) for site in sorted(plan.sites, key=_site_order)],
        "processes": plan.processes.to_json(),
        "notes": [_note(note) for note in sorted(plan.notes, key=_note_order)],
        "files_seen": plan.files_seen,
        "files_parsed": plan.files_parsed,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # A file name that is no UTF-8 has lone surrogates: as escapes they come back as they were.
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8") + b"\n"


def _sorted_edits(edits: Iterable[Edit]) -> list[Edit]:
    return sorted(
        edits, key=lambda edit: (edit.path, edit.start, edit.end)
    )  # stable: insertions at one place keep order


def _site_order(site: Site) -> tuple[object, ...]:
    return site.path, site.line, site.rule, site.kind, site.what, site.outcome, site.why


def _note_order(note: Note) -> tuple[object, ...]:
    return note.path or "", note.line or 0, note.code, note.level, note.message


def _edit(edit: Edit, repo: Repository) -> dict[str, object]:
    source = repo.source(edit.path)
    return {
        "path": edit.path,
        "line": source.line_of(edit.start),
        "start": edit.start,
        "end": edit.end,
        "replaces": source.text[edit.start : edit.end],
        "text": edit.text,
        "reason": edit.reason,
        "rule": edit.rule,
        "applicability": edit.applicability,
        "group": edit.group,
        "moved": edit.moved,
    }


def _new_file(new: NewFile) -> dict[str, object]:
    return {
        "path": new.path,
        "text": new.text,
        "replaces": new.replaces,
        "reason": new.reason,
        "rule": new.rule,
        "applicability": new.applicability,
    }


def _site(site: Site) -> dict[str, object]:
    return {
        "path": site.path,
        "line": site.line,
        "rule": site.rule,
        "kind": site.kind,
        "what": site.what,
        "process": site.process,
        "outcome": site.outcome,
        "strategy": site.strategy,
        "why": site.why,
    }


def _note(note: Note) -> dict[str, object]:
    return {
        "level": note.level,
        "code": note.code,
        "message": note.message,
        "path": note.path,
        "line": note.line,
        "next": note.next,
    }


# -- reading


def load(data: bytes, repo: Repository) -> Plan:
    """A saved plan for a repository.

    Raises InstrumentError that names what is wrong with the document, ConflictError where its edits overlap. Whether
    the sources still match is seen when the plan is rendered (`patch.diff.changes`).
    """
    if len(data) > MAX_BYTES:
        raise InstrumentError(f"the plan is larger than {MAX_BYTES // 1024 // 1024} MB", code="bad-plan")
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InstrumentError(f"the plan is no JSON: {error}", code="bad-plan") from None
    top = _Object(document, "the plan")
    if top.get("schema") != SCHEMA:
        raise InstrumentError(
            f"the plan is not of the form {SCHEMA}", hint="make it again: instrument diff --plan FILE", code="bad-plan"
        )
    top.text("schema")
    top.text("version")
    plan = Plan(root=str(repo.root))
    shapes = top.mapping("shapes")
    plan.shapes = {name: shapes.text(name) for name in shapes.names()}
    plan.passed_over = [_read_passed_over(item) for item in top.list("passed_over")]
    files = top.mapping("files")
    plan.hashes = {path: files.matching(path, _SHA256) for path in files.names()}
    plan.edits = [_read_edit(item) for item in top.list("edits")]
    plan.new_files = [_read_new_file(item) for item in top.list("new_files")]
    plan.sites = [_read_site(item) for item in top.list("sites")]
    plan.processes = _read_processes(top)
    plan.notes = [_read_note(item) for item in top.list("notes")]
    plan.files_seen = top.number("files_seen")
    plan.files_parsed = top.number("files_parsed")
    top.end()
    _check_whole(plan)
    return plan


def _check_whole(plan: Plan) -> None:
    by_path: dict[str, list[Edit]] = {}
    for edit in plan.edits:
        by_path.setdefault(edit.path, []).append(edit)
    for path in plan.hashes:
        check_path(path)
        if path not in by_path:
            raise InstrumentError("the plan has a hash of a file that it does not edit", path=path, code="bad-plan")
    for path, edits in by_path.items():
        if path not in plan.hashes:
            raise InstrumentError("the plan has no hash of a file that it edits", path=path, code="bad-plan")
        ordered(edits)
    seen = set(by_path)
    for new in plan.new_files:
        if new.path in seen:
            raise InstrumentError(
                "the plan both creates and edits it, or creates it twice", path=new.path, code="bad-plan"
            )
        seen.add(new.path)


def _read_passed_over(item: _Object) -> tuple[Strategy, str]:
    found = item.one_of("strategy", get_args(Strategy)), item.text("why")
    item.end()
    return found


def _read_edit(item: _Object) -> Edit:
    edit = Edit(
        path=item.path("path"),
        start=item.number("start"),
        end=item.number("end"),
        text=item.text("text"),
        reason=item.text("reason"),
        rule=item.text("rule"),
        applicability=item.one_of("applicability", get_args(Applicability)),
        group=item.text("group"),
        moved=item.truth("moved"),
    )
    item.number("line", least=1)
    item.text("replaces")
    if edit.end < edit.start:
        item.fail("`end` lies before `start`")
    item.end()
    return edit


def _read_new_file(item: _Object) -> NewFile:
    new = NewFile(
        path=item.path("path"),
        text=item.text("text"),
        reason=item.text("reason"),
        rule=item.text("rule"),
        applicability=item.one_of("applicability", get_args(Applicability)),
        replaces=item.optional("replaces", item.text),
    )
    item.end()
    return new


def _read_site(item: _Object) -> Site:
    site = Site(
        rule=item.text("rule"),
        kind=item.one_of("kind", get_args(SiteKind)),
        path=item.path("path"),
        line=item.number("line", least=1),
        what=item.text("what"),
        process=item.text("process"),
        outcome=item.one_of("outcome", get_args(Outcome)),
        strategy=item.optional("strategy", lambda key: item.one_of(key, get_args(Strategy))),
        why=item.text("why"),
    )
    item.end()
    return site


def _read_processes(top: _Object) -> ProcessMap:
    found = ProcessMap()
    for item in top.list("processes"):
        process = Process(
            id=item.text("id"),
            kind=item.one_of("kind", get_args(ProcessKind)),
            name=item.text("name"),
            parents=item.texts("parents"),
            starts=[_read_start(start) for start in item.list("starts")],
            emitters=[_read_emitter(emitter) for emitter in item.list("emitters")],
        )
        item.end()
        found.processes[process.id] = process
    for process in found.processes.values():
        for parent in process.parents:
            if parent not in found.processes:
                raise InstrumentError(f"a process has the parent «{parent[:200]}», which is none", code="bad-plan")
    return found


def _read_start(item: _Object) -> Start:
    start = Start(path=item.path("path"), line=item.number("line", least=1), how=item.text("how"))
    item.end()
    return start


def _read_emitter(item: _Object) -> Emitter:
    emitter = Emitter(
        path=item.path("path"),
        line=item.number("line", least=1),
        what=item.text("what"),
        rule=item.text("rule"),
        coverage=item.one_of("coverage", get_args(Coverage)),
    )
    item.end()
    return emitter


def _read_note(item: _Object) -> Note:
    note = Note(
        level=item.one_of("level", _LEVELS),
        code=item.text("code"),
        message=item.text("message"),
        path=item.optional("path", item.path),
        line=item.optional("line", lambda key: item.number(key, least=1)),
        next=item.text("next"),
    )
    item.end()
    return note


class _Object:
    """A JSON object whose keys are asked for by their types; InstrumentError says where it is not as it should be."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise InstrumentError(f"{where} is no object", code="bad-plan")
        self._value: dict[str, Any] = value
        self._where = where
        self._left = set(value)

    def fail(self, message: str) -> NoReturn:
        raise InstrumentError(f"{self._where}: {message}", code="bad-plan")

    def get(self, key: str) -> Any:
        return self._value.get(key)

    def names(self) -> list[str]:
        return list(self._value)

    def end(self) -> None:
        """Nothing else may be there."""
        for key in sorted(self._left):
            self.fail(f"there is no `{key[:40]}` in this form of plan")

    def _take(self, key: str) -> Any:
        if key not in self._value:
            self.fail(f"`{key}` is missing")
        self._left.discard(key)
        return self._value[key]

    def text(self, key: str) -> str:
        value = self._take(key)
        if not isinstance(value, str):
            self.fail(f"`{key[:200]}` is no text")
        return value

    def number(self, key: str, *, least: int = 0) -> int:
        value = self._take(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**53:
            self.fail(f"`{key}` is no whole number from {least} up")
        return value

    def truth(self, key: str) -> bool:
        value = self._take(key)
        if not isinstance(value, bool):
            self.fail(f"`{key}` is neither true nor false")
        return value

    def path(self, key: str) -> str:
        value = self.text(key)
        try:
            check_path(value)
        except InstrumentError as error:
            self.fail(f"`{key}`: «{value[:200]}» {error.message}")
        return value

    def one_of(self, key: str, allowed: tuple[Any, ...]) -> Any:
        value = self.text(key)
        if value not in allowed:
            self.fail(f"`{key}` is none of {', '.join(allowed)}")
        return value

    def matching(self, key: str, pattern: re.Pattern[str]) -> str:
        value = self.text(key)
        if not pattern.fullmatch(value):
            self.fail(f"`{key[:200]}` is no sha256")
        return value

    def optional(self, key: str, read: Callable[[str], _T]) -> _T | None:
        return None if self._take(key) is None else read(key)

    def mapping(self, key: str) -> _Object:
        return _Object(self._take(key), f"{self._where}, `{key}`")

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        value = self._take(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(f"`{key}` is no list of texts")
        return value

    def list(self, key: str) -> list[_Object]:
        value = self._take(key)
        if not isinstance(value, list):
            self.fail(f"`{key}` is no list")
        if len(value) > MAX_ENTRIES:
            self.fail(f"`{key}` has more than {MAX_ENTRIES} entries")
        return [_Object(item, f"{self._where}, `{key}` {number}") for number, item in enumerate(value, 1)]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"`{twice[:40]}` is there twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
