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
    """What a command found and did. `outcome` is done, clean, found or refused; `more` are the command's own keys.

    `plan` in it is a whole plan document (`instrument.plan/1`), as `instrument apply --plan` takes it.
    """
    from instrument.patch.planfile import save

    plan = summary.plan
    return {
        "schema": SCHEMA,
        "command": command,
        "outcome": outcome,
        "target": str(summary.repo.target),
        "plan": json.loads(save(plan, summary.repo)),
        "proofs": [{"name": proof.name, "path": proof.path, "notes": list(proof.notes)} for proof in summary.proofs],
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
