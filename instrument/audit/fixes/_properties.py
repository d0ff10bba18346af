"""Properties that give a zero for want of a measurement: they give None, and means of them are made of what there is."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from instrument.audit.fixes import Fixed
from instrument.audit.fixes._edits import Writer, free_name
from instrument.patch.declared import minimum_python
from instrument.plan.place import indent_of, indent_unit, one_line_suite

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.repo.module import Module

_WHY = "None where nothing was measured, instead of a zero"
_MEAN = "a mean of those that were measured, or no key"


class Properties:
    """The properties of one repository, with the places that read them."""

    def __init__(self, context: AuditContext) -> None:
        self._context = context
        self._made: dict[tuple[str, int], Fixed | str] = {}

    def fix(self, module: Module, result: ast.expr) -> Fixed | str:
        """The property gives None, and each mean of it is made of what is there. Says why where that can't be."""
        memo = (module.path, module.start(result))
        if memo not in self._made:
            self._made[memo] = self._fix(module, result)
        return self._made[memo]

    def counted(self, module: Module, node: ast.AugAssign, findings: Sequence[Finding]) -> Fixed | str:
        """What is added up for such a property: settled where the ratio is made."""
        assert isinstance(node.target, ast.Attribute)
        name, owner = node.target.attr, module.enclosing_class(node)
        for other in findings:
            part = other.node
            if other.module is not module or other.facts.get("kind") != "property" or not isinstance(part, ast.expr):
                continue
            reads = {n.attr for n in ast.walk(part) if isinstance(n, ast.Attribute)}
            if module.enclosing_class(part) is owner and name in reads:
                return self.fix(module, part)
        return "counts add up from nothing: leave the key out where the ratio is made"

    def _fix(self, module: Module, result: ast.expr) -> Fixed | str:
        function = module.function(result)
        if not isinstance(function, ast.FunctionDef) or not isinstance(result, ast.IfExp):
            return "the property is written in a way that is not followed: let it give None by hand"
        writer = Writer("PI105", module, result, "review")
        writer.replace(result.orelse, "None", _WHY)
        if isinstance(function.returns, ast.Name):
            kind = f"{function.returns.id} | None"
            writer.replace(function.returns, kind if self._has_unions(module) else f'"{kind}"', _WHY)
        for reader, node in self._readers(function.name):
            if not self._mean(reader, node, writer):
                line = reader.source.line_of(reader.start(node))
                return f"«{function.name}» is read in {reader.path}:{line} as a number: let it give None by hand"
        return Fixed(edits=tuple(writer.edits), applicability="review")

    def _has_unions(self, module: Module) -> bool:
        """Whether `X | None` may stand as an annotation: from Python 3.10 on, or where annotations are not evaluated."""
        return minimum_python(self._context.repo, module.path) >= (3, 10) or any(
            isinstance(stmt, ast.ImportFrom)
            and stmt.module == "__future__"
            and "annotations" in {a.name for a in stmt.names}
            for stmt in module.tree.body
        )

    def _readers(self, name: str) -> list[tuple[Module, ast.Attribute]]:
        found = []
        for module in self._context.modules(name.encode()):
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
                    found.append((module, node))
        return found

    def _mean(self, module: Module, read: ast.Attribute, writer: Writer) -> bool:
        """`row["k"] = sum(s.rate for s in samples) / n` becomes a mean of those that are not None."""
        made = module.parent(read)
        call = module.parent(made) if made is not None else None
        quotient = module.parent(call) if call is not None else None
        stmt = module.parent(quotient) if quotient is not None else None
        if not (
            isinstance(made, (ast.GeneratorExp, ast.ListComp))
            and made.elt is read
            and len(made.generators) == 1
            and not made.generators[0].ifs
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "sum"
            and len(call.args) == 1
            and isinstance(quotient, ast.BinOp)
            and isinstance(quotient.op, ast.Div)
            and quotient.left is call
            and isinstance(stmt, ast.Assign)
            and len(stmt.targets) == 1
            and isinstance(stmt.targets[0], ast.Subscript)
            and not one_line_suite(module, stmt)
        ):
            return False
        part, generator = module.code(read), made.generators[0]
        name = free_name(module, stmt, ("measured", "measured_values"))
        indent = indent_of(module, stmt)
        newline = module.source.newline + indent
        loop = f"for {module.code(generator.target)} in {module.code(generator.iter)}"
        text = (
            f"{name} = [{part} {loop}]{newline}"
            f"{name} = [value for value in {name} if value is not None]{newline}"
            f"if {name}:{newline}{indent_unit(module)}{module.code(stmt.targets[0])} = sum({name}) / len({name})"
        )
        writer.replace(stmt, text, _MEAN, module)
        return True
