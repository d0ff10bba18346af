"""PI103: a step made as `outer * steps_per_outer + inner`, where the factor changes with the data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.keys import argument_of
from instrument.audit.rule import AuditRule, Finding
from instrument.audit.rules._shared import called, local_values, names_in

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

_STEP = re.compile(r"step|iteration", re.IGNORECASE)
#: What an outer counter is not: an index of a process, or of an epoch over data of one size.
_NOT_OUTER = re.compile(r"rank|worker|shard|node|device|epoch|gpu|world", re.IGNORECASE)
#: What has one length for a whole run.
_FIXED = re.compile(
    r"load|dataset|^data$|^ds$|sampler|args|config|cfg|layers|devices|ranks|train_?set|corpus", re.IGNORECASE
)
_WHERE = re.compile(rb"step\w*\s*(?::\s*int\s*)?=[^=\n]*\*[^\n]*\+|step\w*\s*(?::\s*int\s*)?=[^=\n]*\+[^\n]*\*")


def check(context: AuditContext) -> Iterator[Finding]:
    for module in context.modules(b"step", where=_WHERE.search):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target: ast.expr = node.targets[0]
            elif isinstance(node, ast.AnnAssign):
                target = node.target
            else:
                continue
            name = (
                target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
            )
            if not _STEP.search(name) or node.value is None:
                continue
            parts = _product(node.value)
            if parts is None:
                continue
            outer, factor, inner = parts
            if _NOT_OUTER.search(" ".join(names_in(outer) | names_in(inner))):
                continue
            counted = _length(context, module, factor)
            if counted is not None:
                yield context.finding(
                    "PI103", module, node,
                    f"«{name}» is {module.code(outer)} * {module.code(factor)} + {module.code(inner)}, and "
                    f"{module.code(factor)} is {counted}: where it changes, steps go back and collide",
                    target=target, outer=outer, factor=factor, inner=inner,
                )  # fmt: skip


def _product(value: ast.expr) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """`outer * factor + inner`, in any order; the factor is what is counted."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    for product, inner in ((value.left, value.right), (value.right, value.left)):
        if (
            isinstance(product, ast.BinOp)
            and isinstance(product.op, ast.Mult)
            and isinstance(inner, (ast.Name, ast.Attribute))
        ):
            for outer, factor in ((product.left, product.right), (product.right, product.left)):
                if isinstance(outer, (ast.Name, ast.Attribute)) and isinstance(factor, (ast.Name, ast.Call)):
                    if not isinstance(factor, ast.Call) or called(factor) == "len":
                        if not isinstance(outer, ast.Name) or not re.search(r"num_|n_|per_|len", outer.id):
                            return outer, factor, inner
    return None


def _length(context: AuditContext, module: Module, factor: ast.expr) -> str | None:
    """`len(num_microbatches)`, where the factor is a length that differs from one outer step to the next."""
    for owner, value in _values(context, module, factor):
        if called(value) == "len" and isinstance(value, ast.Call) and len(value.args) == 1:
            measured = value.args[0]
            if isinstance(measured, ast.Name) and not _FIXED.search(measured.id) and not _constant(owner, measured):
                return owner.code(value)
    return None


def _values(context: AuditContext, module: Module, factor: ast.expr) -> Iterator[tuple[Module, ast.expr]]:
    if isinstance(factor, ast.Call):
        yield module, factor
        return
    assert isinstance(factor, ast.Name)
    yield from ((module, value) for value in local_values(module, factor))
    function = module.function(factor)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    found = module.lookup(module.scope_of(factor, inner=False), factor.id)
    if found is None or any(binding.kind != "param" for binding in found[1]):
        return
    for site in context.program.sites(module, function)[:12]:
        given = argument_of(function, site.call, site.skip, factor.id) if site.direct else None
        if isinstance(given, ast.Name):
            yield from ((site.module, value) for value in local_values(site.module, given))
        elif isinstance(given, ast.Call):
            yield site.module, given


def _constant(module: Module, name: ast.Name) -> bool:
    """Whether what is measured is written out, or is a name of the whole module."""
    found = module.lookup(module.scope_of(name, inner=False), name.id)
    if found is None or found[0].kind == "module":
        return True
    return any(isinstance(b.node, (ast.List, ast.Tuple, ast.Constant)) and not b.steps for b in found[1])


RULE = AuditRule(
    code="PI103",
    name="step-not-monotone",
    summary="A step is outer * steps_per_outer + inner, where steps_per_outer changes with the data.",
    why="With dynamic batches an outer step has now ten, now four inner ones. The product then jumps: outer step 5 with ten "
    "is 50 to 59, outer step 6 with four is 24 to 27. The curve goes back over itself, and a tracker that takes one point a "
    "step drops what comes second.",
    bad="steps_per_rollout = len(num_microbatches)\nstep = rollout_id * steps_per_rollout + i",
    good="step = state.train_steps  # counted up by one a step, kept in the checkpoint\nstate.train_steps += 1",
    fix="A counter of its own, counted up by one and kept in the trainer's checkpoint.",
    applicability="review",
    needles=(b"step",),
    check=check,
)
