"""Finding what is instrumented already, by an earlier apply or by hand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.place import suites

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

#: How far from a tracker's call its counterpart may stand, in statements.
NEAR = 3


class ProbeCalls:
    """The calls of one file that go to Probe: `probe.init`, `probe.log`, `probe.finish`, by whatever name."""

    def __init__(self, context: Context, module: Module) -> None:
        self._module = module
        self.alias = context.tracking.existing_alias(module)
        self.by_method: dict[str, list[ast.Call]] = {}
        self._used: set[ast.Call] = set()
        self._ours = b"probe_tracking" in module.source.data or b"probe-instrument" in module.source.data
        if self.alias is None:
            return
        for call in module.calls():
            func = call.func
            if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == self.alias:
                self.by_method.setdefault(func.attr, []).append(call)

    def counterpart(self, node: ast.expr | ast.stmt, method: str, reach: int = NEAR) -> bool:
        """Whether a tracker's call has its Probe counterpart near it, each counterpart counted once.

        With a reach of 1 only what stands right beside it counts: those are told apart first.
        """
        candidates = [c for c in self.by_method.get(method, []) if c not in self._used]
        if not candidates:
            return False
        stmt = self._module.statement(node)
        near = self._near(stmt, reach)
        for call in candidates:
            if any(call in near_nodes for near_nodes in near):
                self._used.add(call)
                return True
        if self._ours:
            return False  # an earlier apply, which writes them side by side
        if reach < NEAR:
            return False
        # Instrumented by hand in another way: as many counterparts in the function as there are calls in it.
        function = self._module.function(node)
        for call in candidates:
            if function is not None and self._module.function(call) is function:
                self._used.add(call)
                return True
        return False

    def _near(self, stmt: ast.stmt, reach: int) -> list[set[ast.AST]]:
        block, index = self._module.block(stmt)
        near = block[max(0, index - reach) : index + reach + 1]
        ordered = sorted(near, key=lambda other: abs(block.index(other) - index))
        result = []
        for other in ordered:
            nodes = set(ast.walk(other))
            if other is not stmt:
                # What is inside a neighbour's own suites stands beside other calls.
                if isinstance(other, (ast.If, ast.With)) and len(other.body) == 1:
                    result.append(nodes)
                    continue
                for suite in suites(other):
                    for inner in suite:
                        nodes -= set(ast.walk(inner))
            result.append(nodes)
        return result
