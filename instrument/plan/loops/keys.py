"""One series for one key: what is shown twice is sent once, what is called alike but is not gets a name of its own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.loops.evidence import loop_words
from instrument.plan.loops.runs import Place, Run, Runs
from instrument.plan.loops.units import inside, loops_around
from instrument.plan.loops.values import Value, name_of
from instrument.plan.loops.words import is_metric, phase_of, singular, tokens

if TYPE_CHECKING:
    from instrument.repo.names import Module

_SETTERS = frozenset("__init__ __post_init__ setup reset build".split())


def settle(runs: Runs, run: Run, settled: set[int]) -> None:
    """Drop values that are sent already and places with none left; rename the rest of equal keys; join neighbours.

    `settled` are emissions (by id) that an earlier run has settled: they stay as they are. This run's are added.
    """
    for place in run.places:
        if place.emission.kind == "list" and id(place.emission) not in settled and not _is_kept(runs, run, place):
            place.emission.values = []
    _drop_repeated(run)
    _rename(run, settled)
    _join(run)
    settled.update(id(place.emission) for place in run.places)
    run.places = [p for p in run.places if p.emission.values or p.emission.row]


def _join(run: Run) -> None:
    """Send what is shown by statements that follow each other in one row."""
    at = {place.emission.stmt: place for place in run.places if place.emission.values}
    for place in run.places:
        module, stmt = place.unit.module, place.emission.stmt
        if not place.emission.values or any(value.bind for value in place.emission.values):
            continue
        block, index = module.block(stmt)
        following = at.get(block[index + 1]) if index + 1 < len(block) else None
        if following is None or following.emission.row or following.after is not place.after:
            continue
        if following.emission.kind == "list" and any(_reads_item(value.node) for value in place.emission.values):
            continue  # `kept.append(losses[-1])`, then `losses.append(...)`
        following.emission.values = [*place.emission.values, *following.emission.values]
        place.emission.values = []


def _reads_item(node: ast.expr) -> bool:
    """Whether an expression takes the last element of something, which the next statement may change."""
    return any(isinstance(n, ast.Subscript) and isinstance(n.slice, ast.UnaryOp) for n in ast.walk(node))


def _is_kept(runs: Runs, run: Run, place: Place) -> bool:
    """Whether a list lives longer than the run's loop and is never emptied: a history, not a running average."""
    node = place.emission.node
    if isinstance(node, ast.Assign):  # `losses[epoch] = loss`
        container: ast.expr = node.targets[0]
    else:
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        container = node.func.value
    while isinstance(container, (ast.Subscript, ast.Call)):
        container = container.value if isinstance(container, ast.Subscript) else container.func
    if isinstance(container, ast.Attribute) and isinstance(container.value, ast.Name) and container.value.id == "self":
        units = [u for u in runs.code.units if u.owner is place.unit.owner and u.owner is not None]
        bound = [u for u in units if _binds(u.node.body, ast.unparse(container))]
        emptied = any(_empties(u.node.body, ast.unparse(container)) for u in units)
        early = all(
            u.name in _SETTERS or (u is run.unit and not _binds(run.loop.body, ast.unparse(container))) for u in bound
        )
        return bool(bound) and early and not emptied
    if not isinstance(container, ast.Name):
        return False
    name = container.id
    if _empties(run.unit.node.body, name) or _empties(place.unit.node.body, name):
        return False
    if place.unit is run.unit:
        return _binds(run.unit.node.body, name) and not _binds(run.loop.body, name)
    if name in place.unit.parameters or _binds(place.unit.node.body, name):
        return False
    return _binds(place.unit.module.tree.body, name)


def _binds(body: list[ast.stmt], text: str) -> bool:
    for node in inside(body):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == text:
                        return True
    return False


def _empties(body: list[ast.stmt], text: str) -> bool:
    for node in inside(body):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("clear", "pop", "popleft")
        ):
            if ast.unparse(node.func.value) == text:
                return True
        elif isinstance(node, ast.Delete):
            if any(isinstance(t, ast.Subscript) and ast.unparse(t.value) == text for t in node.targets):
                return True
        elif isinstance(node, ast.Assign):
            if any(
                isinstance(t, ast.Subscript) and ast.unparse(t.value) == text and isinstance(t.slice, ast.Slice)
                for t in node.targets
            ):
                return True
    return False


# -- the same value twice ------------------------------------------------------------------------------------------------


def _core(value: Value) -> str:
    """An expression without what only converts it: `loss.item()` is `loss`."""
    node = value.node
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("float", "round")
            and node.args
        ):
            node = node.args[0]
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return ast.unparse(node)


def _conditions(module: Module, place: Place) -> list[tuple[int, bool]]:
    """The `if`s that a place is under, inside its innermost loop, with the branch."""
    found: list[tuple[int, bool]] = []
    loops = loops_around(module, place.emission.stmt)
    child: ast.AST = place.emission.stmt
    node = module.parent(child)
    while (
        node is not None
        and node is not (loops[0] if loops else None)
        and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ):
        if isinstance(node, ast.If):
            found.append((id(node), any(child is stmt for stmt in node.body)))
        child, node = node, module.parent(node)
    return found


def exclusive(one: Place, other: Place) -> bool:
    """Whether of two places only one is reached: they are in different branches of one `if`."""
    if one.unit is not other.unit:
        return False
    module = one.unit.module
    branches = dict(_conditions(module, one))
    return any(owner in branches and branches[owner] is not branch for owner, branch in _conditions(module, other))


def _drop_repeated(run: Run) -> None:
    every = [(place, value) for place in run.places for value in place.emission.values]
    dropped: set[int] = set()
    for index, (place, value) in enumerate(every):
        for other_place, other in every[:index]:
            if (
                id(other) in dropped
                or id(value) in dropped
                or place is other_place
                or place.unit is not other_place.unit
            ):
                continue
            if _core(value) != _core(other) or exclusive(place, other_place):
                continue
            # The one that is reached more often wins: in the inner loop, under fewer conditions; printed before kept.
            first, second = _often(other_place), _often(place)
            lost, kept = (other, value) if second < first else (value, other)
            if kept.named and not lost.named and not kept.changing:
                kept.key, kept.named = lost.key, False
            dropped.add(id(lost))
    for place in run.places:
        place.emission.values = [v for v in place.emission.values if id(v) not in dropped]


def _often(place: Place) -> tuple[bool, int, int, bool]:
    module = place.unit.module
    return (
        place.after,
        -len(loops_around(module, place.emission.stmt)),
        len(_conditions(module, place)),
        place.emission.kind == "list",
    )


# -- the same key for different values -----------------------------------------------------------------------------------


def _rename(run: Run, settled: set[int]) -> None:
    taken: dict[str, tuple[Place, Value]] = {}
    for place in run.places:
        if id(place.emission) in settled:
            taken.update({value.key: (place, value) for value in place.emission.values})
    for place in run.places:
        if id(place.emission) in settled:
            continue
        for value in list(place.emission.values):
            known = taken.get(value.key)
            if known is None or (exclusive(known[0], place) and known[0].emission is not place.emission):
                taken.setdefault(value.key, (place, value))
                continue
            key = next((k for k in _other_keys(run, place, value, known[0]) if k and k not in taken), "")
            if not key:
                place.emission.values.remove(value)
                continue
            value.key = key
            taken[key] = (place, value)


def _other_keys(run: Run, place: Place, value: Value, known: Place) -> list[str]:
    found = []
    name = name_of(value.node).strip("_")
    if place.after:
        found.append(f"final_{value.key}")
    if not value.named and is_metric(name) and name != value.key and singular(name) != value.key:
        found.append(name)
    if place.unit is not known.unit:
        phase = phase_of(place.unit.name)
        found += [
            f"{phase}_{value.key}" if phase and phase not in tokens(value.key) else "",
            f"{place.unit.name.strip('_')}_{value.key}" if place.unit.name else "",
        ]
    if place.depth < known.depth:
        words = [w for w in loop_words(run.loop) if w in ("epoch", "episode", "iteration", "round", "update")]
        found.append(f"{words[0] if words else 'mean'}_{value.key}")
    return found
