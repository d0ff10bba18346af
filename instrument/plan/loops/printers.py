"""The program's own ways to show metrics: functions that print what they are given, and home-made loggers of rows."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from instrument.plan.loops.emissions import Emission, pairs_of
from instrument.plan.loops.units import Code, Unit, inside
from instrument.plan.loops.values import Value, name_of
from instrument.plan.loops.words import is_metric, tokens
from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.repo.names import Module

_SHOWS = frozenset("print write echo writelines writerow info debug log warning".split())
_WRITES = frozenset("writerow writerows write dump dumps print".split())
_NAMES = frozenset("log write record add append put report emit track print".split())
_STEPS = frozenset("step steps global_step iteration iter it epoch episode update n_iter num_steps t".split())
_MAX_STATEMENTS = 40


class Printers:
    """Which units show what they are given."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._prints: dict[Unit, bool] = {}
        self._loggers: dict[Unit, Emission | None] = {}

    def prints(self, module: Module, call: ast.Call) -> bool:
        """Whether a call is of a function of the program's that prints or writes its first argument."""
        return any(self.is_printer(unit) for unit in self._code.callees(module, call))

    def is_printer(self, unit: Unit) -> bool:
        """Whether a unit prints or writes the first thing that it is given."""
        if unit not in self._prints:
            self._prints[unit] = self._shows_first(unit)
        return self._prints[unit]

    @staticmethod
    def _shows_first(unit: Unit) -> bool:
        names = [name for name in unit.parameters if name not in ("self", "cls")]
        arguments = None if isinstance(unit.node, ast.Module) else unit.node.args
        if arguments is None or len(unit.statements()) > _MAX_STATEMENTS:
            return False
        first = names[0] if names else arguments.vararg.arg if arguments.vararg else ""
        if not first or is_metric(first):
            return False
        for node in inside(unit.node.body):
            if isinstance(node, ast.Call) and name_of(node.func).rpartition(".")[2] in _SHOWS:
                used = {n.id for arg in node.args for n in ast.walk(arg) if isinstance(n, ast.Name)}
                if first in used:
                    return True
        return False

    # -- rows --------------------------------------------------------------------------------------------------------

    def rows_in(self, module: Module, nodes: Iterable[ast.AST]) -> list[tuple[str, ast.expr]]:
        """The metrics that some statements hand to a home-made logger: (key, expression)."""
        found = []
        for call, unit in self._code.called_in(module, nodes):
            if self.logger_of(unit) is not None:
                found += [(key, node) for key, node in given(call) if is_metric(key)]
        return found

    def logger_of(self, unit: Unit) -> Emission | None:
        """What a home-made logger's method sends, beside its own writing; None for any other unit."""
        if unit not in self._loggers:
            self._loggers[unit] = None
            self._loggers[unit] = self._logger(unit)
        return self._loggers[unit]

    def may_show(self, unit: Unit) -> bool:
        """Whether a unit looks like a printer or a logger, its callers left aside."""
        return self.is_printer(unit) or self._written(unit) is not None

    @staticmethod
    def _written(unit: Unit) -> ast.stmt | None:
        """The statement in which something that is named as a logger writes what it is given."""
        node = unit.node
        if isinstance(node, ast.Module) or not _NAMES & set(tokens(unit.name)):
            return None
        if len(unit.statements()) > _MAX_STATEMENTS:
            return None
        names = {p for p in unit.parameters if p not in ("self", "cls")}
        return _writing(unit, names | ({node.args.kwarg.arg} if node.args.kwarg else set()))

    def _logger(self, unit: Unit) -> Emission | None:
        node, written = unit.node, self._written(unit)
        if written is None or isinstance(node, ast.Module):
            return None
        spread = node.args.kwarg.arg if node.args.kwarg else ""
        names = {p for p in unit.parameters if p not in ("self", "cls")}
        calls = [(u, c) for u, c in self._code.callers.get(unit, []) if u is not unit]
        keys = [key for _, call in calls for key, _ in given(call)]
        if not calls or not any(is_metric(key) for key in keys):
            return None
        row = self._row(unit, spread, [call for _, call in calls])
        if row:
            return Emission(unit.module, written, _call_of(written), "row", [], row)
        values = [
            Value(name, ast.Name(name, ast.Load()), name, named=True)
            for name in unit.parameters
            if name in names and is_metric(name)
        ]
        return Emission(unit.module, written, _call_of(written), "row", values) if values else None

    def gets_mappings(self, unit: Unit) -> bool:
        """Whether the row that a logger is given surely is a mapping: `**row`, or every caller writes one out."""
        own = self.logger_of(unit)
        if own is None or isinstance(unit.node, ast.Module):
            return False
        if unit.node.args.kwarg is not None and unit.node.args.kwarg.arg == own.row:
            return True
        names = [name for name in unit.parameters if name not in ("self", "cls")]
        position = names.index(own.row) if own.row in names else None
        values = [argument(call, position, own.row) for _, call in self._code.callers.get(unit, [])]
        return all(value is not None and pairs_of(value) is not None for value in values)

    @staticmethod
    def _row(unit: Unit, spread: str, calls: list[ast.Call]) -> str:
        """The parameter that is a whole row: `**row`, or one that callers give a mapping for."""
        if spread and any(keyword.arg not in (None, *unit.parameters) for call in calls for keyword in call.keywords):
            return spread
        names = [name for name in unit.parameters if name not in ("self", "cls")]
        for index, name in enumerate(names):
            for call in calls:
                value = (
                    call.args[index]
                    if index < len(call.args)
                    else next((k.value for k in call.keywords if k.arg == name), None)
                )
                if value is not None and pairs_of(value) is not None:
                    return name
        return ""


def given(call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The keys and expressions that a call hands on as a row: keywords, and the items of written-out mappings."""
    found = [(k.arg, k.value) for k in call.keywords if k.arg and pairs_of(k.value) is None]
    for node in [*call.args, *(k.value for k in call.keywords)]:
        found += pairs_of(node) or []
    found += [(name_of(node), node) for node in call.args if pairs_of(node) is None and name_of(node)]
    return found


def step_parameter(unit: Unit, row: str) -> str:
    """The parameter of a logger that is the step, "" if it has none."""
    return next((name for name in unit.parameters if name in _STEPS and name != row), "")


def step_key(keys: Iterable[str]) -> str:
    """The key of a row that is its step, "" if it has none."""
    known = set(keys)
    return next(
        (name for name in ("global_step", "step", "iteration", "iter", "update", "episode", "epoch") if name in known),
        "",
    )


def _writing(unit: Unit, names: set[str]) -> ast.stmt | None:
    """The statement at the top of a unit's body in which it first writes what it is given."""
    assert not isinstance(unit.node, ast.Module)
    writes = None
    for stmt in unit.node.body:
        for node in inside([stmt]):
            if not isinstance(node, ast.Call):
                continue
            last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            used = {
                n.id
                for arg in [*node.args, *(k.value for k in node.keywords)]
                for n in ast.walk(arg)
                if isinstance(n, ast.Name)
            }
            if last in _WRITES and used & names and not (last == "print" and not _is_structured(node)):
                writes = writes or stmt
    if writes is None or isinstance(writes, (ast.Return, ast.For, ast.While)):
        return None
    return writes


def _is_structured(call: ast.Call) -> bool:
    return any(
        isinstance(n, ast.Call) and name_of(n.func) in ("dumps", "json") for arg in call.args for n in ast.walk(arg)
    )


def _call_of(stmt: ast.stmt) -> ast.AST:
    return next((node for node in ast.walk(stmt) if isinstance(node, ast.Call)), stmt)
