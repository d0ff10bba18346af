"""Where nodes stand: statements, blocks, functions, classes and the names around them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from instrument.repo.names import Module
from tests.programs import program

PLACES = """\
import wandb
@wandb.deco()
def outer(a=wandb.default(), *rest) -> wandb.result():
    local = 1
    class C:
        x = wandb.body()
        def m(self):
            [wandb.inside(i) for i in wandb.iterable()]
            return lambda q=wandb.outer(): wandb.inner(q, later)
    if a: wandb.one(); wandb.two()
    try:
        pass
    except ValueError as error:
        wandb.handler()
"""


def place(tmp_path: Path, name: str) -> tuple[Module, ast.Call]:
    module = program(tmp_path, {"main.py": PLACES}).module("main.py")
    return module, next(call for call in module.calls() if module.code(call.func) == f"wandb.{name}")


@pytest.mark.parametrize(
    ("name", "function", "cls"),
    [
        ("deco", None, None), ("default", None, None), ("result", None, None), ("body", "outer", "C"),
        ("iterable", "m", "C"), ("inside", "m", "C"), ("outer", "m", "C"), ("inner", "<lambda>", "C"),
        ("one", "outer", None), ("handler", "outer", None),
    ],
)  # fmt: skip
def test_function_and_class_around(tmp_path: Path, name: str, function: str | None, cls: str | None) -> None:
    module, call = place(tmp_path, name)
    found = module.function(call)
    assert (None if found is None else getattr(found, "name", "<lambda>")) == function
    owner = module.enclosing_class(call)
    assert (owner.name if owner else None) == cls


def test_statement_and_block(tmp_path: Path) -> None:
    module, call = place(tmp_path, "two")
    statement = module.statement(call)
    assert module.code(statement) == "wandb.two()"
    siblings, position = module.block(statement)
    assert len(siblings) == 2 and position == 1
    module, call = place(tmp_path, "handler")
    siblings, position = module.block(module.statement(call))
    assert siblings[position] is module.statement(call)
    siblings, position = module.block(module.tree.body[1])
    assert siblings is module.tree.body and position == 1


def test_scope_names(tmp_path: Path) -> None:
    module, call = place(tmp_path, "inner")
    names = module.scope_names(call)
    assert {"wandb", "outer", "a", "rest", "local", "C", "m", "self", "q", "later", "print"} <= names
    module, call = place(tmp_path, "one")
    assert {"later", "q", "error", "local"} <= module.scope_names(call)
    assert "probe" not in module.scope_names(call)
    assert module.is_own("local") and module.is_own("wandb") and not module.is_own("later")
    assert module.binds("outer") and not module.binds("local")


def test_calls_are_in_source_order(tmp_path: Path) -> None:
    module = program(tmp_path, {"main.py": "a(b(), c()).d()\ne() if f() else g()\n"}).module("main.py")
    assert [ast.unparse(call.func) for call in module.calls()] == ["a(b(), c()).d", "a", "b", "c", "e", "f", "g"]
