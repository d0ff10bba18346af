"""Over generated notebooks: no byte outside edited cells changes, and what nbformat accepts it accepts afterwards."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from instrument.repo.magics import PYTHON_CELL_MAGICS, mask
from instrument.repo.notebook import NotebookSource


@dataclass
class Put:
    start: int
    end: int
    text: str


# fmt: off
LINES = [
    "x = 1", "import wandb", "wandb.log({'é😀': 1})", "%matplotlib inline", "!pip install wandb", "y = !ls {x}", "x?",
    "a.b??", "%time z = 3", "for i in range(3):\n    x", "for i in x:\n    !ls", "await f()", "'''\n%no\n!no'''",
    "x = [\n1,\n%y\n]", "f(a,\n  b)  # %c", "# %%time", "if x:\n\ty = %env A\nelse:\n\tpass", "\"\\n\\\\\"",
    "r'\\'", "def f():\n    return 1\n", "x = (", "print 3", "\u2028", "x = '\\x0c'", "\x0c", "x;", "a; b",
    "%env A=1 \\\n  b", "?x", ",f x", "@d\nclass A: pass", "s = '\u2028'", "f'{x!r}' % y", "z = 5 % 3",
    "q = {1: 2}['a'] != 3", "k: int = !ls", "x == 1", "lambda: 0", "", "   ", "\\", "it's", 'say "hi',
]
# fmt: on
MAGICS = [
    "",
    "",
    "",
    "%%time\n",
    "%%capture out\n",
    "%%bash\n",
    "\n%%timeit -n 1\n",
    "%%time\n%%capture\n",
    "%%html\n",
    "#@title x\n%%time\n",
]


@st.composite
def cell_text(draw: st.DrawFn) -> str:
    body = draw(st.sampled_from(["\n", "\n", "\n\n", "\r\n"])).join(draw(st.lists(st.sampled_from(LINES), max_size=5)))
    return draw(st.sampled_from(MAGICS)) + body + draw(st.sampled_from(["", "", "\n", ";"]))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def notebooks(draw: st.DrawFn) -> bytes:
    minor = draw(st.integers(0, 5))
    cells: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 5))):
        text = draw(cell_text())
        form = draw(st.sampled_from(["lines", "string", "odd"]))
        value: Any = text if form == "string" else text.splitlines(keepends=True)
        if form == "odd" and len(text) > 2:
            value = [text[:2], text[2:]]
        cell: dict[str, Any] = {"cell_type": draw(st.sampled_from(["code", "code", "code", "markdown", "raw"]))}
        cell["metadata"] = draw(st.dictionaries(st.sampled_from(["colab", "id", "é"]), json_values, max_size=2))
        cell["source"] = value
        if minor >= 5:
            cell["id"] = f"c{number}"
        if cell["cell_type"] == "code":
            stream = {"output_type": "stream", "name": "stdout", "text": ["wandb\n"]}
            cell |= {
                "outputs": draw(st.lists(st.just(stream), max_size=1)),
                "execution_count": draw(st.none() | st.integers(0, 9)),
            }
        keys = draw(st.permutations(list(cell)))
        cells.append({key: cell[key] for key in keys})
    top = {
        "cells": cells,
        "metadata": draw(st.dictionaries(st.text(max_size=4), json_values, max_size=2)),
        "nbformat": 4,
    }
    top["nbformat_minor"] = minor
    for broken in ("kernelspec", "language_info"):
        top["metadata"].pop(broken, None)
    top = {key: top[key] for key in draw(st.permutations(list(top)))}
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    raw = json.dumps(top, indent=indent, ensure_ascii=draw(st.booleans()))
    raw = raw.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"]))) + draw(
        st.sampled_from(["", "\n", "\r\n", " "])
    )
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + raw.encode("utf-8", "surrogatepass")


def accepted(data: bytes) -> bool:
    try:
        nbformat.validate(json.loads(data.decode("utf-8-sig")))
    except nbformat.ValidationError:
        return False
    return True


def spliced(text: str, edits: list[Put]) -> str:
    for edit in reversed(edits):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=notebooks(), draw=st.data())
def test_edits_change_nothing_but_the_sources_they_are_in(data: bytes, draw: st.DataObject) -> None:
    book = NotebookSource(PurePosixPath("nb.ipynb"), data)
    assert len(book.text) == len(book.original)
    assert book.render([]) == data
    assert isinstance(book.tree, ast.Module)
    edits: list[Put] = []
    for cell in book.cells:
        if cell.masked.skipped:
            continue
        places = [o for o in range(cell.body, cell.end + 1) if book.text[o : o + 1] == book.original[o : o + 1]]
        for place in sorted(draw.draw(st.lists(st.sampled_from(places), max_size=3, unique=True))) if places else ():
            end = place
            if draw.draw(st.booleans()):
                same = [o for o in range(place, cell.end) if book.text[place:o] == book.original[place:o]]
                end = draw.draw(st.sampled_from([place, *same]))
            text = draw.draw(st.sampled_from(["#", "#é\n", "\n#b\n#c", "\n", "😀\n", "\r\n#d", "<'\"\\"]))
            if not edits or place >= edits[-1].end:
                edits.append(Put(place, end, text))
    result = book.render(edits)
    after = NotebookSource(PurePosixPath("nb.ipynb"), result)
    assert after.original == spliced(book.original, edits)

    edited = {book.cell_of(edit.start).index for edit in edits}
    was, now = json.loads(data.decode("utf-8-sig")), json.loads(result.decode("utf-8-sig"))
    for index, (old, new) in enumerate(zip(was["cells"], now["cells"])):
        assert type(old["source"]) is type(new["source"])
        if index in edited:
            del old["source"], new["source"]
    assert repr(was) == repr(now)  # key order, and nan equals itself
    for index, raw in enumerate(book.notebook.cells):
        if index not in edited:
            twin = after.notebook.cells[index]
            assert book.raw[raw.start : raw.end] == after.raw[twin.start : twin.end]
    assert book._outside(edited) == after._outside(edited)
    assert accepted(result) or not accepted(data)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=200, deadline=None)
@given(text=cell_text())
def test_what_is_python_agrees_with_ipython(text: str) -> None:
    """A cell that IPython could not run (its own transformation does not parse) is left alone."""
    assume("\x0c" not in text)  # IPython takes a line for part of the one before a form feed
    masked = mask(text)
    assert len(masked.text) == len(text)
    assert [i for i, c in enumerate(masked.text) if c in "\r\n"] == [i for i, c in enumerate(text) if c in "\r\n"]
    if masked.magics or masked.command or text.startswith("#@title"):
        assert bool(masked.skipped) or set(masked.magics) <= PYTHON_CELL_MAGICS
        return
    ours = not masked.skipped
    theirs = True
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        compile(
            TransformerManager().transform_cell(text.replace("\r\n", "\n")), "cell", "exec", flags, dont_inherit=True
        )
    except (SyntaxError, ValueError):
        theirs = False
    # IPython takes more: a cell that is indented as a whole, prompts that were pasted along.
    assert ours <= theirs
