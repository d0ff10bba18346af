"""What `check` finds as SARIF 2.1.0, with each edit as a fix, and as GitHub's workflow annotations.

Rule ids and paths are stable: a code-scanning service tells alerts apart by them.
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from instrument import __version__
from instrument.report.summary import Summary, Touched
from instrument.report.text import shown

if TYPE_CHECKING:
    from instrument.plan.edits import Edit
    from instrument.plan.model import Note
    from instrument.repo.scan import Repository

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

#: Levels of notes in SARIF's words. A question needs a person but breaks nothing.
_LEVELS = {"question": "note", "refusal": "warning", "warning": "warning", "info": "none"}


def log(summary: Summary) -> bytes:
    """The SARIF log: one result for each place that `apply` would change, and one for each note with a place."""
    missing = (_missing(summary, change) for change in summary.files)
    notes = [note for level in ("question", "refusal", "warning") for note in summary.notes(level)]
    results = [result for result in missing if result] + [_note(note) for note in notes]
    rules = {result["ruleId"]: _TITLES.get(result["ruleId"], result["ruleId"].replace("-", " ")) for result in results}
    return document(
        [{"id": rule, "shortDescription": {"text": title}} for rule, title in sorted(rules.items())], results
    )


def document(rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> bytes:
    """The log of one run of this tool, of rules and results in SARIF's own form."""
    run = {
        "tool": {
            "driver": {
                "name": "probe-instrument",
                "version": __version__,
                "rules": rules,
            }
        },
        # All columns count characters, as the engine does.
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the folder that was checked"}}},
        "results": results,
    }
    whole = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return (json.dumps(whole, indent=2, sort_keys=True) + "\n").encode()


_TITLES = {"not-recorded": "Metrics that Probe does not get yet"}


def _missing(summary: Summary, change: Touched) -> dict[str, Any] | None:
    """One result a file: its edits stand and fall together. A new file by itself is no finding."""
    if not change.edits:
        return None
    edits = sorted(change.edits, key=lambda edit: edit.start)
    message = "; ".join(change.reasons) + ". `instrument apply` does it."
    result = result_of("not-recorded", "warning", message, change.path)
    result["locations"][0]["physicalLocation"]["region"] = {"startLine": summary.line(edits[0])}
    if not change.path.endswith(".ipynb"):  # offsets are those of the joined program there, not of the file
        replacements = [replacement(summary.repo, edit) for edit in edits]
        result["fixes"] = [
            {
                "description": {"text": "Record in Probe too"},
                "artifactChanges": [{"artifactLocation": location(change.path), "replacements": replacements}],
            }
        ]
    return result


def replacement(repo: Repository, edit: Edit) -> dict[str, Any]:
    """An edit as a replacement of a fix."""
    source = repo.source(edit.path)

    def place(offset: int) -> tuple[int, int]:
        line = source.line_of(offset)
        return line, offset - source.line_start(line) + 1

    (start_line, start_column), (end_line, end_column) = place(edit.start), place(edit.end)
    region = {"startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column}
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _note(note: Note) -> dict[str, Any]:
    message = note.message + (f" {note.next}" if note.next else "")
    result = result_of(note.code, _LEVELS[note.level], message, note.path)
    if note.path and note.line:
        result["locations"][0]["physicalLocation"]["region"] = {"startLine": note.line}
    return result


def result_of(rule: str, level: str, message: str, path: str | None) -> dict[str, Any]:
    """One result, with its file where it has one; the line is the caller's to add."""
    result: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": shown(message)}}
    if path is not None:
        result["locations"] = [{"physicalLocation": {"artifactLocation": location(path)}}]
    return result


def location(path: str) -> dict[str, str]:
    """Where a file of the target is."""
    return {"uri": quote(PurePosixPath(path).as_posix(), errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}


def annotations_of(summary: Summary) -> list[str]:
    """The same as GitHub workflow commands, one a line; nothing from the target can end a line or start another."""
    lines = []
    for change in summary.files:
        if change.edits:
            first = min(change.edits, key=lambda edit: edit.start)
            lines.append(annotation("warning", change.path, summary.line(first), "; ".join(change.reasons)))
    for level, word in (("refusal", "warning"), ("warning", "warning"), ("question", "notice")):
        lines += [annotation(word, note.path, note.line, note.message) for note in summary.notes(level)]
    return lines


def annotation(word: str, path: str | None, line: int | None, message: str) -> str:
    """One workflow command: `word` is error, warning or notice."""
    where = f"file={_property(path)}" if path else ""
    if path and line:
        where += f",line={line}"
    text = shown(message).replace("%", "%25")
    return f"::{word} {where},title=probe-instrument::{text}" if where else f"::{word} title=probe-instrument::{text}"


def _property(text: str) -> str:
    return shown(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
