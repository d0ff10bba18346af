"""Every code of a note or an error has its meaning, and `docs/codes.md` says them: `BLESS=1 pytest tests/test_codes.py`."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from instrument.plan import codes
from instrument.plan.codes import ERRORS, INFOS, NOTES, QUESTIONS, REFUSALS, WARNINGS, Meaning

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "codes.md"

KEBAB = re.compile(r"[a-z]+(-[a-z]+)*")
LEVELS = {"question": QUESTIONS, "refusal": REFUSALS, "warning": WARNINGS, "info": INFOS}
#: Functions and classes that carry a note's code among their first arguments, or as `code=`.
CARRIERS = {"note", "ask", "_ask", "Note", "Ask", "Left"}


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((ROOT / "instrument").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield path.relative_to(ROOT).as_posix(), node


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _notes() -> Iterator[tuple[str, int, str | None, str]]:
    """(path, line, level where it stands beside it, code) of every note that is written out in the package."""
    for path, call in _calls():
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in CARRIERS:
            continue
        given = [_text(argument) for argument in call.args[:3]]
        given += [_text(keyword.value) for keyword in call.keywords if keyword.arg == "code"]
        level = next((text for text in given if text in LEVELS), None)
        for text in given:
            if text and text not in LEVELS and KEBAB.fullmatch(text):
                yield path, call.lineno, level, text
                break


def test_every_code_has_a_meaning_at_its_level() -> None:
    missing = [
        f"{path}:{line}: «{code}» is not among the codes of instrument/plan/codes.py" + (f" ({level})" if level else "")
        for path, line, level, code in _notes()
        if code not in (LEVELS[level] if level else NOTES)
    ]
    assert not missing, "\n".join(missing)


def test_no_meaning_without_a_code() -> None:
    used = {code for *_, code in _notes()} | {
        "unreadable-call",
        "skipped-tests",
        "skipped-vendored",
        "skipped-generated",
    }
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "instrument").rglob("*.py") if path.name != "codes.py")
    stale = [code for code in NOTES if code not in used and f'"{code}"' not in text]
    assert not stale, f"no rule uses {', '.join(stale)}"


def test_every_error_code_has_a_meaning() -> None:
    used = {
        text
        for _, call in _calls()
        for keyword in call.keywords
        if keyword.arg == "code" and (text := _text(keyword.value)) and ast.unparse(call.func).endswith("Error")
    }
    assert used <= ERRORS.keys()
    assert ERRORS.keys() - used == {"could-not", "unreadable", "proof-failed", "conflict"}  # the classes' own


def test_what_a_person_must_decide_has_a_next_step() -> None:
    assert [code for code, meaning in {**QUESTIONS, **REFUSALS}.items() if not meaning.next] == []
    assert not set(QUESTIONS) & set(REFUSALS) and not set(WARNINGS) & set(INFOS)


def _table(rows: dict[str, Meaning]) -> str:
    def cell(text: str) -> str:
        return text.replace("|", "\\|")

    lines = [f"| `{code}` | {cell(row.means)} | {cell(row.next)} |" for code, row in sorted(rows.items())]
    return "\n".join(["| code | what it means | next |", "|---|---|---|", *lines])


def page() -> str:
    """docs/codes.md."""
    sections = [
        ("Questions", "A person, or who acts for one, decides; until then Probe does not get it.", QUESTIONS),
        ("Refusals", "It can't be done safely, and the files named stay as they are.", REFUSALS),
        ("Warnings", "It is done, or left, and there is something to know about it.", WARNINGS),
        ("Information", "For the record.", INFOS),
        ("Errors", "`error.code` of `instrument.error/1`; exit code 2, and nothing was written.", ERRORS),
    ]
    parts = [f"## {title}\n\n{text}\n\n{_table(rows)}\n" for title, text, rows in sections]
    head = (
        "# Codes\n\nWritten from `instrument/plan/codes.py`. A code is stable: it keeps its meaning. A note's own `next` goes before\n"
        "the general one here.\n"
    )
    return "\n".join([head, *parts])


def test_the_page_says_them_all() -> None:
    if os.environ.get("BLESS"):
        PAGE.write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page()


@pytest.mark.parametrize("code", ["no-such-code", ""])
def test_an_unknown_code_has_no_next_step(code: str) -> None:
    assert codes.next_of(code) == ""
