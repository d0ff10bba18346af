"""The step of each metric: a counter of the program's own that never comes twice, else Probe's own count.

A run has one axis: where few of its metrics can see such a counter, all of them are counted by Probe. An index that
begins again in each epoch is never a step: of a key at a step only the first value is kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from instrument.plan.loops.linear import worked_out
from instrument.plan.loops.printers import step_key, step_parameter
from instrument.plan.loops.runs import Place, Run, Runs, repeating
from instrument.plan.loops.units import LOOPS, Unit, inside, loops_around
from instrument.plan.loops.words import is_counter

if TYPE_CHECKING:
    from instrument.plan.loops.emissions import Emission
    from instrument.repo.names import Module

_SETTERS = frozenset(
    "__init__ __post_init__ setup reset build load load_checkpoint load_state_dict resume restore".split()
)


def choose(runs: Runs, every: list[Run]) -> dict[Place, str]:
    """The text of the step for each place that has one; the others are counted by Probe itself."""
    chosen = {run: _of_run(runs, run) for run in every}
    # A place that two runs share is written once: they agree, or both are counted.
    while True:
        dropped = False
        texts: dict[ast.stmt, set[str]] = {}
        for run in every:
            for place in run.places:
                text = (chosen[run] or {}).get(place, "")
                if not place.after:
                    texts.setdefault(place.emission.stmt, set()).add(text)
        for run in every:
            if chosen[run] and any(len(texts.get(p.emission.stmt, ())) > 1 for p in run.places if not p.after):
                chosen[run] = {}
                dropped = True
        if not dropped:
            return {place: text for run in every for place, text in (chosen[run] or {}).items()}


def _of_run(runs: Runs, run: Run) -> dict[Place, str]:
    inner = [place for place in run.places if not place.after]
    by_loop = {place: text for place in inner if (text := _loop_counter(runs, place))}
    if len(by_loop) == len(inner):
        return by_loop
    alone = [place for place in inner if place not in by_loop]
    if by_loop and len(alone) == 1 and not alone[0].depth:
        # Probe's own count begins at the last step that was given, so that one row a turn keeps up with it.
        return by_loop
    linear = {place: text for place in alone if (text := worked_out(run, place))}
    if linear and 2 * len(linear) >= len(inner):
        return linear  # what is outside of the inner loop is counted from the last step that was given
    for counter in _candidates(run):
        found = {place: text for place in inner if (text := _counted(runs, run, place, counter))}
        if found and 2 * len(found) >= len(inner):
            return found  # what can't see the counter is counted from the last step that was given
    return {}


def _loop_counter(runs: Runs, place: Place) -> str:
    """The run's own counter, as it is called at a place that each turn reaches at most once."""
    if place.depth or not place.counter:
        return ""
    own = runs.printers.logger_of(place.unit)
    if own is not None and own.row and place.counter not in place.unit.parameters:
        return f'{own.row}.get("{place.counter}")' if runs.printers.gets_mappings(place.unit) else ""
    return place.counter


# -- counters that the program keeps ------------------------------------------------------------------------------------


def _statements(run: Run, unit: Unit) -> Iterator[ast.stmt]:
    """The statements of a unit that run inside the run's loop."""
    last = run.loop.end_lineno or 0
    for stmt in unit.statements():
        if unit is not run.unit or run.loop.lineno < stmt.lineno <= last:
            yield stmt


def _candidates(run: Run) -> list[str]:
    """Names and attributes that are counted up while the run lasts, the likeliest first."""
    found: dict[str, None] = {}
    for unit in [run.unit, *run.reached]:
        for stmt in _statements(run, unit):
            if isinstance(stmt, ast.AugAssign) and _counts_up(stmt):
                found[ast.unparse(stmt.target)] = None
    return sorted(found, key=lambda text: ("step" not in text, "global" not in text, "iter" not in text))


def _counts_up(node: ast.AugAssign) -> bool:
    if not isinstance(node.op, ast.Add) or not isinstance(node.target, (ast.Name, ast.Attribute)):
        return False
    if isinstance(node.value, ast.Constant) and not (isinstance(node.value.value, int) and node.value.value > 0):
        return False
    last = node.target.attr if isinstance(node.target, ast.Attribute) else node.target.id
    if not isinstance(node.value, ast.Constant) and "step" not in last:
        return False
    return is_counter(last) or "step" in last.lower() or "iter" in last.lower()


def _counted(runs: Runs, run: Run, place: Place, counter: str) -> str:
    """The counter's text at a place where it has moved on since the place was last reached, else ""."""
    own = runs.printers.logger_of(place.unit)
    if own is not None:
        return _handed(runs, run, place, counter, own.row)
    if not _is_seen(run, place.unit, counter) or _is_set_back(run, counter):
        return ""
    return counter if _moves_on(runs, place.unit, place.emission.stmt, counter, run, place.emission) else ""


def _handed(runs: Runs, run: Run, place: Place, counter: str, row: str) -> str:
    """For a home-made logger: how it sees a counter that every caller in the run hands it as the step."""
    calls = [
        (unit, call) for unit, call in runs.code.callers.get(place.unit, []) if unit is run.unit or unit in run.reached
    ]
    if not calls or _is_set_back(run, counter):
        return ""
    parameter = step_parameter(place.unit, row)
    keys = [k.arg for _, call in calls for k in call.keywords if k.arg]
    name = parameter or step_key(keys)
    names = [p for p in place.unit.parameters if p not in ("self", "cls")]
    for unit, call in calls:
        given = next((k.value for k in call.keywords if k.arg == name), None)
        if given is None and parameter in names and names.index(parameter) < len(call.args):
            given = call.args[names.index(parameter)]
        if given is None or ast.unparse(given) != counter or not _is_seen(run, unit, counter):
            return ""
        if not _moves_on(runs, unit, unit.module.statement(call), counter, run):
            return ""
    if parameter:
        return parameter
    return f'{row}.get("{name}")' if row and runs.printers.gets_mappings(place.unit) else ""


def _is_seen(run: Run, unit: Unit, counter: str) -> bool:
    """Whether a counter of the run's is the same thing in a unit: the same function's variable, or an attribute of the
    same object."""
    if counter.startswith("self."):
        return unit.owner is not None and _owner_of(run, counter) in (unit.owner, None)
    if "." in counter:
        return unit is run.unit
    if unit is run.unit:
        return True
    return any(isinstance(s, ast.Global) and counter in s.names for s in unit.statements())


def _owner_of(run: Run, counter: str) -> ast.ClassDef | None:
    for unit in [run.unit, *run.reached]:
        if any(isinstance(s, ast.AugAssign) and ast.unparse(s.target) == counter for s in unit.statements()):
            return unit.owner
    return None


def _is_set_back(run: Run, counter: str) -> bool:
    """Whether something in the run sets a counter anew."""
    for unit in [run.unit, *run.reached]:
        if unit.name in _SETTERS:
            continue
        for stmt in _statements(run, unit):
            targets: list[ast.expr] = []
            if isinstance(stmt, ast.Assign):
                targets = [e for t in stmt.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
            elif isinstance(stmt, (ast.AnnAssign, ast.For)):
                targets = [stmt.target]
            if any(isinstance(t, (ast.Name, ast.Attribute)) and ast.unparse(t) == counter for t in targets):
                return True
    return False


def _moves_on(
    runs: Runs, unit: Unit, stmt: ast.stmt, counter: str, run: Run, emission: Emission | None = None
) -> bool:  # fmt: skip
    """Whether a counter moves on between two times that a statement runs (that it sends the same keys, for an emission)."""
    module = unit.module
    body = run.loop.body if unit is run.unit else unit.node.body
    around = loops_around(module, stmt, run.loop if unit is run.unit else None)
    if emission is not None:
        around = [loop for loop in around if repeating([loop], emission)]
    innermost: ast.AST = around[0] if around else (run.loop if unit is run.unit else unit.node)
    nodes = {id(node) for node in inside(body)}
    for mover in _movers(runs, unit, body, counter):
        if id(mover) not in nodes:
            continue
        block = _turn(module, mover, innermost)
        if block is None:
            continue
        if block is innermost or _is_inside(module, stmt, block):
            if not _jumps_between(innermost, mover, stmt):
                return True
    return False


def _movers(runs: Runs, unit: Unit, body: Iterable[ast.AST], counter: str) -> list[ast.stmt]:
    """Statements of a unit that count a counter up, or call a method that always does."""
    found: list[ast.stmt] = []
    for node in inside(body):
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == counter:
            found.append(node)
        elif isinstance(node, ast.Call) and counter.startswith("self."):
            for callee in runs.code.callees(unit.module, node):
                if callee is not unit and callee.owner is unit.owner and _always_counts(callee, counter):
                    found.append(unit.module.statement(node))
    return found


def _always_counts(unit: Unit, counter: str) -> bool:
    """Whether each call of a unit counts: at the top of its body, or in a loop there."""
    for stmt in unit.node.body:
        if isinstance(stmt, ast.AugAssign) and ast.unparse(stmt.target) == counter:
            return True
        if isinstance(stmt, (ast.For, ast.While)) and any(
            isinstance(inner, ast.AugAssign) and ast.unparse(inner.target) == counter for inner in stmt.body
        ):
            return True
    return False


def _turn(module: Module, mover: ast.stmt, innermost: ast.AST) -> ast.AST | None:
    """The block whose every run moves the counter, seen from a loop: the loop itself where nothing but loops and `with`
    stand between, else the `if` that the counting is under. None where the counting is outside of the loop."""
    condition: ast.AST | None = None
    node: ast.AST | None = module.parent(mover)
    while node is not None and node is not innermost:
        if isinstance(node, (ast.If, ast.Try)):
            condition = node
        elif not isinstance(node, (*LOOPS, ast.With, ast.AsyncWith)):
            return None
        node = module.parent(node)
    if node is None:
        return None
    return condition or innermost


def _is_inside(module: Module, stmt: ast.stmt, block: ast.AST) -> bool:
    """Whether a statement is in the same branch of a block (in its body: an `else` is another branch)."""
    child, node = stmt, module.parent(stmt)
    while node is not None and node is not block:
        child, node = node, module.parent(node)  # type: ignore[assignment]
    return node is block and any(child is s for s in getattr(block, "body", ()))


def _jumps_between(loop: ast.AST, one: ast.stmt, other: ast.stmt) -> bool:
    low, high = sorted((one.lineno, other.lineno))
    return any(
        isinstance(node, ast.Continue) and low < node.lineno < high for node in inside(getattr(loop, "body", ()))
    )
