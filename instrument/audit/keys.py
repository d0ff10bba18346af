"""The text of a metric's key, as far as it can be told: "train/loss", or "train/*" where a part is only known when run.

`WILD` stands for such a part. Values are followed through names, parameters and their callers, loops over literals, and
the usual ways to build a string.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from instrument.repo.scopes import AnyFunction, Binding

if TYPE_CHECKING:
    from instrument.repo.module import Module
    from instrument.repo.names import Program

WILD = "\0"
_MAX_TEXTS, _MAX_DEPTH = 12, 8
_PLACE = re.compile(r"%(?:\(\w+\))?[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|\{[^{}]*\}")


@dataclass(frozen=True, eq=False)
class Frame:
    """How a function was reached: by this call, from there. Its parameters are that call's arguments."""

    function: AnyFunction
    caller: Module
    call: ast.Call
    skip: int
    outer: Frame | None = None
    #: Texts of a comprehension's variables, by name.
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def shown(key: str) -> str:
    """A key for people: `train/{…}`."""
    return key.replace(WILD, "{…}")


@cache
def pattern(key: str) -> re.Pattern[str]:
    """What matches each text that a key may turn out to be."""
    return re.compile(".*".join(re.escape(part) for part in key.split(WILD)), re.DOTALL)


def argument_of(function: AnyFunction, call: ast.Call, skip: int, name: str) -> ast.expr | bool | None:
    """The expression a call gives to a parameter, the default where it gives none; False where that can't be told."""
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    position = next((i for i, a in enumerate(listed) if a.arg == name), None)
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return False
    if position is not None:
        if 0 <= position - skip < len(call.args):
            return call.args[position - skip]
        behind = position - (len(listed) - len(given.defaults))
        return given.defaults[behind] if behind >= 0 else False
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        if argument.arg == name:
            return default if default is not None else False
    return False


class Keys:
    """Texts of expressions in one repository."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def texts(self, module: Module, node: ast.AST | None, frame: Frame | None = None, depth: int = 0) -> list[str]:
        """What an expression may be as a text, each part that isn't known as WILD; at most a dozen."""
        if depth > _MAX_DEPTH or node is None:
            return [WILD]
        found = list(dict.fromkeys(itertools.islice(self._texts(module, node, frame, depth + 1), _MAX_TEXTS + 1)))
        return found[:_MAX_TEXTS] if found and len(found) <= _MAX_TEXTS else [WILD]

    def _texts(self, module: Module, node: ast.AST, frame: Frame | None, depth: int) -> Iterator[str]:
        if isinstance(node, ast.Constant):
            yield node.value if isinstance(node.value, str) else str(node.value) if node.value is not None else WILD
        elif isinstance(node, ast.JoinedStr):
            parts = [self.texts(module, part, frame, depth) for part in node.values]
            yield from ("".join(each) for each in itertools.product(*parts))
        elif isinstance(node, ast.FormattedValue):
            yield from self.texts(module, node.value, frame, depth) if node.format_spec is None else [WILD]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            for left in self.texts(module, node.left, frame, depth):
                for right in self.texts(module, node.right, frame, depth):
                    yield left + right
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            yield from self._filled(module, str(node.left.value), given, frame, depth)
        elif isinstance(node, ast.IfExp):
            yield from self.texts(module, node.body, frame, depth)
            yield from self.texts(module, node.orelse, frame, depth)
        elif isinstance(node, ast.Name):
            yield from self._of_name(module, node, frame, depth)
        elif isinstance(node, ast.Call):
            yield from self._of_call(module, node, frame, depth)
        else:
            yield WILD

    def _filled(
        self, module: Module, template: str, given: list[ast.expr], frame: Frame | None, depth: int
    ) -> Iterator[str]:
        places = _PLACE.split(template)
        if len(places) - 1 != len(given):
            yield _PLACE.sub(WILD, template)
            return
        for texts in itertools.product(*(self.texts(module, each, frame, depth) for each in given)):
            yield places[0] + "".join(text + place for text, place in zip(texts, places[1:]))

    def _of_call(self, module: Module, node: ast.Call, frame: Frame | None, depth: int) -> Iterator[str]:
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == "format" and isinstance(func.value, ast.Constant):
            plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
            template = str(func.value.value)
            if plain:
                yield from self._filled(module, template, node.args, frame, depth)
            else:
                yield _PLACE.sub(WILD, template)
        elif isinstance(func, ast.Name) and func.id == "str" and len(node.args) == 1:
            yield from self.texts(module, node.args[0], frame, depth)
        else:
            yield WILD

    def _of_name(self, module: Module, node: ast.Name, frame: Frame | None, depth: int) -> Iterator[str]:
        outer = frame
        while outer is not None:
            if node.id in outer.names:
                yield from outer.names[node.id]
                return
            outer = outer.outer if outer.names else None
        found = module.lookup(module.scope_of(node, inner=False), node.id)
        if found is None:
            yield WILD
            return
        for binding in found[1]:
            yield from self._of_binding(module, binding, frame, depth)

    def _of_binding(self, module: Module, binding: Binding, frame: Frame | None, depth: int) -> Iterator[str]:
        if binding.kind == "value" and not binding.steps:
            yield from self.texts(module, binding.node, frame, depth)
        elif binding.kind == "value" and binding.steps[0] == "iter" and isinstance(binding.node, (ast.List, ast.Tuple)):
            for element in binding.node.elts:
                for step in binding.steps[1:]:
                    if not isinstance(element, (ast.Tuple, ast.List)) or not isinstance(step, int):
                        yield WILD
                        return
                    element = element.elts[step] if step < len(element.elts) else element
                yield from self.texts(module, element, frame, depth)
        elif binding.kind == "param" and isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from self._of_parameter(module, binding.node, binding.name, frame, depth)
        else:
            yield WILD

    def _of_parameter(
        self, module: Module, function: AnyFunction, name: str, frame: Frame | None, depth: int
    ) -> Iterator[str]:
        reached = frame
        while reached is not None and reached.function is not function:
            reached = reached.outer
        if reached is not None:
            given = argument_of(function, reached.call, reached.skip, name)
            if isinstance(given, ast.expr):
                yield from self.texts(reached.caller, given, reached.outer, depth)
            else:
                yield WILD
            return
        sites = self._program.sites(module, function)
        if not sites or len(sites) > _MAX_TEXTS:
            yield WILD
        for site in sites[:_MAX_TEXTS]:
            given = argument_of(function, site.call, site.skip, name) if site.direct else False
            if isinstance(given, ast.expr):
                yield from self.texts(site.module, given, None, depth)
            else:
                yield WILD
