"""Packages that Python code has installed elsewhere: Modal images, the `pip` list of a Ray runtime environment."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from instrument.errors import SourceError
from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, distribution
from instrument.launch._pip import install_insertions
from instrument.launch._python import constant, element_after, may_grow
from instrument.launch._text import Insertion, Left, Located
from instrument.repo.source import PythonSource, Source
from instrument.repo.tree import walk

_CALLS = frozenset(("pip_install", "uv_pip_install"))
#: Of a Modal image: shell commands, and lines of a Dockerfile.
_SHELL_CALLS = frozenset(("run_commands", "dockerfile_commands"))
#: Arguments that take a list of requirements: Kubeflow, Flyte, ZenML, Ray.
_KEYWORDS = frozenset(("packages_to_install", "pip_packages"))

_MARKS = (
    b"pip_install", b'"pip"', b"'pip'", b"packages_to_install", b"pip_packages", b"pip=", b"uv=", b"run_commands",
    b"dockerfile_commands", b'"uv"',
)  # fmt: skip


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
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in _CALLS:
                _beside(source, node, node.args, names, located)
                for argument in node.args:
                    _listed(source, tree, argument, names, located)
            if called in _SHELL_CALLS:
                _commands(source, node, names, located)
            for keyword in node.keywords:
                if keyword.arg in _KEYWORDS or (keyword.arg in ("pip", "uv") and called in ("RuntimeEnv", "dict")):
                    _listed(source, tree, keyword.value, names, located)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if constant(key) in ("pip", "uv"):
                    _listed(source, tree, value, names, located)
    return located


def _listed(source: PythonSource, tree: ast.Module, value: ast.expr, names: Sequence[str], located: Located) -> None:
    """A list of requirements: in place, unpacked, below `packages`, or by the one name it is given in the file."""
    if isinstance(value, ast.Starred):
        value = value.value
        if isinstance(value, ast.List) and any(distribution(constant(item) or "") in names for item in value.elts):
            if all(distribution(constant(item) or "") != PACKAGE for item in value.elts):
                located.left.append(_by_hand(source.start(value), "this list"))
            return
    if isinstance(value, ast.Dict):
        for key, inner in zip(value.keys, value.values):
            if constant(key) == "packages":
                value = inner
    if isinstance(value, ast.Name):
        made = [
            node.value for node in walk(tree)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
            and any(isinstance(t, ast.Name) and t.id == value.id for t in getattr(node, "targets", [getattr(node, "target", None)]))
        ]  # fmt: skip
        value = made[0] if len(made) == 1 else value
    if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
        if not may_grow(tree, value):
            if any(distribution(constant(item) or "") in names for item in value.elts):
                located.left.append(_by_hand(source.start(value), "this list"))
            return
        _beside(source, value, value.elts, names, located)


def _by_hand(offset: int, where: str) -> Left:
    return Left(
        offset,
        "install-by-hand",
        f"{where} installs the tracker and not {PACKAGE}, in a form that is not changed by a tool",
        f"add {PACKAGE} to it",
    )


def _commands(source: PythonSource, call: ast.Call, names: Sequence[str], located: Located) -> None:
    """`run_commands("pip install wandb")`: plain strings only, in which a character is a character."""
    arguments = [item for arg in call.args for item in (arg.elts if isinstance(arg, ast.List) else [arg])]
    for item in arguments:
        text = constant(item)
        start, end = source.start(item), source.end(item)
        if text is None or source.text[start + 1 : end - 1] != text or source.text[start] not in "\"'":
            continue
        lead = re.match(r"RUN ", text)
        at = lead.end() if lead else 0
        found = install_insertions(text[at:], names)
        # A string is changed by a person: no proof can tell it from what the program means.
        for insertion in found.insertions:
            located.left.append(_by_hand(start + 1 + at + insertion.offset, "this command"))
        located.left += [left._replace(offset=start + 1 + at + left.offset) for left in found.left]
        located.present = located.present or found.present


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
    if any(insertion.offset == source.end(item) for insertion in located.insertions):
        return  # the same list by another name
    quote = "'" if source.text[source.start(item)] == "'" else '"'
    offset, added = element_after(source, container, item, item, f"{quote}{PACKAGE}{quote}")
    located.insertions.append(Insertion(offset, added, f"installs {PACKAGE} where {name} is installed"))


KIND = DependencyKind("python_install", _matches, locate, marks=_MARKS, declares=False, needles=(b"pip",))
RULE = dependency_rule(KIND, "Packages that Python code installs elsewhere")
