"""setup.py: an entry in the lists of requirement strings that hold the tracker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from instrument.errors import SourceError
from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, bounded, distribution
from instrument.launch._python import element_after
from instrument.launch._text import Insertion, Left, Located
from instrument.repo.source import PythonSource, Source

#: Arguments of setup() whose lists hold other things.
_OTHER = frozenset(("keywords", "classifiers", "packages", "py_modules", "platforms", "scripts"))


def _matches(path: str) -> bool:
    return path.rsplit("/", 1)[-1] == "setup.py"


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in a setup.py: beside the first of `names` in every list that has it."""
    if not isinstance(source, PythonSource):
        return Located()
    try:
        lists = list(_lists(source.tree))
    except SourceError:
        return Located()
    known = {name for _, row in lists for name, _ in row}
    name = next((name for name in names if name in known), None)
    if name is None:
        return _in_text(source, names)
    if PACKAGE in known:
        return Located(present=True)
    python = _python(source.tree)
    located = Located()
    for container, row in lists:
        node = next((node for found, node in row if found == name), None)
        if node is not None:
            located.add(beside_string(source, container, node, bounded(str(node.value), python=python), name))
    return located


def _in_text(source: PythonSource, names: Sequence[str]) -> Located:
    """Requirements in one string that is split: a person adds to it."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            known = {
                distribution(line)
                for line in node.value.splitlines()
                if re.match(r"\s*[\w.-]+\s*(?:[\[<>=~!;@#]|$)", line)
            }
            name = next((name for name in names if name in known), None)
            if name is not None:
                if PACKAGE in known:
                    return Located(present=True)
                at = source.start(node)
                return Located(
                    left=[Left(at, "dependency-by-hand", f"{name} is listed here", f"add {bounded()} beside it")]
                )
    return Located()


def _lists(tree: ast.Module) -> Iterator[tuple[ast.AST, list[tuple[str, ast.Constant]]]]:
    """Lists, tuples and sets with requirement strings, as (distribution, node). No keywords, no classifiers."""
    other = {id(k.value) for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg in _OTHER}
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and id(node) not in other:
            row = []
            for item in node.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    name = distribution(item.value)
                    if name:
                        row.append((name, item))
            if row:
                yield node, row


def _python(tree: ast.Module) -> str | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "python_requires" and isinstance(node.value, ast.Constant):
            return str(node.value.value)
    return None


def beside_string(source: PythonSource, container: ast.AST, node: ast.Constant, item: str, name: str) -> Located:
    """Another string after one in a list or call, in its quotes, on a line of its own where that has one.

    A string that is no plain literal (prefixed, implicitly joined) is left to a person.
    """
    text, start, end = source.text, source.start(node), source.end(node)
    quote = text[start]
    if quote not in "\"'" or text[start:end].count(quote) != 2 or node.lineno != node.end_lineno:
        return Located(left=[Left(start, "dependency-by-hand", f"{name} is listed here", f"add {item} beside it")])
    quote = quote if quote not in item else '"'
    new = f"{quote}{item}{quote}"
    offset, added = element_after(source, container, node, node, new)
    return Located([Insertion(offset, added, f"declares {PACKAGE} beside {name}")])


KIND = DependencyKind("setup_py", _matches, locate, needles=(b"setup(",))
RULE = dependency_rule(KIND, "setup.py")
