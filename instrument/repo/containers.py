"""Items, loops and `with`: how values are taken out of values."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from instrument.repo.module import Module
from instrument.repo.scopes import Step
from instrument.repo.values import EMPTY, REPO, Box, Value, Values, boxes, constant, ordered, union

if TYPE_CHECKING:
    from instrument.repo.names import Program

SEQUENCES = (ast.List, ast.Tuple, ast.Set)


class Containers:
    """The part of Program that knows what containers hold."""

    program: Program

    def steps(self, module: Module, values: Values, steps: Iterable[Step]) -> Values:
        """Take values out of values, as unpacking, loops and `with` do."""
        for step in steps:
            if not values:
                break
            if step == "iter":
                values = self.iterate(values)
            elif step == "enter":
                values = self.enter(values)
            elif step != "rest":
                values = self.item(values, step)
        return values

    # -- items -------------------------------------------------------------------------------------------------------

    def item(self, values: Values, key: object) -> Values:
        """What `value[key]` may be; `key` is a constant, or None where it is not known."""
        results: set[Value] = set()
        for value in ordered(values):
            if isinstance(value, Box):
                put = value.binding
                if key is not None and put is not None and isinstance(put.key, ast.Constant) and put.key.value != key:
                    continue
                results |= self.program.memo.get(("item", value, key), self._box_item, value, key)
            elif value.startswith(REPO):
                results |= self.method(value, "__getitem__")
            else:
                results |= _element(value)
        return frozenset(results)

    def _box_item(self, box: Box, key: object) -> Values:
        expr, module, node, binding = self.program.expr, box.module, box.node, box.binding
        if box.kind == "bag":
            return box.values
        if box.kind == "tuple":
            inside = isinstance(key, int) and -len(box.items) <= key < len(box.items)
            return box.items[key] if inside and isinstance(key, int) else union(box.items)
        if module is None:
            return EMPTY
        if binding is not None:
            if binding.kind == "merge":
                return self.item(expr(module, binding.node), key)
            put = constant(binding.key)
            if key is not None and put is not None and put != key:
                return EMPTY
            return self.steps(module, expr(module, binding.node), binding.steps)
        if isinstance(node, SEQUENCES) and isinstance(key, int):
            elements = node.elts
            if not any(isinstance(element, ast.Starred) for element in elements):
                return expr(module, elements[key]) if -len(elements) <= key < len(elements) else EMPTY
        if isinstance(node, ast.Dict):
            return self._dict_item(module, node, key)
        if isinstance(node, ast.DictComp):
            return expr(module, node.value)
        if isinstance(node, ast.Call):
            return self._call_item(module, node, box, key)
        return self.iterate(frozenset((box,)))

    def _dict_item(self, module: Module, node: ast.Dict, key: object) -> Values:
        results: set[Value] = set()
        for entry, value in zip(node.keys, node.values):
            if entry is None:
                results |= self.item(self.program.expr(module, value), key)
                continue
            named = constant(entry)
            if key is None or named is None or named == key:
                results |= self.program.expr(module, value)
        return frozenset(results)

    def _call_item(self, module: Module, node: ast.Call, box: Box, key: object) -> Values:
        expr = self.program.expr
        if box.kind in ("keywords", "namespace"):
            return union(
                expr(module, k.value) if k.arg else self.item(boxes(expr(module, k.value)), key)
                for k in node.keywords
                if k.arg is None or key is None or k.arg == key
            )
        if box.kind == "rest" and isinstance(key, int) and key >= 0:
            given = node.args[box.start :]
            if not any(isinstance(argument, ast.Starred) for argument in given):
                return expr(module, given[key]) if key < len(given) else EMPTY
        if box.kind == "pair":
            return EMPTY if key == 0 else self.item(self._receiver(module, node), None)
        if box.kind == "counted":
            return EMPTY if key == 0 else self.iterate(self.first(module, node))
        if box.kind == "row":
            if isinstance(key, int):
                return self.iterate(expr(module, node.args[key])) if -len(node.args) <= key < len(node.args) else EMPTY
            return union(self.iterate(expr(module, argument)) for argument in node.args)
        return self.iterate(frozenset((box,)))

    def _receiver(self, module: Module, node: ast.Call) -> Values:
        """The containers that a method is called on."""
        return boxes(self.program.expr(module, node.func.value)) if isinstance(node.func, ast.Attribute) else EMPTY

    def first(self, module: Module, node: ast.Call) -> Values:
        """A call's first argument."""
        if not node.args:
            return EMPTY
        given = node.args[0]
        if isinstance(given, ast.Starred):
            return self.iterate(self.program.expr(module, given.value))
        return self.program.expr(module, given)

    # -- loops -------------------------------------------------------------------------------------------------------

    def iterate(self, values: Values) -> Values:
        """What a loop over these values gives."""
        results: set[Value] = set()
        for value in ordered(values):
            if isinstance(value, Box):
                results |= self.program.memo.get(("iter", value), self._box_elements, value)
            elif value.startswith(REPO):
                results |= self.iterate(boxes(self.method(value, "__iter__"))) | self.method(value, "__next__")
            else:
                results |= _element(value)
        return frozenset(results)

    def _box_elements(self, box: Box) -> Values:
        expr, module, node, binding = self.program.expr, box.module, box.node, box.binding
        if box.kind == "bag":
            return box.values
        if box.kind == "tuple":
            return union(box.items)
        if module is None:
            return EMPTY
        if binding is not None:
            if binding.key is not None or binding.kind != "item":
                return EMPTY
            return self.steps(module, expr(module, binding.node), binding.steps)
        if isinstance(node, SEQUENCES):
            return self._elements(module, node.elts)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return expr(module, node.elt)
        if box.kind == "yields" and node is not None:
            scope = module.index.inner[node]
            given = union(expr(module, value) for value in scope.yields)
            return given | union(self.iterate(expr(module, value)) for value in scope.delegates)
        return self._call_elements(module, node, box) if isinstance(node, ast.Call) else EMPTY

    def _call_elements(self, module: Module, node: ast.Call, box: Box) -> Values:
        if box.kind == "rest":
            return self._elements(module, node.args[box.start :])
        if box.kind == "values":
            return self.item(self._receiver(module, node), None)
        if box.kind in _LOOPED:
            return frozenset((Box(_LOOPED[box.kind], module, node),))
        if box.kind == "map":
            return union(self.program.called(module, node, function) for function in ordered(self.first(module, node)))
        if box.kind in ("pair", "counted", "row"):
            return self._call_item(module, node, box, None)
        return EMPTY

    def _elements(self, module: Module, elements: Iterable[ast.expr]) -> Values:
        expr = self.program.expr
        return union(
            self.iterate(expr(module, e.value)) if isinstance(e, ast.Starred) else expr(module, e) for e in elements
        )

    # -- with --------------------------------------------------------------------------------------------------------

    def enter(self, values: Values) -> Values:
        """What `with value as name` binds: what `__enter__` returns or the generator yields, else the value itself."""
        results: set[Value] = set()
        for value in ordered(values):
            own = frozenset((value,))
            if isinstance(value, Box):
                results |= self.iterate(own) if value.kind == "yields" else own
            elif value.startswith(REPO):
                results |= self.method(value, "__enter__") or self.method(value, "__aenter__") or own
            else:
                results |= own
        return frozenset(results)

    def method(self, value: str, name: str) -> Values:
        """What a method of an instance of this repository's classes gives when it is called."""
        if not value.endswith("()"):
            return EMPTY
        program = self.program
        return union(
            program.returned(owner, node)
            for found in ordered(program.repo_attribute(value, name))
            if isinstance(found, str)
            for owner, node in program.entities(found)
        )


_LOOPED = {"items": "pair", "enumerate": "counted", "zip": "row"}


def _element(name: str) -> Values:
    """An element of something foreign."""
    return EMPTY if name.startswith("builtins.") or name.count("[") > 2 else frozenset((name + "[]",))
