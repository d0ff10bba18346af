"""Small repositories for tests: written, scanned and parsed, and asked about calls by their text."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from instrument.repo.names import Module, Program
from instrument.repo.scan import Repository


def program(root: Path, files: dict[str, str], needles: tuple[bytes, ...] = (b"",)) -> Program:
    """A Program over these files, all of them scanned."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")
    repo = Repository(root)
    repo.scan(needles)
    return Program(repo)


def callee(module: Module, code: str) -> ast.expr:
    """The callee written like this, of the only call that has it (the last one, if there are several)."""
    found = [call.func for call in module.calls() if module.code(call.func) == code]
    assert found, f"no call of {code} in {module.path}"
    return found[-1]


def resolve(root: Path, code: str, ask: str, path: str = "main.py", **more: str) -> set[str]:
    """What `ask` (a callee) stands for in one file of code. `more` are further files, `__` for a slash."""
    files = {path: code} | {f"{name.replace('__', '/')}.py": text for name, text in more.items()}
    prog = program(root, files)
    module = prog.module(path)
    return set(prog.resolve(module, callee(module, ask)))


def several(root: Path, files: dict[str, str], path: str, ask: str) -> set[str]:
    prog = program(root, files)
    module = prog.module(path)
    return set(prog.resolve(module, callee(module, ask)))
