"""PI105: a mean, ratio or rate that is said to be zero where nothing was measured."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from instrument.audit.rule import AuditRule, Finding
from instrument.audit.rules._shared import called, is_zero, local_values, names_in

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

#: What a property or a method gives in one line.
_GIVEN = re.compile(rb"return[^\n]*(?:\n[^\n]*){0,4}?\belse\s+0(?:\.0*)?\b")
_MEANS = frozenset("mean nanmean average median fmean std nanstd percentile quantile".split())
#: What raises, or warns, when it is given nothing.
_FAIL = _MEANS | {"min", "max", "amin", "amax"}
_RATIO = re.compile(
    r"(?:^|[_/\-. ])(?:mean|avg|average|ratio|rate|frac|fraction|percent|percentage|pct|std|median|accuracy|precision|recall|f1|"
    r"mfu|utilization|per_\w+)(?:$|[_/\-. ])"
)
_COUNT = re.compile(r"(?:^|[_/])(?:num|n|count|counts|total|sum|size)(?:$|[_/])")
#: A key with a section, which no path or address looks like.
_SECTIONED = re.compile(r"[A-Za-z][\w\-.@{}\0]*(?:/[\w\-.@{}\0]+)+")
_METRIC_CODE = re.compile(rb"metric|stat(?:s|istics)|log_|_log|report|summar", re.IGNORECASE)
#: A key with a value that has a zero default a few lines on; a key that is set to nothing; a function of metrics that gives it.
_INLINE = re.compile(
    rb"""["']\s*(?:\]\s*=|:)(?!:)(?:[^\n]*\n){0,5}?[^\n]*\belse\s+0(?:\.0*)?\b"""
    rb"""|["']\s*:\s*\(?\s*0(?:\.0*)?\s+if\b|["']\s*\]\s*=\s*(?:0(?:\.0*)?\s*$|\[0(?:\.0*)?\]\s*\*)|def \w*metric""",
    re.MULTILINE,
)
_NOT_METRIC = re.compile(r"url|path|http|/v\d|text/|application/", re.IGNORECASE)
#: Time that has always passed: such a test only keeps a division from failing.
_CLOCK = re.compile(r"time|elapsed|duration|seconds|wall", re.IGNORECASE)
_MEASURES = re.compile(r"metric|meter|accumulator", re.IGNORECASE)


def check(context: AuditContext) -> Iterator[Finding]:
    seen: set[int] = set()
    for finding in (*_in_rows(context), *_written_out(context), *_in_classes(context)):
        if id(finding.node) not in seen:
            seen.add(id(finding.node))
            yield finding


def _found(context: AuditContext, module: Module, node: ast.AST, what: str, why: str, **facts: Any) -> Finding:
    return context.finding("PI105", module, node, f"{what} is 0 where {why}: nothing was measured", what=what, **facts)


# -- what reaches a tracker


def _in_rows(context: AuditContext) -> Iterator[Finding]:
    """Values of rows, followed back to where they are made."""
    properties = dict.fromkeys(
        part.attr
        for sink in context.sinks
        for entry in context.entries(sink)
        if entry.value is not None
        for part in ast.walk(entry.value)
        if isinstance(part, ast.Attribute)
    )
    done: set[int] = set()
    for sink in context.sinks:
        for entry in context.entries(sink):
            if entry.value is not None and id(entry.value) not in done and context.repo.editable(entry.module.path):
                done.add(id(entry.value))
                yield from _value(context, entry.module, entry.key, entry.value)
            properties.setdefault(entry.key.rpartition("/")[2])
    yield from _properties(context, set(properties))


def _value(context: AuditContext, module: Module, key: str, value: ast.expr, depth: int = 0) -> Iterator[Finding]:
    what = f"«{key}»".replace("\0", "{…}") if key.strip("\0") else "a metric"
    made = _zero_default(value)
    if made is not None and _never_so(module, value, made[1]):
        return
    if made is not None:
        yield from _filled(context, module, what, made[0])
        if not _is_count(key, made[0]) and _is_ratio(key, made[0]):
            yield _found(context, module, value, what, _unless(module, made), kind="default", value=value)
        return
    got = _got(value)
    if got is not None and _RATIO.search(key.lower()) and not _COUNT.search(key.lower()):
        yield _found(context, module, value, what, f"«{got}» is missing", kind="get", value=value)
    if depth > 2:
        return
    if isinstance(value, ast.Name):
        for bound in local_values(module, value):
            yield from _value(context, module, key, bound, depth + 1)
    elif isinstance(value, ast.Call):
        if called(value) in ("float", "int", "round") and value.args:
            yield from _value(context, module, key, value.args[0], depth + 1)
            return
        for owner, function in context.program.definitions(module, value.func)[:1]:
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and context.repo.editable(owner.path):
                yield from _returned(context, owner, function, key, depth)
    yield from _filled(context, module, what, value)


def _returned(
    context: AuditContext, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, key: str, depth: int = 0
) -> Iterator[Finding]:
    """What a function gives for a metric: `return a / b if b else 0.0`; `if not values: return 0.0` before a mean."""
    results = module.index.inner[function].returns
    for result in results:
        if not is_zero(result):
            yield from _value(context, module, key or function.name, result, depth + 1)
    yield from _empty_first(context, module, function, function.name)


def _empty_first(
    context: AuditContext, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, named: str
) -> Iterator[Finding]:
    """`if not values: return 0.0` before a mean of them."""
    results = module.index.inner[function].returns
    means = [result for result in results if _is_mean(result)]
    for result in results if means else ():
        holder = module.parent(module.statement(result))
        if is_zero(result) and isinstance(holder, ast.If) and _asks_if_empty(holder.test):
            yield _found(
                context,
                module,
                result,
                f"what {named} gives",
                f"«{_short(module, holder.test)}»",
                kind="return",
            )


def _filled(context: AuditContext, module: Module, what: str, value: ast.expr) -> Iterator[Finding]:
    """`rewards = [0.0 if r is None else r for r in rewards]` under a mean of them."""
    if not _is_mean(value):
        return
    for name in [part for part in ast.walk(value) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]:
        found = module.lookup(module.scope_of(name, inner=False), name.id)
        for binding in found[1] if found is not None and found[0].kind == "function" else ():
            node = binding.node
            if binding.kind == "value" and not binding.steps and isinstance(node, (ast.ListComp, ast.GeneratorExp)):
                if _none_to_zero(node.elt):
                    yield _found(context, module, node.elt, f"in {what} a missing value", "it is None", kind="none")


def _properties(context: AuditContext, read: set[str]) -> Iterator[Finding]:
    """Properties whose values rows take, and the counts that such a ratio is made of."""
    for module in context.modules(b"@property", b"@cached_property", where=_GIVEN.search):
        for _, node in module.definitions:
            if isinstance(node, ast.FunctionDef) and node.name in read and _is_property(node):
                for result in module.index.inner[node].returns:
                    made = _zero_default(result)
                    if made is not None and _is_mean(made[0]):
                        yield _found(
                            context,
                            module,
                            result,
                            f"«{node.name}»",
                            _unless(module, made),
                            kind="property",
                        )
                        yield from _counted(context, module, node, made[0])


def _counted(context: AuditContext, module: Module, node: ast.FunctionDef, ratio: ast.expr) -> Iterator[Finding]:
    """`self.hits += info.get("hits", 0)` below such a ratio: what is not reported counts as zero."""
    parts, owner = names_in(ratio), module.enclosing_class(node)
    for part in ast.walk(owner) if owner is not None else ():
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Attribute) and part.target.attr in parts:
            got = _got(part.value)
            if got is not None:
                yield _found(
                    context, module, part, f"«{part.target.attr}» of «{node.name}»", f"«{got}» is missing", kind="get"
                )


# -- rows that are written out where no call that sends them is seen


def _written_out(context: AuditContext) -> Iterator[Finding]:
    sending = {sink.module.path for sink in context.sinks}
    for module in context.modules(b"else 0", b"else:", b"return 0", where=_may_be_written):
        sends = module.path in sending
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and "metric" in node.name:
                yield from _empty_first(context, module, node, node.name)
            elif isinstance(node, ast.IfExp):
                key = _key_of(module, node, sends)
                made = _zero_default(node)
                if key is None or made is None or _never_so(module, node, made[1]):
                    continue
                if _is_mean(made[0]) and not _is_count(key, made[0]):
                    yield _found(
                        context,
                        module,
                        node,
                        f"«{key}»",
                        _unless(module, made),
                        kind="default",
                        value=node,
                    )
            elif isinstance(node, ast.If) and node.orelse:
                yield from _branches(context, module, node, sends)


def _may_be_written(data: bytes) -> bool:
    return bool(_METRIC_CODE.search(data) and _INLINE.search(data))


def _key_of(module: Module, node: ast.expr, sends: bool) -> str | None:
    """The key that a value is written under, where it can only be a metric's."""
    parent = module.parent(node)
    child: ast.AST = node
    while isinstance(parent, ast.Call) and called(parent) in ("float", "int", "round"):
        child, parent = parent, module.parent(parent)
    key: ast.expr | None = None
    if isinstance(parent, ast.Dict):
        key = next((k for k, v in zip(parent.keys, parent.values) if v is child), None)
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Subscript):
        key = parent.targets[0].slice
    return None if key is None else _metric_key(module, node, key, sends)


def _metric_key(module: Module, node: ast.AST, key: ast.expr, sends: bool) -> str | None:
    if isinstance(key, ast.JoinedStr):
        text = "".join(str(p.value) if isinstance(p, ast.Constant) else "{…}" for p in key.values)
    elif isinstance(key, ast.Constant) and isinstance(key.value, str):
        text = key.value
    else:
        return None
    if _NOT_METRIC.search(text):
        return None
    if _SECTIONED.fullmatch(text.replace("{…}", "\0")):
        return text
    function = module.function(node)
    named = function.name if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
    return text if sends and re.search(r"metric|log_", named) and _RATIO.search(text.lower()) else None


def _branches(context: AuditContext, module: Module, node: ast.If, sends: bool) -> Iterator[Finding]:
    """`if len(x) > 0: row["k"] = mean(x)` with `else: row["k"] = 0`, or `[0] * n`."""
    if not _asks_if_empty(node.test) or isinstance(node.orelse[0], ast.If):
        return
    made = {ast.unparse(t): v for t, v in _stored(node.body)}
    for target, value in _stored(node.orelse):
        there = made.get(ast.unparse(target))
        if there is None or is_zero(there) or not _is_nothing(value):
            continue
        key = (
            _metric_key(module, node, target.slice, sends)
            if isinstance(target.slice, (ast.Constant, ast.JoinedStr))
            else None
        )
        function = module.function(node)
        named = function.name if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
        if key is None and sends and isinstance(target.slice, ast.Constant) and re.search(r"metric|log_", named):
            key = str(target.slice.value)
        if (
            key is not None
            and not _COUNT.search(key.lower())
            and names_in(node.test) & names_in(there) | _followed(module, there)
        ):
            yield _found(
                context,
                module,
                value,
                f"«{key}»",
                f"«{_short(module, node.test)}» is not so",
                kind="branch",
                value=value,
            )


def _followed(module: Module, value: ast.expr) -> set[str]:
    return {
        name
        for part in ast.walk(value)
        if isinstance(part, ast.Name)
        for bound in local_values(module, part)
        for name in names_in(bound)
    }


def _stored(body: list[ast.stmt]) -> Iterator[tuple[ast.Subscript, ast.expr]]:
    for stmt in body:
        if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Subscript):
            yield stmt.targets[0], stmt.value


def _is_nothing(value: ast.expr) -> bool:
    """`0`, `[0] * n`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return isinstance(value.left, ast.List) and len(value.left.elts) == 1 and is_zero(value.left.elts[0])
    return is_zero(value)


def _in_classes(context: AuditContext) -> Iterator[Finding]:
    """What a metric's own class gives: `return self.sum / self.count if self.count > 0 else 0.0`."""
    for module in context.modules(b"Metric", b"Accumulator", b"Meter", where=_GIVEN.search):
        for _, node in module.definitions:
            if not isinstance(node, ast.FunctionDef):
                continue
            owner = module.enclosing_class(node)
            if owner is None or not _MEASURES.search(owner.name + " " + " ".join(map(ast.unparse, owner.bases))):
                continue
            if not re.search(r"value|compute|result|reduce|avg|mean|average", node.name):
                continue
            for result in module.index.inner[node].returns:
                made = _zero_default(result)
                if made is not None and isinstance(made[0], ast.BinOp) and isinstance(made[0].op, ast.Div):
                    yield _found(
                        context, module, result, f"what {owner.name}.{node.name} gives", _unless(module, made),
                        kind="class",
                    )  # fmt: skip


# -- forms


def _zero_default(value: ast.expr) -> tuple[ast.expr, ast.expr, bool] | None:
    """`x if test else 0`: (x, test, whether it is the other way round), where the test asks whether there is anything to make x of."""
    while isinstance(value, ast.Call) and called(value) in ("float", "int", "round") and value.args:
        value = value.args[0]
    if not isinstance(value, ast.IfExp):
        return None
    if is_zero(value.orelse):
        kept, test = value.body, value.test
    elif is_zero(value.body) and _asks_if_empty(value.test):
        kept, test = value.orelse, value.test
    else:
        return None
    if (
        isinstance(kept, ast.Constant)
        or _CLOCK.search(" ".join(names_in(test)))
        or not _asks_if_empty(test)
        or not names_in(test) & names_in(kept)
    ):
        return None
    return kept, test, is_zero(value.body)


def _never_so(module: Module, value: ast.expr, test: ast.expr) -> bool:
    """Whether it is seen that there is something: a condition around it asks the same, or the same row fails without."""
    asked = {part.id for part in ast.walk(test) if isinstance(part, ast.Name)}
    parent = module.parent(value)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(parent, ast.If) and not any(value is part for s in parent.orelse for part in ast.walk(s)):
            if _asks_if_empty(parent.test) and names_in(parent.test) == names_in(test):
                return True
        if isinstance(parent, ast.Dict):
            for other in parent.values:
                for part in ast.walk(other) if not isinstance(other, ast.IfExp) and other is not value else ():
                    if (
                        isinstance(part, ast.Call)
                        and called(part) in _FAIL
                        and not part.keywords
                        and not _within_choice(module, part, parent)
                    ):
                        if any(isinstance(a, ast.Name) and a.id in asked for a in part.args):
                            return True
        parent = module.parent(parent)
    return False


def _within_choice(module: Module, node: ast.AST, end: ast.AST) -> bool:
    parent = module.parent(node)
    while parent is not None and parent is not end:
        if isinstance(parent, ast.IfExp):
            return True
        parent = module.parent(parent)
    return False


def _asks_if_empty(test: ast.expr) -> bool:
    """`x`, `not x`, `len(x) > 0`, `n != 0`, `x is not None`, `x.numel() > 0`, `x.any()`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks_if_empty(test.operand)
    if isinstance(test, ast.BoolOp):
        return all(_asks_if_empty(part) for part in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        against = isinstance(right, ast.Constant) and (right.value is None or right.value in (0, 0.0))
        return against and not isinstance(test.ops[0], (ast.In, ast.NotIn))
    if isinstance(test, ast.Call):
        return called(test) in ("len", "any", "numel", "sum", "bool", "size")
    return isinstance(test, (ast.Name, ast.Attribute, ast.Subscript))


def _is_mean(value: ast.AST) -> bool:
    """Whether a value is a mean or a quotient."""
    if isinstance(value, ast.Call) and called(value) in _MEANS:
        return True
    if isinstance(value, ast.Call) and called(value) in ("item", "float", "round", "detach", "cpu", "int"):
        inner = (
            value.func.value if isinstance(value.func, ast.Attribute) else value.args[0] if value.args else value.func
        )
        return _is_mean(inner)
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.Div):
            return not isinstance(value.right, ast.Constant)
        return isinstance(value.op, (ast.Mult, ast.Sub, ast.Add)) and (_is_mean(value.left) or _is_mean(value.right))
    return False


def _is_ratio(key: str, value: ast.expr) -> bool:
    return _is_mean(value) or bool(_RATIO.search(key.lower()))


def _is_count(key: str, value: ast.expr) -> bool:
    return bool(_COUNT.search(key.lower())) and not _is_mean(value)


def _got(value: ast.expr) -> str | None:
    """The key of `x.get("key", 0)`."""
    while isinstance(value, ast.Call) and called(value) in ("float", "int", "round") and value.args:
        value = value.args[0]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "get":
        if len(value.args) == 2 and is_zero(value.args[1]) and isinstance(value.args[0], ast.Constant):
            return str(value.args[0].value)
    return None


def _none_to_zero(value: ast.expr) -> bool:
    """`0.0 if r is None else r`."""
    if not isinstance(value, ast.IfExp) or not isinstance(value.test, ast.Compare):
        return False
    none = any(isinstance(c, ast.Constant) and c.value is None for c in value.test.comparators)
    return none and (is_zero(value.body) or is_zero(value.orelse))


def _is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)


def _unless(module: Module, made: tuple[ast.expr, ast.expr, bool]) -> str:
    text = f"«{_short(module, made[1])}»"
    return text if made[2] else f"{text} is not so"


def _short(module: Module, node: ast.AST) -> str:
    text = " ".join(module.code(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


RULE = AuditRule(
    code="PI105",
    name="zero-for-missing",
    summary="A mean, ratio or rate is zero where nothing was measured.",
    why="A hit rate of 0.0 says that nothing hit; it is drawn, averaged and compared as if somebody had measured it. Where there "
    "were no samples there is no rate: the point should be missing. A count of zero is true, and is not meant here.",
    bad='row["reward/mean"] = sum(rewards) / len(rewards) if rewards else 0.0',
    good='if rewards:\n    row["reward/mean"] = sum(rewards) / len(rewards)',
    fix="The key is left out of the row where there is nothing to measure.",
    applicability="review",
    needles=(b"else 0", b"else [0", b"else:", b", 0)", b"return 0", b"0.0", b"@property", b"@cached_property"),
    check=check,
)
