"""The report as one JSON document: what matters first, no times of day, the same for the same repository.

It is a digest that a program or an agent can act on without reading the plan: places and reasons are grouped, so that
a repository with a thousand of them still fits. The plan itself is in it only when it was asked for (`--verbose`); the
file that `diff --plan FILE` writes always has it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from instrument.errors import InstrumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from instrument.patch.proofs import Proof
    from instrument.plan.model import Note, Site
    from instrument.report.summary import Summary

SCHEMA = "instrument.report/1"

#: How many places of a group, and how many files of a left-alone folder, are named one by one.
_NAMED, _NAMED_FILES = 5, 8


def document(command: str, outcome: str, summary: Summary, *, whole: bool = False, **more: Any) -> dict[str, Any]:
    """What a command found and did. `outcome` is done, clean, found or refused; `more` are the command's own keys.

    With `whole`, `plan` is in it: a plan document (`instrument.plan/1`), as `instrument apply --plan` takes it.
    """
    plan = summary.plan
    reasons = Counter(reason for change in summary.files for reason in change.reasons)
    value: dict[str, Any] = {
        "schema": SCHEMA,
        "command": command,
        "outcome": outcome,
        "target": str(summary.repo.target),
        "next": [{"action": action, "why": why} for action, why in summary.next_steps(outcome == "done")],
        "notes": [_note(note) for level in ("question", "refusal", "warning", "info") for note in summary.notes(level)],
        "counts": {outcome: len(sites) for outcome, sites in summary.outcomes.items()},
        "places": _places(site for sites in summary.outcomes.values() for site in sites),
        "files": [
            {"path": change.path, "edits": len(change.edits), "new": change.new is not None, "review": change.review}
            for change in summary.files
        ],
        "reasons": dict(reasons.most_common()),
        "shapes": dict(sorted(plan.shapes.items())),
        "passed_over": [{"strategy": strategy, "why": why} for strategy, why in plan.passed_over],
        "left_alone": [
            {"path": path, "kind": kind, "files": files} for path, kind, files in summary.grouped_skipped(_NAMED_FILES)
        ],
        "proofs": _proofs(summary.proofs),
        "files_seen": plan.files_seen,
        "files_parsed": plan.files_parsed,
        **more,
    }
    if whole:
        from instrument.patch.planfile import save

        value["plan"] = json.loads(save(plan, summary.repo))
    return value


def _note(note: Note) -> dict[str, Any]:
    return {
        "level": note.level,
        "code": note.code,
        "message": note.message,
        "next": note.next,
        "path": note.path,
        "line": note.line,
    }


def _places(sites: Iterable[Site]) -> list[dict[str, Any]]:
    """Places that are alike in one entry: how many there are, and where the first of them stand."""
    groups: dict[tuple[Any, ...], list[Site]] = {}
    for site in sites:
        key = (site.outcome, site.kind, site.what, site.rule, site.strategy, site.process, site.why)
        groups.setdefault(key, []).append(site)
    return [
        {
            "outcome": outcome,
            "kind": kind,
            "what": what,
            "rule": rule,
            "strategy": strategy,
            "process": process,
            "why": why,
            "count": len(found),
            "at": [f"{site.path}:{site.line}" for site in found[:_NAMED]],
        }
        for (outcome, kind, what, rule, strategy, process, why), found in groups.items()
    ]


def _proofs(proofs: Iterable[Proof]) -> list[dict[str, Any]]:
    files: dict[str, set[str]] = {}
    notes: dict[str, list[str]] = {}
    for proof in proofs:
        files.setdefault(proof.name, set()).add(proof.path or "")
        notes.setdefault(proof.name, []).extend(f"{proof.path}: {note}" for note in proof.notes)
    return [{"name": name, "files": len(paths - {""}), "notes": notes[name]} for name, paths in files.items()]


def write(value: dict[str, Any]) -> None:
    """The document on stdout. Escaped to ASCII: no terminal acts on it, and lone surrogates survive."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def write_error(error: InstrumentError) -> None:
    """An error as a document, for who reads --json."""
    from instrument.plan.codes import ERRORS

    meaning = ERRORS.get(error.code)
    detail = {
        "code": error.code,
        "message": error.message,
        "path": error.path,
        "line": error.line,
        "hint": error.hint,
        "next": meaning.next if meaning else "",
    }
    write({"schema": "instrument.error/1", "error": detail})
