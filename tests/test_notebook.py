"""Notebooks as sources: what is seen of their cells, and what comes back when edits are made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pytest

from instrument.errors import ConflictError, ProofError, SourceError
from instrument.repo.notebook import NotebookSource


@dataclass
class Put:
    start: int
    end: int
    text: str


def cell(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source, **more}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(*cells: str | dict[str, Any], indent: int | str | None = 1, ascii: bool = False, **top: Any) -> bytes:
    done = [cell(lines(c)) if isinstance(c, str) else c for c in cells]
    content = {"cells": done, "metadata": {}, "nbformat": 4, "nbformat_minor": 4, **top}
    return (json.dumps(content, indent=indent, ensure_ascii=ascii) + "\n").encode()


def source(data: bytes) -> NotebookSource:
    return NotebookSource(PurePosixPath("a/nb.ipynb"), data)


def add(book: NotebookSource, where: str, text: str, *, after: bool = True) -> bytes:
    """Insert text behind (or before) a place that is looked for in the program."""
    at = book.text.index(where) + (len(where) if after else 0)
    edits = [Put(at, at, text)]
    done = book.render(edits)
    book.prove(edits, done)
    return done


def sources(data: bytes) -> list[str]:
    return ["".join(c["source"]) for c in json.loads(data.decode("utf-8-sig"))["cells"]]


# -- the program ------------------------------------------------------------------------------------------------------


def test_cells_make_one_program_with_the_same_offsets_as_what_was_written() -> None:
    book = source(notebook("import wandb", "%matplotlib inline\nx = !ls\n", "wandb.log({'é': 1})"))
    assert len(book.text) == len(book.original)
    assert [c.masked.skipped for c in book.cells] == ["", "", ""]
    call = book.tree.body[-1]
    assert book.code(call) == "wandb.log({'é': 1})"
    assert book.original[book.start(call) : book.end(call)] == "wandb.log({'é': 1})"
    assert book.line_label(book.start(call)) == "cell 3, line 1"
    assert b"wandb.log" in book.data.split(b"\n")[book.file_line(book.start(call)) - 1]


def test_markdown_and_raw_cells_are_counted_but_not_read() -> None:
    raw = {"cell_type": "raw", "metadata": {}, "source": ["wandb.log("]}
    text = {"cell_type": "markdown", "metadata": {}, "source": "```wandb.log("}
    book = source(notebook(raw, text, "x = 1"))
    assert book.text == "x = 1\n\n"
    assert book.cells[0].label == "cell 3" and not book.skipped


def test_cells_that_python_does_not_run_are_left_alone_and_say_why() -> None:
    sql = cell("SELECT 1", metadata={"vscode": {"languageId": "sql"}})
    book = source(notebook("%%bash\nwandb.log", "x = (", "print 'two'", "%%writefile t.py\nimport wandb", sql, "y = 1"))
    assert [index for index, _ in book.skipped] == [0, 1, 2, 3, 4]
    assert "%%bash" in book.skipped[0][1] and "line 1" in book.skipped[1][1] and "sql" in book.skipped[4][1]
    assert [type(s).__name__ for s in book.tree.body] == ["Assign"]


@pytest.mark.parametrize(
    "metadata, language",
    [
        ({}, "python"),
        ({"kernelspec": {"name": "python3", "display_name": "x"}}, "python"),
        ({"kernelspec": {"name": "conda-env-py", "language": "python"}}, "python"),
        ({"kernelspec": {"name": "ir", "display_name": "R"}}, "r"),
        ({"language_info": {"name": "julia"}}, "julia"),
        ({"kernelspec": {"name": ".net-csharp", "language": "C#"}}, "c#"),
        ({"kernelspec": {"language": None}, "language_info": []}, "python"),
        (None, "python"),
    ],
)
def test_the_kernel_says_which_language(metadata: Any, language: str) -> None:
    book = source(notebook("wandb.log(1)", metadata=metadata))
    assert book.language == language
    assert bool(book.text) == (language == "python")
    assert bool(book.tree.body) == (language == "python")


def test_await_at_top_level_and_late_future_imports_are_fine() -> None:
    book = source(notebook("x = 1", "from __future__ import annotations\nawait f()", "async for i in g():\n    pass"))
    assert not book.skipped and len(book.tree.body) == 4
    book.check()


def test_what_is_no_notebook_says_where() -> None:
    for data, said in [
        (b"not json", "is no notebook"),
        (b"[]", "is no notebook"),
        (b'{"cells": [}', "is no notebook"),
        (b'{"nbformat": 4}', "format 4"),
        (b'{"cells": [], "nbformat": 5}', "format 4"),
        (b'{"cells": [{"cell_type": "code", "source": 3}], "nbformat": 4}', "string"),
        (b'{"cells": [{"cell_type": "code"}], "nbformat": 4}', "without a source"),
        (b'{"cells": [], "nbformat": 4} x', "extra data"),
        (b"\xff\xfe{}", "decode"),
        (b"", "is no notebook"),
    ]:
        with pytest.raises(SourceError, match=said):
            _ = source(data).text
    with pytest.raises(SourceError) as error:
        _ = source(b'{\n"cells": [\n,]}').tree
    assert error.value.line == 3
    with pytest.raises(SourceError, match="format 3") as error:
        _ = source(b'{"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": []}').tree
    assert error.value.hint and "nbconvert" in error.value.hint


# -- what shows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, shows",
    [
        ("x", True),
        ("x;", False),
        ("x # why", True),
        ("x;  # why", False),
        ("x = 1", False),
        ("for i in y:\n    i", False),
        ("%%time\nx", True),
        ("%%capture out\nx", False),
        ("x\n%matplotlib inline", False),
        ("x\n!l", False),
        ("%time x", True),
        ("a; x", True),
        ("await x\n\n", True),
        ("", False),
        ("# nothing", False),
        ("%%bash\nx", False),
    ],
)
def test_whether_the_last_value_of_a_cell_is_shown(text: str, shows: bool) -> None:
    book = source(notebook("first", text, "last"))
    assert book.last_expression_displays(book.cells[1]) is shows
    assert book.last_expression_displays(book.cells[2]) is True


def test_whether_inserted_code_would_come_last_in_its_cell() -> None:
    book = source(notebook("x = 1\ny = 2", "z = 3"))
    assert not book.shows_last(book.text.index("\ny"))
    assert book.shows_last(book.text.index("2") + 1)
    assert not book.shows_last(book.text.index("z"))


# -- edits ------------------------------------------------------------------------------------------------------------


def test_both_ways_to_add_a_line_below_the_last_one_stay_in_the_cell() -> None:
    data = notebook("import wandb", "x = 1")
    book = source(data)
    at_the_end = add(book, "import wandb", "\nimport probe")
    on_the_next_line = add(book, "import wandb\n", "import probe\n")
    assert at_the_end == on_the_next_line == notebook("import wandb\nimport probe", "x = 1")


def test_text_before_the_first_statement_goes_to_that_cell() -> None:
    book = source(notebook("a = 1", "%%time\nb = 2"))
    assert sources(add(book, "a", "n = 0\n", after=False)) == ["n = 0\na = 1", "%%time\nb = 2"]
    assert sources(add(book, "b", "n = 0\n", after=False)) == ["a = 1", "%%time\nn = 0\nb = 2"]


def test_a_cell_magic_stays_the_first_line() -> None:
    book = source(notebook("a = 1", "%%time\nb = 2", "%%bash\necho"))
    start = book.cells[1].start
    for at in (start, start + 3, start + 6, book.cells[2].start, book.cells[2].end):
        with pytest.raises(ConflictError):
            book.render([Put(at, at, "x = 1\n")])


def test_edits_that_reach_over_cells_or_take_magics_away_are_refused() -> None:
    book = source(notebook("a = 1", "!ls\nb = 2"))
    with pytest.raises(ConflictError, match="past the end of cell 1"):
        book.render([Put(2, 9, "")])
    with pytest.raises(ConflictError, match="magic of cell 2"):
        book.render([Put(book.cells[1].start, book.cells[1].start + 3, "pass")])


def test_an_edit_leaves_everything_else_the_same_bytes() -> None:
    odd = (
        b'\xef\xbb\xbf{"nbformat_minor":2,"cells" : [\r\n\t{"source":["a = \\"\\u00e9\\/\\"\\n",\r\n\t"b = 2"],'
        b'"outputs":[{"x":1.50,"y":1E5}],\r\n"cell_type":"code","metadata":{"id":"q"}, "execution_count":3},'
        b'{"cell_type":"code","source":"c = 3\\r\\nd = 4","metadata":{},"outputs":[],"execution_count":null}],'
        b'"nbformat":4, "metadata":{"widgets":{"a":1e400}}}'
    )
    book = source(odd)
    assert book.render([]) == odd
    done = add(book, "b = 2", "\nz = 'é'")
    assert done == odd.replace(b'"b = 2"', b'"b = 2\\n",\r\n\t"z = \'\\u00e9\'"')
    done = add(book, "d = 4", "\r\ne = 5")
    assert done == odd.replace(b"d = 4", b"d = 4\\r\\ne = 5")
    done = add(book, "a = ", "x = ", after=False)
    assert done == odd.replace(b'["a', b'["x = a')


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 4, "\t"])
@pytest.mark.parametrize("ascii", [False, True])
def test_the_form_of_the_file_is_kept(indent: Any, ascii: bool) -> None:
    before = notebook("s = 'é'", "b = 2\nc = 3\n", cell("d = 4"), indent=indent, ascii=ascii)
    book = source(before)
    edits = [Put(7, 7, "\nt = 'ü😀'"), *(Put(o, o, "x = 0\n") for o in map(book.text.index, "cd"))]
    done = book.render(edits)
    book.prove(edits, done)
    cells = "s = 'é'\nt = 'ü😀'", "b = 2\nx = 0\nc = 3\n", cell("x = 0\nd = 4")
    assert done == notebook(*cells, indent=indent, ascii=ascii)


def test_a_replaced_span_keeps_its_lines_apart() -> None:
    book = source(notebook("f(\n  1,\n  2)\nh(4)", "g(3)"))
    edits = [Put(2, 11, "m"), Put(book.text.index("h"), book.text.index("h") + 1, "k")]
    done = book.render(edits)
    book.prove(edits, done)
    assert done == notebook("f(m)\nk(4)", "g(3)")


def test_colab_escapes_are_kept() -> None:
    before = notebook("a = 1").replace(b"a = 1", b"a = 1 \\u003c 2")
    assert b'"a = 1 \\u003c 2\\n",\n    "b = 3 \\u003c 4"' in add(source(before), "2", "\nb = 3 < 4")


def test_lists_that_are_not_one_line_an_item_stay_as_they_are() -> None:
    book = source(notebook(cell(["a = 1\nb ", "= 2\nc = 3"])))
    assert json.loads(add(book, "c = 3", "\nd = 4"))["cells"][0]["source"] == ["a = 1\nb ", "= 2\nc = 3\n", "d = 4"]


def test_an_empty_cell_takes_text() -> None:
    book = source(notebook("", "a = 1\nb = 2"))
    done = book.render([Put(0, 0, "x = 1\ny = 2")])
    assert done == notebook("x = 1\ny = 2", "a = 1\nb = 2").replace(b'"source": [\n', b'"source": [\n', 1)


def test_a_result_that_is_not_the_edit_is_found() -> None:
    before = notebook("a = 1", "b = 2", metadata={"x": 1})
    book = source(before)
    edits = [Put(0, 0, "z = 0\n")]
    good = book.render(edits)
    for bad in (
        good.replace(b'"x": 1', b'"x": 2'),
        good.replace(b"b = 2", b"b = 3"),
        good.replace(b"z = 0", b"z = 1"),
        good.replace(b"z = 0", b"z = ("),
        b"\xef\xbb\xbf" + good,
    ):
        with pytest.raises(ProofError):
            book.prove(edits, bad)


# -- installs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",  # «+» is where the package is added; with none there is no place for it
    [
        "!pip install -q wandb+  # tracker",
        "%pip install wandb+",
        "! pip -q install 'wandb>=0.16'+ -U",
        "!uv pip install --system wandb+",
        "!{sys.executable} -m pip install wandb+ 2>&1 | tail -1",
        "!pip install wandb>=0.16 trl+",
        "%%bash\npip install wandb+\necho",
        "!pip install a \\\n  wandb+",
        "!cd x && pip3 install -e . && pip install b+",
        "!pip install -r requirements.txt+",
        "pip install wandb+",
        "!pip install a\n!pip install wandb+\n!pip install b",
        "!pip install a+\n!pip install --no-deps wandb",
        "!pip install torch --index-url https://x",
        "!pip uninstall wandb",
        "!echo pipx install",
        "# !pip install wandb",
        "s = '''\n!pip install b'''",
        "x = (\n!pip install b",
        "%%writefile a.sh\n!pip install b",
        "if colab:\n    !pip install a+\nelse:\n    !pip install b+\n    !pip install --no-deps c",
        "if colab:\n    !pip install a\n!pip install b+",
    ],
)
def test_where_the_package_is_installed(text: str) -> None:
    book = source(notebook("import os", text.replace("+", ""), "import wandb"))
    edits = [Put(at, at, " probe-research") for at in book.install_positions(["wandb"])]
    done = book.render(edits)
    book.prove(edits, done)
    assert sources(done) == ["import os", text.replace("+", " probe-research"), "import wandb"]
