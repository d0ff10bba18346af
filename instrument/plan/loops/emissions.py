"""Statements in which a program shows or keeps its metrics without a tracker: prints, progress bars, rows, lists."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from instrument.plan.loops.templates import Part, braces_parts, parts_of, percent_parts, printed
from instrument.plan.loops.values import Value, cost, in_list, in_row, in_text, is_text, name_of, text_of
from instrument.plan.loops.words import is_counter, is_metric, singular, tokens

if TYPE_CHECKING:
    from instrument.repo.names import Module

Kind = Literal["text", "bar", "row", "list"]

_LEVELS = frozenset("debug info warning warn critical log success notice".split())
_LOG_OPTIONS = frozenset("exc_info extra stack_info stacklevel".split())
_LOGGERS = frozenset("logging logger log _logger _log LOGGER LOG LOGGING loguru".split())
_WRITES = frozenset("print echo write secho".split())
_ROWS = frozenset("row entry record stats metric metrics log logs info result results summary".split())
#: Arrays of these are kept for a plot; arrays of rewards or values are as often what is trained on.
_PLOTTED = frozenset("loss losses acc accs accuracy accuracies err errs error errors mse rmse".split())
_BARS = frozenset("set_description set_description_str set_postfix_str".split())


@dataclass(slots=True)
class Emission:
    """A statement that shows or keeps metrics."""

    module: Module
    stmt: ast.stmt
    #: What is called, or the statement itself.
    node: ast.AST
    kind: Kind
    values: list[Value] = field(default_factory=list)
    #: A mapping, by name, that is sent whole.
    row: str = ""

    @property
    def what(self) -> str:
        """In a few words, for the report."""
        return self.module.code(self.node.func) if isinstance(self.node, ast.Call) else "a list of metrics"


def read(
    module: Module, stmt: ast.stmt, counters: set[str], prints: Callable[[Module, ast.Call], bool]
) -> Emission | None:  # fmt: skip
    """What a statement emits, None if nothing that is a metric.

    `counters` are names that say where the loop is; `prints` tells the program's own functions that print what they
    are given.
    """
    if isinstance(stmt, ast.Assign):
        return _stored(module, stmt, counters)
    if not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
        return None
    call = stmt.value
    reader = _Reader(module, stmt, call, counters)
    found = reader.read(prints)
    if found is None:
        return None
    named = any(
        is_metric(v.key) or is_metric(name_of(v.node)) or v.key.lower().endswith("metric") for v in found.values
    )
    return found if found.row or named else None


class _Reader:
    def __init__(self, module: Module, stmt: ast.stmt, call: ast.Call, counters: set[str]) -> None:
        self.module, self.stmt, self.call, self.counters = module, stmt, call, counters

    def read(self, prints: Callable[[Module, ast.Call], bool]) -> Emission | None:
        call, func = self.call, self.call.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        receiver = func.value if isinstance(func, ast.Attribute) else None
        if name == "append" and receiver is not None and len(call.args) == 1:
            return self._appended(receiver, call.args[0])
        if name == "set_postfix" and receiver is not None:
            return self._postfix()
        if name in _BARS and call.args:
            return self._text("bar", parts_of(self.module, call.args[0]))
        if name == "writerow" and call.args:
            return self._row_of(call.args[0])
        if name == "dump" and receiver is not None and name_of(receiver) == "json" and call.args:
            return self._row_of(call.args[0], sure=True)
        if receiver is not None and name in _LEVELS and _is_logger(receiver):
            return self._logged(name)
        if name in _WRITES or name.startswith("print") or (call.args and prints(self.module, call)):
            rows = [arg for arg in call.args if (row := _dumped(arg)) is not None and row is not None]
            if rows:
                row = _dumped(rows[0])
                assert row is not None
                return self._row_of(row, sure=True)
            return self._text("text", printed(self.module, call.args))
        return None

    def _made(self, kind: Kind, values: list[Value], row: str = "") -> Emission | None:
        return Emission(self.module, self.stmt, self.call, kind, values, row) if values or row else None

    def _text(self, kind: Kind, parts: list[Part] | None) -> Emission | None:
        return None if parts is None else self._made(kind, in_text(self.module, parts, self.counters))

    def _logged(self, name: str) -> Emission | None:
        args = self.call.args[1:] if name == "log" and len(self.call.args) > 1 else self.call.args
        keywords = [k for k in self.call.keywords if k.arg not in _LOG_OPTIONS]
        if not args:
            return None
        parts: list[Part] | None
        text = args[0].value if isinstance(args[0], ast.Constant) else None
        if len(args) > 1 and isinstance(text, str):
            braces = "{" in text and "%" not in text
            parts = braces_parts(text, args[1:], keywords) if braces else percent_parts(text, args[1:])
            return self._text("text", parts)
        if isinstance(text, str) and keywords:
            if "{" in text:
                return self._text("text", braces_parts(text, [], keywords))
            pairs = [(k.arg, k.value) for k in keywords if k.arg]
            return self._made("row", in_row(self.module, pairs, self.counters))
        row = _dumped(args[0])
        if row is not None:
            return self._row_of(row, sure=True)
        if isinstance(args[0], ast.Dict):
            return self._row_of(args[0])
        return self._text("text", printed(self.module, args))

    def _postfix(self) -> Emission | None:
        pairs = [(k.arg, k.value) for k in self.call.keywords if k.arg not in (None, "refresh", "ordered_dict")]
        given = self.call.args[0] if self.call.args else None
        given = next((k.value for k in self.call.keywords if k.arg == "ordered_dict"), given)
        if given is not None:
            found = self._row_of(given)
            if found is None or not pairs:
                return found and Emission(self.module, self.stmt, self.call, "bar", found.values, found.row)
        return self._made("bar", in_row(self.module, [(k, v) for k, v in pairs if k], self.counters))

    def _row_of(self, node: ast.expr, *, sure: bool = False) -> Emission | None:
        """A row that is written: a written-out mapping or list, or a name that one was just bound to."""
        pairs = pairs_of(node)
        if pairs is not None:
            return self._made("row", in_row(self.module, pairs, self.counters))
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._made("row", in_list(self.module, node.elts, self.counters))
        if isinstance(node, ast.Name):
            known = _keys_of(self.module, node)
            if known is not None and any(is_metric(key) for key in known):
                return self._made("row", [], node.id)
            if known is None and sure and _ROWS.intersection(tokens(node.id)):
                return self._made("row", [], node.id)
        return None

    def _appended(self, receiver: ast.expr, value: ast.expr) -> Emission | None:
        pairs = pairs_of(value)
        if pairs is not None:
            return self._made("list", in_row(self.module, pairs, self.counters))
        if isinstance(value, ast.Tuple):
            return self._made("list", in_list(self.module, value.elts, self.counters))
        key = singular(name_of(receiver))
        if not is_metric(key) or is_text(value) or isinstance(value, ast.Constant) or cost(value) == "no":
            return None
        made = Value(key.strip("_"), value, text_of(self.module, value), cost(value) == "bind", named=True)
        return self._made("list", [made])


def _is_logger(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if isinstance(node, ast.Call):  # logging.getLogger(__name__).info(...)
        return name_of(node.func) in ("getLogger", "get_logger")
    return name in _LOGGERS or name.lower().endswith(("logger", "_log"))


def _dumped(node: ast.expr) -> ast.expr | None:
    """What is written as JSON: the argument of `json.dumps`, also with a newline after it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _dumped(node.left) or _dumped(node.right)
    if isinstance(node, ast.JoinedStr):
        holes = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
        return _dumped(holes[0]) if len(holes) == 1 else None
    if isinstance(node, ast.Call) and node.args:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return node.args[0] if name == "dumps" else None
    return None


def pairs_of(node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """The items of `{"a": x}` and `dict(a=x)`; None for anything else."""
    if isinstance(node, ast.Dict):
        return [(k.value, v) for k, v in zip(node.keys, node.values)
                if isinstance(k, ast.Constant) and isinstance(k.value, str)]  # fmt: skip
    if isinstance(node, ast.Call) and name_of(node.func) in ("dict", "OrderedDict"):
        if node.args and isinstance(node.args[0], ast.Dict):
            return pairs_of(node.args[0])
        return [(k.arg, k.value) for k in node.keywords if k.arg]
    return None


def _keys_of(module: Module, node: ast.Name) -> list[str] | None:
    """The keys of a mapping that is bound to a name in the same block or function; None if that is not seen."""
    keys: list[str] | None = None
    function = module.function(node)
    line = node.lineno
    for other in ast.walk(function or module.tree):
        if not isinstance(other, (ast.Assign, ast.AnnAssign)) or other.lineno >= line or other.value is None:
            continue
        if module.function(other) is not function:
            continue
        for target in other.targets if isinstance(other, ast.Assign) else [other.target]:
            if isinstance(target, ast.Name) and target.id == node.id:
                pairs = pairs_of(other.value)
                # `{**train_stats, "epoch": epoch}`: not all of its keys are seen.
                unseen = isinstance(other.value, ast.Dict) and None in other.value.keys
                keys = None if pairs is None or unseen else [key for key, _ in pairs]
            elif (
                keys is not None
                and isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
                and target.value.id == node.id and isinstance(target.slice, ast.Constant)
            ):  # fmt: skip
                keys.append(str(target.slice.value))
    return keys


def _stored(module: Module, stmt: ast.Assign, counters: set[str]) -> Emission | None:
    """`losses[epoch] = ...`: an array of metrics that is filled by a counter."""
    if len(stmt.targets) != 1 or not isinstance(stmt.targets[0], ast.Subscript):
        return None
    target = stmt.targets[0]
    if not isinstance(target.slice, ast.Name) or not isinstance(target.value, (ast.Name, ast.Attribute)):
        return None
    if target.slice.id not in counters and not is_counter(target.slice.id):
        return None
    container = name_of(target.value)
    key = singular(container)
    if not _PLOTTED.intersection(tokens(container)):
        return None
    node: ast.expr = stmt.value if isinstance(stmt.value, (ast.Name, ast.Attribute)) else target
    value = Value(key.strip("_"), node, text_of(module, node), named=True)
    return Emission(module, stmt, stmt, "list", [value])
