"""Miles, slime and their forks as a whole: sections at the one place that all rows pass, domains, means over what is there.

Read off Miles of 2026-04 (functions in `utils/tracking_utils.py`) to 2026-08 (`utils/tracking_utils/tracking.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.fixes import Fixed
from instrument.audit.fixes._edits import Writer, quoted
from instrument.audit.fixes._funnel import funnels, is_sectioned, sections
from instrument.audit.fixes._module import imported, new_file, path_of
from instrument.plan.place import after
from instrument.repo.scopes import arguments_of

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.repo.module import Module

_DOMAINS = "the same metrics for each domain beside those of all samples"
_SPARSE = "a mean over the ranks that have the key"
#: Where trainers of this family say of a sample what it is of.
_KEYS = ("domain", "data_source", "dataset", "task")


def whole(context: AuditContext) -> Iterator[tuple[Finding, Fixed | str]]:
    """What a fork of Miles is given beyond its findings."""
    found = list(funnels(context))
    for module, function in found:
        if not is_sectioned(function):
            text = "rows of a user's own rollout function come through here without sections"
            yield context.finding("PI106", module, function, text), sections(context, module, function)
    if found:
        yield from _domains(context)
        yield from _means(context)


# -- domains


def _domains(context: AuditContext) -> Iterator[tuple[Finding, Fixed | str]]:
    """`log_dict |= dict_add_prefix(compute_metrics_from_samples(args, samples), "rollout/")`: and by domain."""
    for module in context.modules(b"dict_add_prefix"):
        for call in module.calls():
            stmt = module.parent(call)
            if not (isinstance(call.func, ast.Name) and call.func.id == "dict_add_prefix" and len(call.args) == 2):
                continue
            inner, prefix = call.args
            if not (isinstance(stmt, ast.AugAssign) and isinstance(stmt.op, ast.BitOr) and stmt.value is call):
                continue
            if not (isinstance(prefix, ast.Constant) and prefix.value == "rollout/"):
                continue
            if isinstance(inner, ast.Call) and len(inner.args) == 2 and isinstance(inner.args[1], ast.Name):
                yield from _domain(context, module, stmt, inner, prefix)


def _domain(
    context: AuditContext, module: Module, stmt: ast.AugAssign, inner: ast.Call, prefix: ast.Constant
) -> Iterator[tuple[Finding, Fixed | str]]:
    function = module.function(stmt)
    samples = inner.args[1]
    known = function is not None and any(arg.arg == module.code(samples) for arg in arguments_of(function))
    block, position = module.block(stmt)
    follows = block[position + 1] if position + 1 < len(block) else None
    done = isinstance(follows, ast.For) and "by_domain(" in module.code(follows.iter)
    if not known or done:
        return
    finding = context.finding(
        "PI106", module, stmt, f"one series for the samples of all domains: {module.code(inner.func)} has them apart",
    )  # fmt: skip
    writer = Writer("PI106", module, stmt, "review")
    path = path_of(context, module, "metric_domains")
    made = new_file(context, path, _DOMAINS, "PI106", keys=[quoted(module, key) for key in _KEYS])
    taken = module.scope_names(stmt)
    domain, part = (next(name for name in (base, f"{base}_") if name not in taken) for base in ("domain", "part"))
    mark = str(quoted(module, "x"))[0]
    lines = [
        f"for {domain}, {part} in by_domain({module.code(samples)}).items():",
        f"    {module.code(stmt.target)}.update(dict_add_prefix({module.code(inner.func)}({module.code(inner.args[0])}, {part}), "
        f"f{mark}rollout/{{{domain}}}/{mark}))",
    ]
    if made is None or not writer.put(after(module, stmt, lines), _DOMAINS):
        yield finding, f"{path} is there already, with something else in it"
    elif not imported(context, module, "metric_domains", "by_domain", writer, _DOMAINS):
        yield finding, "by_domain can't be imported there"
    else:
        yield finding, Fixed(edits=tuple(writer.edits), new_files=(made,), applicability="review")


# -- means over ranks


def _means(context: AuditContext) -> Iterator[tuple[Finding, Fixed | str]]:
    """`{f"{name}/{k}": sum([d[k] for d in parts]) / n for k in row}`: a key that a rank lacks stops it."""
    for module in context.modules(b"gather_object"):
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.DictComp) or len(node.generators) != 1 or node.generators[0].ifs:
                continue
            parts, key = _gathered(node), node.generators[0].target
            if parts is None or not isinstance(key, ast.Name):
                continue
            finding = context.finding(
                "PI105",
                module,
                node,
                "the mean over ranks wants every key of each: what a rank has not measured must be made up",
            )
            writer = Writer("PI105", module, node, "review")
            path = path_of(context, module, "sparse_metrics")
            made = new_file(context, path, _SPARSE, "PI105")
            if made is None or not imported(context, module, "sparse_metrics", "sparse_mean", writer, _SPARSE):
                yield finding, f"{path} is there already, with something else in it"
                continue
            value = "value" if key.id != "value" else "mean"
            text = f"{{{module.code(node.key)}: {value} for {key.id}, {value} in sparse_mean({parts}).items()}}"
            writer.replace(node, text, _SPARSE)
            yield finding, Fixed(edits=tuple(writer.edits), new_files=(made,), applicability="review")


def _gathered(node: ast.DictComp) -> str | None:
    """The name of the rows that a comprehension takes the mean of, key by key."""
    value, key = node.value, node.generators[0].target
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and isinstance(value.left, ast.Call)):
        return None
    call = value.left
    if not (isinstance(call.func, ast.Name) and call.func.id == "sum" and len(call.args) == 1):
        return None
    inner = call.args[0]
    if not isinstance(inner, (ast.ListComp, ast.GeneratorExp)) or len(inner.generators) != 1 or inner.generators[0].ifs:
        return None
    item, generator = inner.elt, inner.generators[0]
    if not (isinstance(item, ast.Subscript) and isinstance(item.value, ast.Name) and isinstance(item.slice, ast.Name)):
        return None
    if not (
        isinstance(generator.target, ast.Name) and isinstance(generator.iter, ast.Name) and isinstance(key, ast.Name)
    ):
        return None
    same = item.slice.id == key.id and item.value.id == generator.target.id
    return generator.iter.id if same else None
