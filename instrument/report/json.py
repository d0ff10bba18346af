"""The report as one JSON document: sorted keys, no times of day, the same for the same repository."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from instrument.errors import InstrumentError

if TYPE_CHECKING:
    from instrument.report.summary import Summary

SCHEMA = "instrument.report/1"


def document(command: str, outcome: str, summary: Summary, **more: Any) -> dict[str, Any]:
    """What a command found and did. `outcome` is done, clean, found or refused; `more` are the command's own keys."""
    plan = summary.plan
    return {
        "schema": SCHEMA,
        "command": command,
        "outcome": outcome,
        "root": plan.root,
        "shapes": dict(plan.shapes),
        "files": [
            {
                "path": change.path,
                "new": change.new is not None,
                "reason": change.new.reason if change.new else None,
                "edits": [
                    {
                        "line": summary.line(edit),
                        "start": edit.start,
                        "end": edit.end,
                        "text": edit.text,
                        "reason": edit.reason,
                        "rule": edit.rule,
                        "applicability": edit.applicability,
                        "group": edit.group,
                    }
                    for edit in sorted(change.edits, key=lambda edit: edit.start)
                ],
            }
            for change in summary.files
        ],
        "sites": [
            {
                "rule": site.rule,
                "kind": site.kind,
                "path": site.path,
                "line": site.line,
                "what": site.what,
                "process": site.process,
                "outcome": site.outcome,
                "strategy": site.strategy,
                "why": site.why,
            }
            for site in plan.sites
        ],
        "notes": [
            {
                "level": note.level,
                "code": note.code,
                "message": note.message,
                "path": note.path,
                "line": note.line,
                "next": note.next,
            }
            for note in plan.notes
        ],
        "passed_over": [{"strategy": strategy, "why": why} for strategy, why in plan.passed_over],
        "left_alone": [{"path": path, "kind": kind} for path, kind in summary.skipped],
        "next": [{"action": action, "why": why} for action, why in summary.next_steps(outcome == "done")],
        "files_seen": plan.files_seen,
        "files_parsed": plan.files_parsed,
        **more,
    }


def write(value: dict[str, Any]) -> None:
    """The document on stdout. Escaped to ASCII: no terminal acts on it, and lone surrogates survive."""
    sys.stdout.write(json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_error(error: InstrumentError) -> None:
    """An error as a document, for who reads --json."""
    detail = {"message": error.message, "path": error.path, "line": error.line, "hint": error.hint}
    write({"schema": "instrument.error/1", "error": detail})
