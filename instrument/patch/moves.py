"""Expressions that were moved into a name: evaluated once, at the same point, in the same order.

`wandb.log(metrics(), step=next_step())` may become

    logged, step = ...                       # no: two at once is not what is planned
    logged = metrics()
    step = next_step()
    wandb.log(logged, step=step)             # yes

or, where no statement can stand, `(probe.log((m := metrics())), wandb.log(m))[1]`. Whatever the original evaluated
before a moved expression, inside that statement, must be moved as well, or do nothing but look at names.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NoReturn

from instrument.patch.spans import Spans
from instrument.repo.source import PythonSource

#: Methods that change what they are called on: a name must hold, when it is used, what was evaluated into it.
_MUTATORS = frozenset(
    ("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault",
     "sort", "update")
)  # fmt: skip
_CONDITIONAL = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Fail = Callable[[str, int], NoReturn]


class Moves:
    """The moved expressions of one result. `values` maps each name that stands for one (by id) to the expression."""

    def __init__(self, source: PythonSource, tree: ast.Module, spans: Spans, fail: Fail) -> None:
        self._source = source
        self._spans = spans
        self._fail = fail
        self.values: dict[int, ast.expr] = {}
        if not spans.moved:
            return
        self._parents: dict[int, ast.AST] = {}
        self._names = self._find(tree)
        groups: dict[int, tuple[ast.AST, dict[int, int]]] = {}
        bindings: list[ast.Assign | ast.NamedExpr] = []
        for name in self._names.values():
            whole, binding = self._binding(name)
            bindings.append(binding)
            self.values[id(name)] = binding.value
            groups.setdefault(id(whole), (whole, {}))[1][id(name)] = source.start(binding)
        for whole, bound in groups.values():
            self._check_order(whole, bound)
        for binding in bindings:  # what is left of it, when it is judged as inserted code, is the name alone
            binding.value = ast.copy_location(ast.Constant(value=None), binding.value)

    def _find(self, tree: ast.Module) -> dict[int, ast.Name]:
        """The names that stand at the moved spans; the parents of all nodes near them are noted on the way."""
        wanted = {(span.start, span.end): span for span in self._spans.moved}
        lines = sorted(self._source.line_of(span.start) for span in self._spans.moved)
        found = {}
        stack: list[ast.AST] = [tree]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                span = wanted.pop((self._source.start(node), self._source.end(node)), None)
                if span is not None:
                    found[id(node)] = node
            for child in ast.iter_child_nodes(node):
                self._parents[id(child)] = node
                if not isinstance(child, ast.stmt) or _any_between(lines, child.lineno, child.end_lineno or 0):
                    stack.append(child)
        for span in wanted.values():
            self._fail(f"«{span.text}» was to stand for an expression, but is no name there", span.start)
        return found

    def _binding(self, name: ast.Name) -> tuple[ast.AST, ast.Assign | ast.NamedExpr]:
        """What the name is evaluated in (a statement, or one side of a pair), and where it is bound."""
        node: ast.AST = name
        while not isinstance(node, ast.stmt):
            parent = self._parents[id(node)]
            if isinstance(parent, ast.Tuple) and isinstance(node, ast.expr) and self._inserted(parent):
                for item in parent.elts[: parent.elts.index(node)]:
                    for walrus in _walruses(item):
                        if _is_name(walrus.target, name.id) and self._inserted(walrus):
                            return node, walrus
            node = parent
        return node, self._assignment(name, node)

    def _assignment(self, name: ast.Name, stmt: ast.stmt) -> ast.Assign:
        suite = _suite(self._parents[id(stmt)], stmt)
        at = self._source.start(name)
        for other in reversed(suite[: suite.index(stmt)]):
            if not self._inserted(other):
                break
            if isinstance(other, ast.Assign) and len(other.targets) == 1 and _is_name(other.targets[0], name.id):
                return other
            if _changes(other, name.id):
                self._fail(f"«{name.id}» is changed between its assignment and its use", at)
        self._fail(f"«{name.id}» stands for an expression, but is not assigned in the same block just above", at)

    def _check_order(self, whole: ast.AST, bound: dict[int, int]) -> None:
        at, effect, last = self._source.start(whole), None, -1
        seen = 0
        for event in self._evaluated(whole):
            if id(event) not in bound:
                effect = effect or event
                continue
            seen += 1
            name = self._names[id(event)]
            if effect is not None:
                code = self._source.code(effect) if hasattr(effect, "lineno") else "something"
                self._fail(f"«{name.id}» is evaluated before «{code}», which came first", self._source.start(name))
            if bound[id(event)] < last:
                self._fail(f"«{name.id}» is evaluated in another order than before", self._source.start(name))
            last = bound[id(event)]
        if seen != len(bound):
            self._fail("an expression was moved out of a place that is not evaluated exactly once", at)

    # -- order of evaluation: yields each moved name, and a node for everything that may have an effect

    def _evaluated(self, whole: ast.AST) -> Iterator[ast.AST]:
        if isinstance(whole, ast.expr):
            yield from self._expression(whole)
        elif isinstance(whole, (ast.Expr, ast.Return)):
            yield from self._maybe(whole.value)
        elif isinstance(whole, ast.Assign):
            yield from self._each([whole.value, *whole.targets])
        elif isinstance(whole, ast.AnnAssign):
            yield from self._maybe(whole.value)
        elif isinstance(whole, ast.AugAssign):
            yield from self._each([whole.target, whole.value])
        elif isinstance(whole, ast.If):
            yield from self._expression(whole.test)
        elif isinstance(whole, ast.For):
            yield from self._expression(whole.iter)
        elif isinstance(whole, ast.With):
            yield from self._expression(whole.items[0].context_expr)
        elif isinstance(whole, ast.Match):
            yield from self._expression(whole.subject)
        elif isinstance(whole, ast.Raise):
            yield from self._maybe(whole.exc)
        # A `while` test is evaluated again and again, an assertion not under -O, a default in another order.

    def _each(self, nodes: list[ast.expr]) -> Iterator[ast.AST]:
        for node in nodes:
            yield from self._expression(node)

    def _maybe(self, node: ast.expr | None) -> Iterator[ast.AST]:
        if node is not None:
            yield from self._expression(node)

    def _expression(self, node: ast.expr) -> Iterator[ast.AST]:
        if id(node) in self._names:
            yield node
        elif isinstance(node, (ast.Constant, ast.Name)) or self._wholly_inserted(node):
            return
        elif isinstance(node, (ast.Attribute, ast.Starred)):
            yield from self._expression(node.value)
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            yield from self._each(node.elts)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                yield from self._maybe(key)
                yield from self._expression(value)
                if key is None:
                    yield value
        elif isinstance(node, ast.NamedExpr):
            yield from self._expression(node.value)
            if not self._inserted(node):
                yield node
        elif isinstance(node, ast.Call):
            yield from self._each([node.func, *node.args, *(keyword.value for keyword in node.keywords)])
            yield node
        elif isinstance(node, ast.Subscript):
            yield from self._each([node.value, node.slice])
            if not isinstance(node.slice, ast.Constant):
                yield node
        elif isinstance(node, ast.UnaryOp):
            yield from self._expression(node.operand)
            if not isinstance(node.operand, ast.Constant):
                yield node
        elif isinstance(node, ast.BinOp):
            yield from self._each([node.left, node.right])
            yield node
        elif isinstance(node, ast.BoolOp):
            yield from self._expression(node.values[0])
            yield node
        elif isinstance(node, ast.Compare):
            yield from self._each([node.left, node.comparators[0]])
            yield node
        elif isinstance(node, ast.IfExp):
            yield from self._expression(node.test)
            yield node
        elif isinstance(node, (ast.Await, ast.YieldFrom, ast.Yield)):
            yield from self._maybe(node.value)
            yield node
        elif isinstance(node, ast.JoinedStr) and any(id(part) in self._names for part in ast.walk(node)):
            # f"{epoch}: {np.mean(losses):.3f}": inside one text, to format a value is to look at it.
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from self._expression(part.value)
                    yield from self._maybe(part.format_spec)
        else:  # lambdas, comprehensions, other f-strings, slices: nothing is moved out of them
            yield node

    # -- small questions

    def _inserted(self, node: ast.AST) -> bool:
        return self._spans.is_inserted(self._source.start(node))

    def _wholly_inserted(self, node: ast.expr) -> bool:
        start, end = self._source.start(node), self._source.end(node)
        return any(span.start <= start and end <= span.end for span in self._spans.inserted)


def _any_between(numbers: list[int], low: int, high: int) -> bool:
    at = bisect_left(numbers, low)
    return at < len(numbers) and numbers[at] <= high


def _walruses(node: ast.expr) -> Iterator[ast.NamedExpr]:
    """Assignment expressions in a node that are evaluated whenever it is."""
    if isinstance(node, ast.NamedExpr):
        yield node
        yield from _walruses(node.value)
    elif not isinstance(node, (*_CONDITIONAL, ast.IfExp, ast.BoolOp, ast.Compare)):
        for child in ast.iter_child_nodes(node):
            child = child.value if isinstance(child, ast.keyword) else child
            if isinstance(child, ast.expr):
                yield from _walruses(child)


def _suite(parent: ast.AST, stmt: ast.stmt) -> list[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and stmt in block:
            return block
    return [stmt]


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _changes(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name anew, deletes it, or plainly changes what it holds."""
    for node in ast.walk(stmt):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            if _is_name(node if isinstance(node, ast.Name) else node.value, name):
                return True
        elif isinstance(node, ast.Attribute) and node.attr in _MUTATORS and _is_name(node.value, name):
            return True
    return False
