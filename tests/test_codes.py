"""Every code of a note or an error has its meaning, and `docs/codes.md` says them: `BLESS=1 pytest tests/test_codes.py`."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from instrument.plan import codes
from instrument.plan.codes import ERRORS, INFOS, NOTES, QUESTIONS, REFUSALS, WARNINGS, Meaning

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "codes.md"

KEBAB = re.compile(r"[a-z]+(-[a-z]+)*")
LEVELS = {"question": QUESTIONS, "refusal": REFUSALS, "warning": WARNINGS, "info": INFOS}
#: Functions and classes that carry a note's code among their first arguments, or as `code=`, and the level they give it.
CARRIERS = {"note": "", "Note": "", "ask": "question", "_ask": "question", "Ask": "question", "Left": "question"}


class Said(NamedTuple):
    """A note that is written out in the package."""

    where: str
    level: str
    code: str
    message: str
    next: str


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((ROOT / "instrument").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield path.relative_to(ROOT).as_posix(), node


def _text(node: ast.expr | None) -> str:
    """A literal; of an f-string what is certain, with … for the rest."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _said() -> Iterator[Said]:
    for path, call in _calls():
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in CARRIERS:
            continue
        given = [_text(argument) for argument in call.args]
        named = {keyword.arg: _text(keyword.value) for keyword in call.keywords}
        level = named.get("level") or next((text for text in given if text in LEVELS), CARRIERS[name])
        code, rest = named.get("code", ""), given
        for index, text in enumerate(given[:3]):
            if not code and text and text not in LEVELS and KEBAB.fullmatch(text):
                code, rest = text, given[index + 1 :]
        if code:
            message, then = [*rest, "", ""][:2]
            where = f"{path}:{call.lineno}"
            yield Said(where, level, code, named.get("message", message), named.get("next", then))


def test_codes_are_found() -> None:
    assert {"probe-shadowed", "no-place", "token-not-forwarded", "unreadable-call"} <= {
        said.code for said in _said()
    } | {"unreadable-call"}


def test_a_code_has_one_level() -> None:
    levels = {code: level for level, meanings in LEVELS.items() for code in meanings}
    wrong = [f"{said.where}: «{said.code}» is a {levels[said.code]}" for said in _said()
             if levels.get(said.code, said.level) != said.level]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def test_what_a_person_must_decide_has_a_next_step() -> None:
    missing = [
        f"{said.where}: «{said.code}» needs a next step, in its note or in instrument/plan/codes.py"
        for said in _said()
        if said.level in ("question", "refusal") and not said.next and not codes.next_of(said.code)
    ]
    assert not missing, "\n".join(missing)
    assert [code for code, meaning in {**QUESTIONS, **REFUSALS}.items() if not meaning.next] == []


def test_no_meaning_without_a_code() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "instrument").rglob("*.py") if path.name != "codes.py")
    dynamic = {"skipped-tests", "skipped-vendored", "skipped-generated"}
    stale = [code for code in NOTES if code not in dynamic and f'"{code}"' not in text]
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


def _meanings(level: str) -> dict[str, Meaning]:
    """The codes of a level: those with a meaning of their own, and those that rules explain in their notes."""
    told = {said.code: Meaning(_sentence(said.message), said.next) for said in _said() if said.level == level}
    return {**{code: meaning for code, meaning in told.items() if code not in NOTES}, **LEVELS[level]}


def _sentence(text: str) -> str:
    text = text.strip() or "see the note"
    return text[0].upper() + text[1:] + "."


def _table(rows: dict[str, Meaning]) -> str:
    def cell(text: str) -> str:
        return text.replace("|", "\\|")

    lines = [f"| `{code}` | {cell(row.means)} | {cell(row.next)} |" for code, row in sorted(rows.items())]
    return "\n".join(["| code | what it means | next |", "|---|---|---|", *lines])


def page() -> str:
    """docs/codes.md."""
    sections = [
        (
            "Questions",
            "A person, or who acts for one, decides; until then Probe does not get it.",
            _meanings("question"),
        ),
        ("Refusals", "It can't be done safely, and the files named stay as they are.", _meanings("refusal")),
        ("Warnings", "It is done, or left, and there is something to know about it.", _meanings("warning")),
        ("Information", "For the record.", _meanings("info")),
        ("Errors", "`error.code` of `instrument.error/1`; exit code 2, and nothing was written.", ERRORS),
    ]
    parts = [f"## {title}\n\n{text}\n\n{_table(rows)}\n" for title, text, rows in sections]
    head = (
        "# Codes\n\nWritten from the rules and `instrument/plan/codes.py`. A code is stable: it keeps its meaning. A note's own\n"
        "`next` goes before the general one here; … stands for what it names.\n"
    )
    return "\n".join([head, *parts])


def test_the_page_says_them_all() -> None:
    if os.environ.get("BLESS"):
        PAGE.write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page()


@pytest.mark.parametrize("code", ["no-such-code", ""])
def test_an_unknown_code_has_no_next_step(code: str) -> None:
    assert codes.next_of(code) == ""
