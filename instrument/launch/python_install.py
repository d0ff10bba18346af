"""Packages that Python code has installed elsewhere: Modal images, the `pip` list of a Ray runtime environment."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from instrument.errors import SourceError
from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, distribution
from instrument.launch._python import constant, element_after
from instrument.launch._text import Insertion, Located
from instrument.repo.source import PythonSource, Source
from instrument.repo.tree import walk

_CALLS = frozenset(("pip_install", "uv_pip_install"))
#: Arguments that take a list of requirements: Kubeflow, Flyte, ZenML, Ray.
_KEYWORDS = frozenset(("packages_to_install", "pip_packages"))

_MARKS = (b"pip_install", b'"pip"', b"'pip'", b"packages_to_install", b"pip_packages")


def _matches(path: str) -> bool:
    return path.endswith(".py")


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in the install lists of a Python file."""
    if not isinstance(source, PythonSource) or not any(mark in source.data for mark in _MARKS):
        return Located()
    try:
        tree = source.tree
    except SourceError:
        return Located()
    located = Located()
    for node in walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS:
                _beside(source, node, node.args, names, located)
                for argument in node.args:
                    if isinstance(argument, ast.List):
                        _beside(source, argument, argument.elts, names, located)
            for keyword in node.keywords:
                if keyword.arg in _KEYWORDS and isinstance(keyword.value, ast.List):
                    _beside(source, keyword.value, keyword.value.elts, names, located)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if constant(key) == "pip" and isinstance(value, ast.List):
                    _beside(source, value, value.elts, names, located)
    return located


def _beside(
    source: PythonSource, container: ast.AST, items: Sequence[ast.expr], names: Sequence[str], located: Located
) -> None:
    listed = [distribution(constant(item) or "") for item in items]
    name = next((name for name in names if name in listed), None)
    if name is None:
        return
    if PACKAGE in listed:
        located.present = True
        return
    item = items[listed.index(name)]
    quote = "'" if source.text[source.start(item)] == "'" else '"'
    offset, added = element_after(source, container, item, item, f"{quote}{PACKAGE}{quote}")
    located.insertions.append(Insertion(offset, added, f"installs {PACKAGE} where {name} is installed"))


KIND = DependencyKind("python_install", _matches, locate, marks=_MARKS, declares=False, needles=(b"pip",))
RULE = dependency_rule(KIND, "Packages that Python code installs elsewhere")
