"""The six proofs that every plan must pass before anything is shown or written.

1. parses: the result parses and compiles, for the Python that the repository declares; scripts and data files load.
2. reversible: taking the inserted spans out again gives the original, byte for byte; replaced spans are listed.
3. same program: the syntax tree without what was inserted is the original's (`syntax.py`).
4. idempotent: planning again on the result gives nothing to do.
5. same form: encoding, byte-order mark, newlines, final newline; a regular file inside the repository.
6. notebook: outside the edited cells' `source` every byte is the same.

One failed proof refuses the whole plan.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from instrument.errors import InstrumentError, ProofError, SourceError
from instrument.patch.declared import minimum_python
from instrument.patch.diff import FileChange, changes, grouped
from instrument.patch.formats import check_format
from instrument.patch.journal import safe_target
from instrument.patch.spans import Spans
from instrument.patch.syntax import same_program
from instrument.plan.model import Plan
from instrument.repo.scan import Repository
from instrument.repo.source import PythonSource, Source

NAMES = ("parses", "reversible", "same program", "idempotent", "same form", "notebook")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A proof that a source has passed."""

    #: One of NAMES.
    name: str
    #: None for what is proved of the plan as a whole.
    path: str | None
    #: What was found out beyond that, as sentences ("line 3: «None» is replaced by «[ProbeCallback()]»").
    notes: tuple[str, ...] = ()


def prove(repo: Repository, plan: Plan, replan: Callable[[Repository], Plan]) -> list[Proof]:
    """Make every proof; `replan` plans anew for a repository as the result would leave it.

    Returns the proofs, by file. Raises ProofError (with the file, the original's line and the proof's name) for the
    first that fails; ConflictError or SourceError where the plan does not fit the files.
    """
    found = changes(repo, plan)
    edits_of = grouped(plan)
    proofs: list[Proof] = []
    for change in found:
        edits = edits_of.get(change.path)
        if edits is None:
            proofs += _prove_new(repo, change)
        else:
            before = repo.source(change.path)
            proofs += _prove_edited(repo, change, before, Spans(before, edits))
    _idempotent(repo, found, replan)
    return [*proofs, Proof(name="idempotent", path=None)]


def _prove_new(repo: Repository, change: FileChange) -> list[Proof]:
    _place(repo, change)
    after = repo.with_overlay({change.path: change.after}).source(change.path)
    _parses(repo, None, after)
    return [Proof(name="same form", path=change.path), Proof(name="parses", path=change.path)]


def _prove_edited(repo: Repository, change: FileChange, before: Source, spans: Spans) -> list[Proof]:
    path = change.path
    _place(repo, change)
    if path not in repo.files:
        _refuse("same form", path, "is no file that the repository has (git may ignore it)")
    after = type(before)(before.path, change.after)
    _same_form(before, after)
    passed = [Proof(name="same form", path=path)]
    _parses(repo, before, after)
    passed.append(Proof(name="parses", path=path))
    passed.append(Proof(name="reversible", path=path, notes=_reversible(before, after, spans)))
    if before.kind == "notebook":
        _notebook(before, after, spans)
        passed.append(Proof(name="notebook", path=path))
    if isinstance(before, PythonSource) and isinstance(after, PythonSource):
        same_program(before, after, spans)
        passed.append(Proof(name="same program", path=path))
    return passed


def _refuse(proof: str, path: str, message: str, line: int | None = None) -> NoReturn:
    raise ProofError(message, proof=proof, path=path, line=line)


# -- 1


def _parses(repo: Repository, before: Source | None, after: Source) -> None:
    path = str(after.path)
    try:
        _ = after.text
    except SourceError as error:
        _refuse("parses", path, f"the result {error.message}", error.line)
    if not isinstance(after, PythonSource):
        problem = check_format(before, after)
        if problem:
            _refuse("parses", path, problem)
        return
    problem = _compile_problem(after)
    if problem or after.kind == "notebook":
        try:
            _ = after.tree
        except SourceError as error:
            _refuse("parses", path, f"the result {error.message}", error.line)
        if problem and (before is None or _compile_problem(before) is None):
            _refuse("parses", path, f"the result does not compile: {problem}")
    declared = minimum_python(repo, path)
    problem = _syntax_problem(after, declared)
    if problem and (before is None or _syntax_problem(before, declared) is None):
        version = ".".join(map(str, declared))
        _refuse("parses", path, f"the result is no Python {version}, which this repository supports: {problem}")


def _compile_problem(source: Source) -> str | None:
    """Why a source does not compile; a notebook is compiled cell by cell, anything else from its bytes."""
    if source.kind == "notebook":
        from instrument.repo.notebook import NotebookSource

        assert isinstance(source, NotebookSource)
        try:
            source.check()
        except SourceError as error:
            return error.message
        return None
    return _compiled(source.data, 0, -1) and _compiled(source.data, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, -1)


def _syntax_problem(source: Source, version: tuple[int, int]) -> str | None:
    """What an older Python would not take, as far as this one can tell (`ast.parse(feature_version=)`)."""
    if version >= sys.version_info[:2]:
        return None
    return _compiled(source.text, ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, version[1])


def _compiled(code: bytes | str, flags: int, minor: int) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<result>", "exec", flags, dont_inherit=True, _feature_version=minor)
        except SyntaxError as error:
            return f"{error.msg} (line {error.lineno})"
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return str(error) or type(error).__name__
    return None


# -- 2


def _reversible(before: Source, after: Source, spans: Spans) -> tuple[str, ...]:
    """Find each edit in the result by counting, take it out of there, and compare. Returns what was replaced."""
    path = str(before.path)
    old, new = _written(before), _written(after)
    parts: list[str] = []
    notes: list[str] = []
    last = 0
    for span in spans.all:
        line = before.line_of(span.old_start)
        if new[span.start : span.end] != span.text:
            _refuse("reversible", path, "an edit is not where it should be in the result", line)
        parts += [new[last : span.start], old[span.old_start : span.old_end]]
        last = span.end
        if span.kind == "replaced":
            notes.append(
                f"line {line}: {_quoted(old[span.old_start : span.old_end])} is replaced by {_quoted(span.text)}"
            )
    rebuilt = "".join([*parts, new[last:]])
    if before.kind != "notebook":  # of a notebook this is the program; proof 6 is for its bytes
        if after.bom + rebuilt.encode(after.encoding) != before.data:
            _refuse(
                "reversible", path, "taking the edits out again does not give the original", _first_line(old, rebuilt)
            )
    elif rebuilt != old:
        _refuse("reversible", path, "taking the edits out again does not give the original", _first_line(old, rebuilt))
    return tuple(notes)


def _written(source: Source) -> str:
    if source.kind == "notebook":
        from instrument.repo.notebook import NotebookSource

        assert isinstance(source, NotebookSource)
        return source.original
    return source.text


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"«{line if len(line) <= 60 else line[:57] + '...'}»"


def _first_line(old: str, new: str) -> int:
    same = next((at for at, (one, two) in enumerate(zip(old, new)) if one != two), min(len(old), len(new)))
    return old.count("\n", 0, same) + 1


# -- 4


def _idempotent(repo: Repository, found: list[FileChange], replan: Callable[[Repository], Plan]) -> None:
    if not found:
        return
    again = replan(repo.with_overlay({change.path: change.after for change in found}))
    for edit in again.edits:
        line = repo.with_overlay({c.path: c.after for c in found}).source(edit.path).line_of(edit.start)
        _refuse("idempotent", edit.path, f"planning again on the result would edit it once more: {edit.reason}", line)
    for new in again.new_files:
        _refuse("idempotent", new.path, f"planning again on the result would create a file: {new.reason}")


# -- 5


def _place(repo: Repository, change: FileChange) -> None:
    try:
        safe_target(repo.root, change.path)
    except InstrumentError as error:
        _refuse("same form", change.path, error.message)


_NEWLINE = re.compile(r"\r\n|\r|\n")


def _same_form(before: Source, after: Source) -> None:
    path = str(before.path)
    try:
        same_encoding = before.encoding == after.encoding
    except SourceError as error:
        _refuse("same form", path, f"the result has an {error.message}", error.line)
    if not same_encoding:
        _refuse("same form", path, f"its encoding would change from {before.encoding} to {after.encoding}")
    if before.bom != after.bom:
        _refuse("same form", path, "its byte-order mark would change")
    old = before.data.decode("latin-1")
    new = after.data.decode("latin-1")
    old_kinds, new_kinds = set(_NEWLINE.findall(old)), set(_NEWLINE.findall(new))
    if (new_kinds - old_kinds) if old_kinds else len(new_kinds) > 1:
        kinds = ", ".join(sorted(json.dumps(kind) for kind in new_kinds - old_kinds))
        _refuse("same form", path, f"it would get line endings of another kind ({kinds})")
    if old and old.endswith(("\r", "\n")) != new.endswith(("\r", "\n")):
        _refuse("same form", path, "its final newline would change")


# -- 6


def _notebook(before: Source, after: Source, spans: Spans) -> None:
    from instrument.repo.notebook import NotebookSource

    assert isinstance(before, NotebookSource) and isinstance(after, NotebookSource)
    before.prove([replace(s.edit, start=s.old_start, end=s.old_end, text=s.text) for s in spans.all], after.data)
    edited = {before.cell_of(span.old_start).index for span in spans.all}
    path = str(before.path)
    try:
        old, new = (json.loads(s.data, object_pairs_hook=list, parse_float=str, parse_int=str) for s in (before, after))
    except ValueError as error:
        _refuse("notebook", path, f"the result is no JSON: {error}")
    if _without_sources(old, edited) != _without_sources(new, edited):
        _refuse("notebook", path, "something outside the edited cells' source would change")
    if _valid(before.data) and not _valid(after.data):
        _refuse("notebook", path, "nbformat's validator took the notebook before and would not after")


def _valid(data: bytes) -> bool:
    """Whether nbformat takes a notebook for a valid one of the version that it says it is."""
    import nbformat  # a tenth of a second to load: only where a notebook is edited

    try:
        nbformat.validate(json.loads(data))
    except Exception:  # nbformat.ValidationError, and what odd versions make it raise
        return False
    return True


def _without_sources(document: object, edited: set[int]) -> object:
    """A notebook as lists of pairs (order counts, and so do repeated keys) without the edited cells' `source`."""
    if not isinstance(document, list):
        return document
    result: list[object] = []
    for key, value in document:
        if key == "cells" and isinstance(value, list):
            value = [
                [(k, type(v).__name__ if k == "source" and index in edited else v) for k, v in cell]
                for index, cell in enumerate(value)
            ]
        result.append((key, value))
    return result
