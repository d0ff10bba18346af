"""Runs: where a training begins and ends, and every place inside it where its metrics are shown."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instrument.plan.loops.emissions import Emission, pairs_of, read
from instrument.plan.loops.evidence import CHECKS, Evidence, updated
from instrument.plan.loops.printers import Printers
from instrument.plan.loops.units import LOOPS, Code, Loop, Unit, inside, loops_around
from instrument.plan.loops.values import is_text, name_of
from instrument.plan.loops.words import is_metric, phase_of, tokens

if TYPE_CHECKING:
    from instrument.repo.names import Module

#: How many calls away from its loop what shows metrics may be.
_DEEP = 3
_SMALL_COLLECTIONS = (ast.List, ast.Tuple, ast.Set)


@dataclass(eq=False, slots=True)
class Place:
    """An emission as one run sees it."""

    emission: Emission
    unit: Unit
    #: How many loops inside the run's own repeat it.
    depth: int
    #: What the run's counter is called here, "" where it can't be seen.
    counter: str = ""
    #: It comes after the loop.
    after: bool = False
    #: It is reached by several calls in one turn of the loop, which are about different data.
    mixed: bool = False


@dataclass(eq=False, slots=True)
class Run:
    """One training: a loop, and what shows metrics while it runs and right after it."""

    unit: Unit
    loop: Loop
    #: The loop, or the `with` or `try` that ends with it.
    anchor: ast.stmt
    #: The counter of the loop's own that never repeats, "".
    counter: str = ""
    places: list[Place] = field(default_factory=list)
    #: The last statement that belongs to it.
    last: ast.stmt | None = None
    #: Units that run inside it.
    reached: dict[Unit, int] = field(default_factory=dict)

    @property
    def module(self) -> Module:
        return self.unit.module


class Runs:
    """Finds the runs of a program."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.evidence = Evidence(code)
        self.printers = Printers(code)
        self._emissions: dict[Unit, list[Emission]] = {}
        self._reached: dict[Loop, dict[Unit, tuple[int, str, bool]]] = {}

    def find(self) -> list[Run]:
        """Every run, in order of file and position."""
        showing = {unit.name for unit in self.code.units if unit.name and self.printers.may_show(unit)}
        self.code.focus(showing)
        shown = {unit.name for unit in self.code.units if self.emissions(unit)}
        direct = {unit.name for unit in self.evidence.direct}
        if not direct and not any(self._trains(unit, loop) for unit in self.code.units for loop in unit.loops()):
            return []
        # A name that many things have says nothing of who trains: "get" would lead everywhere.
        names = self.code.leading_to(direct - {""}, _DEEP) | self.code.leading_to(shown - {""}, 2)
        self.code.focus(names | showing)
        candidates = [(unit, loop) for unit in self.code.units for loop in self._training(unit)]
        runs = []
        for unit, loop in candidates:
            inner = any(
                unit in self._reach(other, above)
                for other, above in candidates
                if other is not unit and not (other in self._reach(unit, loop) and _later(other, unit))
            )
            if not inner:
                runs.append(self._run(unit, loop))
        return runs

    def _training(self, unit: Unit) -> list[Loop]:
        """The outermost loops of a unit whose turns belong to one training."""
        found: list[Loop] = []
        queue = [loop for loop in unit.loops() if not loops_around(unit.module, loop)]
        while queue:
            loop = queue.pop(0)
            inner = [node for node in inside(loop.body) if isinstance(node, LOOPS)]
            below = [node for node in inner if loops_around(unit.module, node, loop) == []]
            if not self._trains(unit, loop) or self.evidence.is_trial(unit, loop):
                queue += below
            else:
                found.append(loop)
        return found

    def _trains(self, unit: Unit, loop: Loop) -> bool:
        if self.evidence.loop_trains(unit, loop):
            return True
        inner = {id(node) for node in inside(loop.body)}
        shown = [(v.key, v.node) for e in self.emissions(unit) if id(e.stmt) in inner for v in e.values]
        shown += self.printers.rows_in(unit.module, loop.body)
        return self.evidence.seems_to_train(unit, loop, shown)

    def is_convincing(self, run: Run) -> bool:
        """Whether a loop shows a metric that only training has, or any metric while an optimizer steps or it is called
        a training: solvers update arrays and print an error as well."""
        shown = [place.emission for place in run.places if not place.after]
        if not shown or CHECKS & set(tokens(run.module.path.rpartition("/")[2])):
            return False
        values = [value for emission in shown for value in emission.values]
        if any(is_metric(v.key, sure=True) or is_metric(name_of(v.node), sure=True) for v in values):
            return True
        if any(emission.row for emission in shown) or self.evidence.is_named(run.unit, run.loop):
            return True
        bodies = [run.loop.body, *(unit.node.body for unit in run.reached)]
        return any(isinstance(node, ast.Call) for body in bodies for node in updated(run.module, body))

    # -- what a unit emits -------------------------------------------------------------------------------------------

    def emissions(self, unit: Unit) -> list[Emission]:
        """What the statements of a unit show or keep, in order."""
        if unit not in self._emissions:
            counters = counters_in(unit)
            found = [read(unit.module, stmt, counters, self.printers.prints) for stmt in unit.statements()]
            own = self.printers.logger_of(unit)
            self._emissions[unit] = [own] if own is not None else [e for e in found if e is not None]
        return self._emissions[unit]

    # -- one run -----------------------------------------------------------------------------------------------------

    def _run(self, unit: Unit, loop: Loop) -> Run:
        module = unit.module
        run = Run(unit, loop, _anchor(module, loop), counter_of(unit, loop))
        run.last = run.anchor
        self._collect(run, unit, loop.body, top=loop)
        for reached, (depth, counter, mixed) in self._reach(unit, loop).items():
            run.reached[reached] = depth
            for emission in self.emissions(reached):
                if self._is_of_items(reached, emission):
                    continue
                inner = repeating(loops_around(reached.module, emission.stmt), emission)
                run.places.append(
                    Place(emission, reached, depth + inner, counter, mixed=mixed and not _tells(emission))
                )
        self._after(run)
        return run

    def _is_of_items(self, unit: Unit, emission: Emission) -> bool:
        """Whether an evaluation shows it for each item that it goes over: no series of the training's."""
        if not phase_of(unit.name) or self.evidence.trains(unit):
            return False
        return bool(loops_around(unit.module, emission.stmt)) and not _tells(emission)

    def _collect(self, run: Run, unit: Unit, body: Iterable[ast.stmt], top: ast.AST | None) -> None:
        nodes = {id(node) for node in inside(body)}
        for emission in self.emissions(unit):
            if id(emission.stmt) in nodes:
                depth = repeating(loops_around(unit.module, emission.stmt, top), emission)
                run.places.append(Place(emission, unit, depth, run.counter))

    def _after(self, run: Run) -> None:
        """What is shown right after the loop, in the same block, belongs to it: the final test."""
        block, index = run.module.block(run.anchor)
        seen = {place.emission.stmt for place in run.places}
        for stmt in block[index + 1 :]:
            if any(isinstance(node, LOOPS) and self._trains(run.unit, node) for node in inside([stmt])):
                break
            if isinstance(stmt, (ast.Return, ast.Raise, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                break
            nodes = {id(node) for node in inside([stmt])}
            units = [unit for _, unit in self.code.called_in(run.module, [stmt])]
            if any(self.evidence.trains(unit) for unit in units):
                break  # another training
            # Loops that come after it show single samples as often as metrics.
            found = [(run.unit, e) for e in self.emissions(run.unit)
                     if id(e.stmt) in nodes and not loops_around(run.module, e.stmt, run.module.parent(stmt))]  # fmt: skip
            found += [
                (unit, e) for unit in units for e in self.emissions(unit) if not loops_around(unit.module, e.stmt)
            ]
            if any(emission.kind != "list" for _, emission in found):
                run.last = stmt
            for unit, emission in found:
                if emission.stmt not in seen and emission.kind != "list":
                    seen.add(emission.stmt)
                    run.places.append(Place(emission, unit, 0, after=True))

    def _reach(self, unit: Unit, loop: Loop) -> dict[Unit, tuple[int, str, bool]]:
        """The units that run in a loop: how many loops inside it repeat them, its counter's name there, and whether
        several calls of one turn lead there."""
        if loop not in self._reached:
            found: dict[Unit, tuple[int, str, bool]] = {}
            counter = counter_of(unit, loop)
            drawn = [] if isinstance(loop, ast.While) else [loop.iter]
            self._walk(unit, [*loop.body, *drawn], loop, 0, counter, found, 0)
            found.pop(unit, None)
            self._reached[loop] = found
        return self._reached[loop]

    def _walk(
        self, unit: Unit, nodes: list[ast.AST], top: ast.AST | None, depth: int, counter: str,
        found: dict[Unit, tuple[int, str, bool]], level: int,
    ) -> None:  # fmt: skip
        if level > _DEEP:
            return
        calls: dict[Unit, list[tuple[ast.Call, int]]] = {}
        for call, callee in self.code.called_in(unit.module, nodes):
            inner = len([lp for lp in loops_around(unit.module, call, top) if not is_unrolled(lp)])
            calls.setdefault(callee, []).append((call, inner))
        for callee in self.code.nested_in(nodes):
            if callee not in calls:
                found.setdefault(callee, (depth + 1, "", False))
        for callee, made in calls.items():
            names = {_passed(callee, call, counter) or _global_name(unit, callee, counter) for call, _ in made}
            name = names.pop() if len(names) == 1 else ""
            mixed = len(made) > 1 and not _exclusive(unit.module, [call for call, _ in made])
            inner = depth + max(inner for _, inner in made) + (1 if len(made) > 1 else 0)
            known = found.get(callee)
            if known is not None:
                # Reached on two ways: repeated, and mixed unless both are the same.
                new = (max(inner, known[0]) + 1, "", True)
                if new[0] > known[0] + 2:
                    continue
                found[callee] = new
                continue
            found[callee] = (inner, name, mixed)
            self._walk(callee, list(callee.node.body), None, inner, name, found, level + 1)


def _later(one: Unit, other: Unit) -> bool:
    """Which of two units that call each other gives way: the one that stands later."""
    return (one.module.path, getattr(one.node, "lineno", 0)) > (other.module.path, getattr(other.node, "lineno", 0))


def _tells(emission: Emission) -> bool:
    """Whether every key begins with a name that tells the data apart."""
    return not emission.row and all(value.changing for value in emission.values)


def _anchor(module: Module, loop: Loop) -> ast.stmt:
    """The loop, or the `with` or `try` around it that it ends."""
    anchor: ast.stmt = loop
    while True:
        parent = module.parent(anchor)
        if not isinstance(parent, (ast.With, ast.AsyncWith, ast.Try)) or parent.body[-1] is not anchor:
            return anchor
        anchor = parent


def _exclusive(module: Module, calls: list[ast.Call]) -> bool:
    """Whether of several calls only one runs: each in another branch of one `if`."""
    branches = set()
    owners = set()
    for call in calls:
        child, parent = module.statement(call), module.parent(module.statement(call))
        if not isinstance(parent, ast.If):
            return False
        owners.add(id(parent))
        branches.add((id(parent), any(child is stmt for stmt in parent.orelse)))
    return len(branches) == len(calls) and len(owners) == 1


def _passed(callee: Unit, call: ast.Call, counter: str) -> str:
    """The parameter that gets the counter, or the counter with a constant added; "" if none does."""
    if not counter:
        return ""
    names = callee.parameters
    if callee.owner is not None and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    given = [*zip(names, call.args), *((k.arg, k.value) for k in call.keywords if k.arg)]
    # A row of a home-made logger: {"epoch": epoch, ...}.
    given += [pair for _, value in list(given) for pair in pairs_of(value) or ()]
    for name, value in given:
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and isinstance(value.right, ast.Constant):
            value = value.left
        if isinstance(value, ast.Name) and value.id == counter:
            return name if not _rebinds(callee, name) else ""
    return ""


def _global_name(unit: Unit, callee: Unit, counter: str) -> str:
    """The counter of a loop at module level, in a function of the same file that does not have its own."""
    if not counter or unit.name or unit.module is not callee.module or counter in callee.parameters:
        return ""
    return "" if _rebinds(callee, counter) else counter


def _rebinds(unit: Unit, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in inside(unit.node.body)
    )


# -- counters --------------------------------------------------------------------------------------------------------


def is_unrolled(loop: Loop) -> bool:
    """Whether a loop goes over a few things that are written out, such as `for phase in ["train", "val"]`."""
    return (
        isinstance(loop, ast.For) and isinstance(loop.iter, _SMALL_COLLECTIONS)
        and bool(loop.iter.elts) and all(is_text(e) for e in loop.iter.elts)
    )  # fmt: skip


def repeating(loops: list[Loop], emission: Emission) -> int:
    """How many of some loops make an emission send its keys again."""
    names = {value.changing for value in emission.values}
    count = 0
    for loop in loops:
        targets = (
            {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)} if isinstance(loop, ast.For) else set()
        )
        # Each item has keys of its own where they begin with its name.
        count += not (names and "" not in names and names <= targets)
    return count


def counter_of(unit: Unit, loop: Loop) -> str:
    """The variable that counts a loop's turns and never has a value twice, "" if it has none."""
    if isinstance(loop, ast.While):
        return ""
    source, target = _counted(unit, loop.iter), loop.target
    if not isinstance(source, ast.Call):
        return ""
    name = source.func.attr if isinstance(source.func, ast.Attribute) else getattr(source.func, "id", "")
    if name == "enumerate" and isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[0]
    elif name not in ("range", "trange", "count") or (len(source.args) == 3 and _goes_down(source.args[2])):
        return ""
    if not isinstance(target, ast.Name):
        return ""
    stores = [
        n
        for n in inside(loop.body)
        if isinstance(n, ast.Name) and n.id == target.id and not isinstance(n.ctx, ast.Load)
    ]
    return "" if stores or target.id == "_" else target.id


def _counted(unit: Unit, source: ast.expr) -> ast.expr:
    """What a loop goes over, taken out of its progress bar."""
    for _ in range(4):
        if isinstance(source, ast.Name):
            bound = [s.value for s in unit.statements() if isinstance(s, ast.Assign) and s.lineno < source.lineno
                     and any(isinstance(t, ast.Name) and t.id == source.id for t in s.targets)]  # fmt: skip
            if len(bound) != 1 or not isinstance(bound[0], ast.Call):
                return source
            source = bound[0]
        name = source.func.attr if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) else (
            getattr(source.func, "id", "") if isinstance(source, ast.Call) else "")  # fmt: skip
        if (
            isinstance(source, ast.Call)
            and name in ("tqdm", "track", "notebook_tqdm", "progress_bar", "tqdm_notebook")
            and source.args
        ):
            source = source.args[0]
            continue
        return source
    return source


def _goes_down(step: ast.expr) -> bool:
    return isinstance(step, ast.UnaryOp)


def counters_in(unit: Unit) -> set[str]:
    """Names that only say where a unit's loops are: counters, and what is counted up by one."""
    found: set[str] = set()
    for loop in unit.loops():
        if isinstance(loop, ast.While):
            continue
        source = _counted(unit, loop.iter)
        name = getattr(source.func, "id", "") if isinstance(source, ast.Call) else ""
        if name in ("range", "trange") and isinstance(loop.target, ast.Name):
            found.add(loop.target.id)
        elif name == "enumerate" and isinstance(loop.target, ast.Tuple) and isinstance(loop.target.elts[0], ast.Name):
            found.add(loop.target.elts[0].id)
    for stmt in unit.statements():
        if isinstance(stmt, ast.AugAssign) and isinstance(stmt.value, ast.Constant) and stmt.value.value == 1:
            if loops_around(unit.module, stmt):
                found.add(ast.unparse(stmt.target))
    return found
