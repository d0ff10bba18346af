"""Where a repository emits a key: a search of its own code for the key's text near a call that logs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from instrument.errors import InstrumentError
from instrument.repo.scan import Repository
from instrument.repo.source import PythonSource

#: Calls that send metrics, by their last name.
LOGS = {"log", "log_metric", "log_metrics", "log_dict", "add_scalar", "add_scalars", "track", "report_scalar", "logkv"}
_NEEDLES = tuple(f"{name}(".encode() for name in sorted(LOGS))


def emitting_places(path: Path, keys: Iterable[str]) -> dict[str, str]:
    """For every key whose text stands in the repository's code, the most likely line as "file:line".

    Literal text, the last part of a nested key, and f-strings are looked for; text inside a logging call wins over
    text elsewhere. A key that a framework emits by itself is not found.
    """
    wanted = dict.fromkeys(keys)
    best: dict[str, tuple[int, str]] = {}
    try:
        repository = Repository(path)
        repository.scan((*_NEEDLES, *(key.encode() for key in wanted)))
        names = repository.having(*_NEEDLES, *(key.encode() for key in wanted), suffixes=(".py", ".ipynb"))
    except InstrumentError:
        return {}
    for name in names:
        if repository.kind(name) not in ("own", "tests"):
            continue
        try:
            source = repository.source(name)
            tree = source.tree if isinstance(source, PythonSource) else None
        except (InstrumentError, ImportError):
            continue
        for text, line, near in _texts(tree) if tree is not None else ():
            for key in wanted:
                weight = _weight(text, key)
                if weight and best.get(key, (0, ""))[0] < weight + near:
                    best[key] = (weight + near, f"{name}:{line}")
    return {key: place for key, (_, place) in best.items()}


def _weight(text: re.Pattern[str] | str, key: str) -> int:
    if isinstance(text, str):
        if text == key:
            return 30
        last = re.split(r"[./]", key)[-1]
        return 10 if text and text == last and text != key else 0
    return 20 if text.fullmatch(key) else 0


def _is_probe(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id in ("probe", "probe_sdk", "probe_tracking")


def _texts(tree: ast.AST) -> Iterator[tuple[re.Pattern[str] | str, int, int]]:
    """Every text in the code: itself (or an f-string's pattern), its line, 5 in a tracker's call and -5 in Probe's."""
    logging: set[int] = set()
    ours: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in LOGS:
                inner = (id(part) for part in ast.walk(node))
                (ours if isinstance(called, ast.Attribute) and _is_probe(called.value) else logging).update(inner)
    for node in ast.walk(tree):
        near = -5 if id(node) in ours else 5 if id(node) in logging else 0
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno, near
        elif isinstance(node, ast.JoinedStr):
            parts = [re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+" for p in node.values]
            if sum(len(part) for part in parts if part != ".+") >= 3:
                yield re.compile("".join(parts), re.DOTALL), node.lineno, near
        elif isinstance(node, ast.keyword) and node.arg:  # dict(loss=...), log(loss=...)
            yield node.arg, node.value.lineno, near
