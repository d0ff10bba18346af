"""What `check` finds as JUnit XML, which CI servers show beside the tests: one case a file, one a note that needs a person."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as xml

from instrument.report.text import shown

if TYPE_CHECKING:
    from instrument.report.summary import Summary


def suite(summary: Summary) -> bytes:
    """The document: a file that `apply` would change fails, a question or refusal is skipped, the rest passes."""
    cases: list[xml.Element] = []
    changed = [change for change in summary.files if change.edits]
    for change in changed:
        case = _case(change.path, "not-recorded")
        lines = [f"line {summary.line(edit)}: {shown(edit.reason)}" for edit in change.explained]
        failure = xml.SubElement(case, "failure", message="metrics that Probe does not get yet", type="not-recorded")
        failure.text = "\n".join([*lines, "`instrument apply` does it."])
        cases.append(case)
    notes = [note for level in ("question", "refusal") for note in summary.notes(level)]
    for note in notes:
        case = _case(f"{note.path}:{note.line}" if note.path and note.line else note.path or "repository", note.code)
        xml.SubElement(case, "skipped", message=shown(f"{note.message} {note.next}".strip()))
        cases.append(case)
    recorded = {site.path for outcome in ("already", "covered") for site in summary.outcomes.get(outcome, [])}
    cases += [_case(path, "recorded") for path in sorted(recorded - {change.path for change in changed})]
    root = xml.Element(
        "testsuite", name="probe-instrument", tests=str(len(cases)), failures=str(len(changed)), errors="0",
        skipped=str(len(notes)),
    )  # fmt: skip
    root.extend(cases)
    xml.indent(root)
    data: bytes = xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _case(name: str, code: str) -> xml.Element:
    return xml.Element("testcase", classname=f"probe-instrument.{shown(code)}", name=shown(name))
