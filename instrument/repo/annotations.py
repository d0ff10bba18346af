"""What annotations promise: instances of the types they name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.repo.module import Module
from instrument.repo.scopes import Scope, terminal
from instrument.repo.values import EMPTY, Box, Values, union
from instrument.repo.walk import adopt

if TYPE_CHECKING:
    from instrument.repo.names import Program

#: Types that say nothing about an instance.
PLAIN = ("builtins.", "typing.", "typing_extensions.", "collections.abc.", "abc.", "types.")

_WRAPPERS = frozenset(
    "Optional Union Annotated ClassVar Final Required NotRequired ReadOnly InitVar Awaitable Coroutine "
    "ContextManager AbstractContextManager AsyncContextManager AbstractAsyncContextManager".split()
)
_LISTS = frozenset(
    "list List tuple Tuple set Set frozenset FrozenSet Sequence MutableSequence Iterable Iterator Collection deque "
    "Deque Generator AsyncIterator AsyncIterable AsyncGenerator".split()
)
_DICTS = frozenset("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict".split())
_VALUES = frozenset("int float str bool bytes complex None Path PathLike Tensor ndarray TensorDict ObjectRef".split())


class Annotations:
    """The part of Program that reads annotations."""

    program: Program

    def start_annotations(self) -> None:
        self._parsed: dict[ast.AST, ast.expr | None] = {}

    def annotation(self, module: Module, scope: Scope, node: ast.AST | None) -> Values:
        """The values that an annotation promises."""
        if isinstance(node, ast.Constant):
            return self.annotation(module, scope, self._string(module, scope, node))
        if isinstance(node, ast.BinOp):
            return self.annotation(module, scope, node.left) | self.annotation(module, scope, node.right)
        if isinstance(node, ast.Subscript):
            return self._generic(module, scope, node)
        if not isinstance(node, ast.Name | ast.Attribute) or is_plain(node):
            return EMPTY
        values = self.program.expr(module, node)
        promised: Values = frozenset(
            f"{value}()"
            for value in values
            if isinstance(value, str) and not value.startswith(PLAIN) and not value.endswith((")", "]"))
        )
        alias = _alias(module, node)
        if alias is not None:
            promised |= self.program.memo.get(("alias", alias), self.annotation, module, module.scope, alias)
        return promised

    def _generic(self, module: Module, scope: Scope, node: ast.Subscript) -> Values:
        head = terminal(node.value) or ""
        inside = node.slice
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        if head in ("Literal", "TypeVar"):
            return EMPTY
        if head == "Annotated":
            parts = parts[:1]
        if head in _WRAPPERS:
            return union(self.annotation(module, scope, part) for part in parts)
        if head in ("type", "Type"):
            return frozenset(v[:-2] for v in self.annotation(module, scope, inside) if isinstance(v, str))
        if head == "Callable":
            made = self.annotation(module, scope, parts[-1])
            return frozenset((Box("callable", values=made),)) if made else EMPTY
        if head in _LISTS or head in _DICTS:
            if head in ("tuple", "Tuple") and not any(isinstance(part, ast.Constant) for part in parts):
                return frozenset((Box("tuple", items=tuple(self.annotation(module, scope, part) for part in parts)),))
            chosen = parts[-1:] if head in _DICTS else parts
            made = union(self.annotation(module, scope, part) for part in chosen)
            return frozenset((Box("bag", values=made),))
        return self.annotation(module, scope, node.value)

    def _string(self, module: Module, scope: Scope, node: ast.Constant) -> ast.expr | None:
        """A string annotation as an expression of the file."""
        if node not in self._parsed:
            self._parsed[node] = None
            if isinstance(node.value, str):
                try:
                    expression = ast.parse(node.value.strip(), mode="eval").body
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return None
                adopt(expression, node, scope, module.index)
                self._parsed[node] = expression
        return self._parsed[node]


def _alias(module: Module, node: ast.AST) -> ast.AST | None:
    """`Run = Optional[wandb.Run]` at module level."""
    if isinstance(node, ast.Name):
        for binding in module.scope.names.get(node.id, ()):
            if binding.kind == "value" and isinstance(binding.node, ast.Subscript | ast.BinOp):
                return binding.node
    return None


def is_plain(annotation: ast.expr | None) -> bool:
    """Whether an annotation names only types that no name can be taken from, as in `step: int | None`."""
    if isinstance(annotation, ast.Constant):
        return annotation.value is None or annotation.value in _VALUES
    if isinstance(annotation, ast.BinOp):
        return is_plain(annotation.left) and is_plain(annotation.right)
    if isinstance(annotation, ast.Subscript) and terminal(annotation.value) in ("Optional", "Union"):
        inside = annotation.slice
        return all(is_plain(part) for part in (inside.elts if isinstance(inside, ast.Tuple) else [inside]))
    return annotation is not None and terminal(annotation) in _VALUES
