"""A summary for a pull request, in the Markdown that GitHub and GitLab both show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.report.summary import KINDS, OUTCOMES, Summary
from instrument.report.text import plural, shown

if TYPE_CHECKING:
    from instrument.plan.model import Note

#: A longer patch is left to the review itself: hosts cut long descriptions.
_MAX_PATCH = 40_000

_PROMISE = (
    " Nothing that the trainer does today changes: Probe's calls are guarded, and every edit was proved to leave the"
    " rest of its file as it was."
)


def page(summary: Summary, patch: bytes = b"") -> str:
    """The whole summary. `patch` is folded in when it is short enough to be read there."""
    plan = summary.plan
    names = ", ".join(f"{_text(title)} ({_text(form)})" if form else _text(title) for title, form in summary.shapes)
    lines = ["## Metrics also go to Probe", "", f"Found: {names or 'no trainer or tracker that is known'}.", ""]
    if plan.empty:
        lines += ["Already instrumented, nothing to do." if summary.already else "Nothing to do.", ""]
    else:
        edits = sum(len(change.edits) for change in summary.files)
        lines += [
            f"{plural(edits, 'edit')} in {plural(len(summary.files), 'file')}.{_PROMISE if summary.proofs else ''}",
            "",
        ]
        lines += ["| file | line | what and why | look closer |", "|---|---|---|---|"]
        for change in summary.files:
            if change.new:
                lines.append(f"| {_code(change.path)} | new | {_text(change.new.reason)} | |")
            for edit in change.explained:
                look = "yes" if edit.applicability == "review" else ""
                lines.append(f"| {_code(change.path)} | {summary.line(edit)} | {_text(edit.reason)} | {look} |")
        lines.append("")
    if summary.outcomes:
        counts = ", ".join(f"{len(sites)} {OUTCOMES[outcome]}" for outcome, sites in summary.outcomes.items())
        lines += [f"Places: {counts}.", ""]
    for title, level in (("To decide", "question"), ("Refused", "refusal"), ("Warnings", "warning")):
        lines += _notes(title, summary.notes(level))
    if plan.passed_over:
        lines += ["### Passed over", "", *(f"- {name}: {_text(why)}" for name, why in plan.passed_over), ""]
    if summary.skipped:
        lines += [f"<details><summary>Left alone: {plural(len(summary.skipped), 'file')}</summary>", ""]
        lines += [f"- {_code(path)} ({KINDS[kind]})" for path, kind in summary.skipped]
        lines += ["", "</details>", ""]
    if patch and len(patch) <= _MAX_PATCH:
        lines += ["<details><summary>The change</summary>", "", *_fenced(patch), "", "</details>", ""]
    return "\n".join(lines)


def _notes(title: str, notes: list[Note]) -> list[str]:
    if not notes:
        return []
    lines = [f"### {title}", ""]
    for note in notes:
        where = f"{_code(f'{note.path}:{note.line}' if note.line else note.path)}: " if note.path else ""
        lines.append(f"- {where}{_text(note.message)}" + (f" {_text(note.next)}" if note.next else ""))
    return [*lines, ""]


def _text(text: str) -> str:
    """Prose from the target: no character of it is markup."""
    return re.sub(r"([\\`*_{}\[\]()#+!|<>&~@])", r"\\\1", shown(text)).replace("\\<", "&lt;").replace("\\>", "&gt;")


def _code(text: str) -> str:
    """A code span, fenced with more backticks than it holds, and safe in a table."""
    body = shown(text).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", body)), default=0) + 1)
    pad = " " if body.startswith("`") or body.endswith("`") else ""
    return f"{fence}{pad}{body}{pad}{fence}"


def _fenced(patch: bytes) -> list[str]:
    body = [shown(line, keep="\t") for line in patch.decode("utf-8", "surrogateescape").rstrip("\n").split("\n")]
    fence = "`" * max(3, 1 + max((len(run) for line in body for run in re.findall("`+", line)), default=0))
    return [fence + "diff", *body, fence]
