"""A notebook as one Python program, and edits to that program as edits to its cells.

`text` is every code cell's source in order. A cell is followed by its last line's end and one blank line that belongs
to no cell but is the end of the one above: both ways to add a line below a statement (at the end of its line, at the
start of the next one) stay in its cell. Within a cell each character of `text` stands for one character of the
source, because IPython's syntax is masked in place (`magics.py`); so offsets are the same in `text` and in
`original`, which is what the person wrote.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from json import JSONDecodeError
from pathlib import PurePosixPath
from typing import Any

from instrument.errors import ConflictError, ProofError, SourceError
from instrument.repo.cells import RawCell, RawNotebook
from instrument.repo.magics import SILENT_CELL_MAGICS, Masked, mask
from instrument.repo.pip_lines import PipInstall, pip_installs
from instrument.repo.source import PythonSource, Splice

#: What stands between two cells in `text`.
SEPARATOR = "\n\n"

#: Names of kernels, for metadata that does not tell the language.
_OTHER_KERNELS = re.compile(r"(ir|julia|bash|xcpp|scala|almond|deno|javascript|octave|sas|stata|ruby|rust)\b|\.net-")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell. `start` and `end` are its span in `NotebookSource.text`."""

    #: Its place among all cells of the notebook, from 0.
    index: int
    id: str | None
    start: int
    end: int
    raw: RawCell
    masked: Masked

    @property
    def label(self) -> str:
        """What a person calls it: cells of every type counted from 1."""
        return f"cell {self.index + 1}"

    @property
    def body(self) -> int:
        """Where code may first be put: below the cell magics."""
        return self.start + self.masked.body


class NotebookSource(PythonSource):
    """A `.ipynb` file of format 4. Everything raises SourceError where the file is none."""

    kind = "notebook"

    @cached_property
    def encoding(self) -> str:
        return "utf-8"

    @cached_property
    def raw(self) -> str:
        """The JSON text, without a byte-order mark."""
        try:
            return self.data[len(self.bom) :].decode(self.encoding)
        except UnicodeDecodeError as error:
            raise SourceError(f"does not decode as {self.encoding}: {error}", path=self.path) from None

    @cached_property
    def notebook(self) -> RawNotebook:
        try:
            found = RawNotebook.read(self.raw)
        except JSONDecodeError as error:
            raise SourceError(f"is no notebook: {error.msg}", path=self.path, line=error.lineno) from None
        version = found.top.get("nbformat")
        if version in (1, 2, 3):
            hint = f"convert it first: jupyter nbconvert --to notebook --nbformat 4 --inplace {self.path.name}"
            raise SourceError(f"is in notebook format {version}", path=self.path, line=1, hint=hint)
        if version != 4 or "cells" not in found.top:
            raise SourceError("is no notebook of format 4", path=self.path, line=1)
        return found

    @cached_property
    def language(self) -> str:
        """The kernel's language in lower case: "python", "r", "julia", ..."""
        return _language(self.notebook.top.get("metadata"))

    @cached_property
    def cells(self) -> list[Cell]:
        """The code cells, in order; none where the kernel is not Python's."""
        cells: list[Cell] = []
        start = 0
        for raw in self.notebook.cells if self.language == "python" else ():
            if raw.cell_type != "code":
                continue
            text = raw.text
            language = _cell_language(raw)
            masked = mask(text, skipped=f"is in {language}" if language else "")
            cells.append(Cell(raw.index, raw.id, start, start + len(text), raw, masked))
            start += len(text) + len(SEPARATOR)
        return cells

    @cached_property
    def text(self) -> str:
        """The program: what Python sees of the code cells."""
        return "".join(cell.masked.text + SEPARATOR for cell in self.cells)

    @cached_property
    def original(self) -> str:
        """The code cells as they are written, magics included; offsets are those of `text`."""
        return "".join(cell.raw.text + SEPARATOR for cell in self.cells)

    @property
    def skipped(self) -> list[tuple[int, str]]:
        """Code cells of which nothing is looked into (index among all cells, why)."""
        return [(cell.index, cell.masked.skipped) for cell in self.cells if cell.masked.skipped]

    def cell_of(self, offset: int) -> Cell:
        """The cell that an offset lies in; the end of a cell and the blank line below it belong to it."""
        if not self.cells:
            raise ConflictError("the notebook has no code cell for this", path=self.path)
        return self.cells[max(0, bisect_right(self._starts, offset) - 1)]

    @cached_property
    def _starts(self) -> list[int]:
        return [cell.start for cell in self.cells]

    def line_label(self, offset: int) -> str:
        """The place of an offset for people: "cell 3, line 5"."""
        cell = self.cell_of(offset)
        return f"{cell.label}, line {self.line_of(min(offset, cell.end)) - self.line_of(cell.start) + 1}"

    def file_line(self, offset: int) -> int:
        """The line of the `.ipynb` file (from 1) that holds an offset's character, for editors and annotations."""
        cell = self.cell_of(offset)
        position = cell.start
        place = cell.raw.start
        for item in cell.raw.items:
            place = item.start
            position += len(item.text)
            if offset < position:
                break
        return self.raw.count("\n", 0, place) + 1

    def last_expression_displays(self, cell: Cell) -> bool:
        """Whether IPython shows the value of the cell's last statement: a line put below it would take that away.

        IPython 9.18: the last statement is an expression, the cell does not end in `;`, and no magic swallows it.
        """
        last = self._last_statement(cell)
        if not isinstance(last, ast.Expr) or SILENT_CELL_MAGICS.intersection(cell.masked.magics):
            return False
        if re.fullmatch(r"0+", self.text[self.start(last) : self.end(last)]) and self.original[self.start(last)] != "0":
            return False  # stands for a short magic
        return not self.text[self.end(last) : cell.end].lstrip().startswith(";")

    def shows_value(self, statement: ast.stmt) -> bool:
        """Whether a statement of the program is the one whose value its cell shows."""
        cell = self.cell_of(self.start(statement))
        return statement is self._last_statement(cell) and self.last_expression_displays(cell)

    def shows_last(self, offset: int) -> bool:
        """Whether an expression inserted at an offset would be its cell's last one, and so show its value."""
        cell = self.cell_of(offset)
        last = self._last_statement(cell)
        return (last is None or offset >= self.end(last)) and not SILENT_CELL_MAGICS.intersection(cell.masked.magics)

    def _last_statement(self, cell: Cell) -> ast.stmt | None:
        position = bisect_right(self._statement_starts, cell.end) - 1
        if position < 0 or self._statement_starts[position] < cell.start:
            return None
        return self.tree.body[position]

    @cached_property
    def _statement_starts(self) -> list[int]:
        return [self.start(statement) for statement in self.tree.body]

    @cached_property
    def installs(self) -> list[PipInstall]:
        """The pip commands of the notebook (`!pip`, `%pip`, `!uv pip`, `%%bash`), offsets into `text`."""
        found: list[PipInstall] = []
        for cell in self.cells:
            shell = not {"bash", "sh", "shell"}.isdisjoint(cell.masked.magics)
            if cell.masked.skipped and not shell and not cell.masked.command:
                continue
            for install in pip_installs(cell.raw.text, cell.start, shell_cell=shell):
                # Not the lines of a string that only look so.
                if shell or self.text[install.line] != self.original[install.line]:
                    found.append(install)
        return found

    def install_positions(self, near: Collection[str] = ()) -> list[int]:
        """Where " name" adds a requirement to the notebook's own installs; empty if it has none that would do.

        One command that always runs is enough: the one that installs a distribution of `near`, else the last that
        takes the usual index and dependencies along. Where all stand in branches (`if on_colab:`), one in each.
        """
        wanted = {_normal(name) for name in near}
        branches: dict[int, PipInstall] = {}
        for install in self.installs:
            if not install.usable:
                continue
            branch = self._branches.get(install.line, 0)
            if branch not in branches or not _installs(branches[branch], wanted):
                branches[branch] = install
        return [branches[0].position] if 0 in branches else [install.position for install in branches.values()]

    @cached_property
    def _branches(self) -> dict[int, int]:
        """For each statement that is not at top level: where it starts, and a number for the block it is in."""
        found: dict[int, int] = {}
        for node in ast.walk(self.tree):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and not isinstance(node, ast.Module):
                    found.update((self.start(statement), id(block)) for statement in block)
        return found

    def programs(self) -> list[tuple[Cell, str]]:
        """Each cell's own program: what has to compile by itself (a later cell may have `from __future__` lines)."""
        return [(cell, self.text[cell.start : cell.end]) for cell in self.cells]

    def check(self) -> None:
        """Raise SourceError unless every cell that is seen as Python compiles by itself, top-level await allowed."""
        for cell, program in self.programs():
            try:
                compile(program, str(self.path), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            except (SyntaxError, ValueError) as error:
                raise SourceError(f"{cell.label} does not compile: {error}", path=self.path) from None

    def render(self, edits: Sequence[Splice]) -> bytes:
        """The file's bytes with the edits made; no byte outside the edited cells' `source` changes.

        Raises ConflictError for an edit across cells, in a cell that is left alone, or above a cell magic. Text may be
        inserted into a masked line (`install_positions`), but not taken from it.
        """
        changes: dict[int, list[tuple[int, int, str]]] = {}
        for edit in edits:
            cell = self.cell_of(edit.start)
            changes.setdefault(cell.index, []).append(self._in_cell(cell, edit))
        if not changes:
            return self.data
        cells = self.notebook.cells
        sources = {index: self.notebook.source_json(cells[index], cuts) for index, cuts in changes.items()}
        return self.bom + self.notebook.splice(sources).encode(self.encoding)

    def _in_cell(self, cell: Cell, edit: Splice) -> tuple[int, int, str]:
        start, end, text = edit.start - cell.start, edit.end - cell.start, edit.text
        size = cell.end - cell.start
        if start > size and edit.start == edit.end:
            # On the blank line below the cell: the line end that is missing there stands in front.
            start = end = size
            newline = re.search(r"\r?\n\Z|\Z", text)
            assert newline is not None
            text = ((newline[0] or "\n") if size else "") + text[: newline.start()]
        where = f"{cell.label} of the notebook"
        if end > size:
            raise ConflictError(f"an edit reaches past the end of {where}", path=self.path)
        closed = bool(cell.masked.skipped) or start < cell.masked.body
        if closed and not (start == end and any(i.position == edit.start for i in self.installs)):
            raise ConflictError(f"an edit lies in {where}, which {_why(cell)}", path=self.path)
        if self.text[edit.start : edit.end] != self.original[edit.start : edit.end]:
            raise ConflictError(f"an edit takes away a magic of {where}", path=self.path)
        return start, end, text

    def prove(self, edits: Sequence[Splice], result: bytes) -> None:
        """Raise ProofError unless the result is this notebook with just these edits: the rest of it the same bytes,
        every cell compiling, and each edited cell its source with the edits made."""
        after, path = NotebookSource(self.path, result), str(self.path)
        edited = {self.cell_of(edit.start).index for edit in edits}
        if self._outside(edited) != after._outside(edited) or self.bom != after.bom:
            raise ProofError("something outside the edited cells changed", proof="notebook", path=path)
        if after.original != self._spliced_original(edits):
            raise ProofError("an edited cell is not its source with the edits made", proof="notebook", path=path)
        if [cell for cell, _ in after.skipped] != [cell for cell, _ in self.skipped]:
            raise ProofError("an edited cell does not parse", proof="parses", path=path)
        after.check()

    def _spliced_original(self, edits: Sequence[Splice]) -> str:
        parts, last = [], 0
        for edit in edits:
            parts += [self.original[last : edit.start], edit.text]
            last = edit.end
        return "".join([*parts, self.original[last:]])

    def _outside(self, edited: Collection[int]) -> list[str]:
        parts, last = [], 0
        for cell in self.notebook.cells:
            if cell.index in edited:
                parts.append(self.raw[last : cell.start] + ("[" if cell.is_list else '"'))
                last = cell.end
        return [*parts, self.raw[last:]]


def kernel_language(data: bytes) -> str:
    """The language of a notebook's kernel, found without reading the rest of it where it plainly says Python.

    "python" too for what is no notebook. For many files at once.
    """
    if re.search(rb'"language_info"\s*:\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*"name"\s*:\s*"python"', data):
        return "python"
    try:
        return NotebookSource(PurePosixPath("notebook.ipynb"), data).language
    except SourceError:
        return "python"


def _language(metadata: Any) -> str:
    kernel, info = _dict(_dict(metadata).get("kernelspec")), _dict(_dict(metadata).get("language_info"))
    for found in (kernel.get("language"), info.get("name")):
        if isinstance(found, str) and found:
            return "python" if found.lower() in ("python", "python3", "ipython") else found.lower()
    other = _OTHER_KERNELS.match(str(kernel.get("name", "")).lower())
    return {"ir": "r"}.get(other[0], other[0]) if other else "python"


def _why(cell: Cell) -> str:
    if cell.masked.skipped:
        return f"is left alone: {cell.masked.skipped}"
    return f"starts with %%{cell.masked.magics[0]}" if cell.masked.magics else "is left alone"


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _installs(command: PipInstall, wanted: Collection[str]) -> bool:
    return any(_normal(name) in wanted for name in command.names)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _cell_language(raw: RawCell) -> str:
    """The language that an editor gave a single cell, "" for the kernel's own."""
    editors = {"vscode": "languageId", "dotnet_interactive": "language", "polyglot_notebook": "kernelName"}
    for tool, key in editors.items():
        found = _dict(raw.metadata.get(tool)).get(key)
        if isinstance(found, str) and found.lower() not in ("", "python", "ipython"):
            return found
    kernel = raw.metadata.get("kernel")  # SoS notebooks
    if isinstance(kernel, str) and kernel and "python" not in kernel.lower():
        return kernel
    kind = raw.metadata.get("deepnote_cell_type")
    return kind if isinstance(kind, str) and kind not in ("", "code") else ""
