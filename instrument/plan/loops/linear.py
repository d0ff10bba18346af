"""Steps that a program works out from two loops: `epoch * len(loader) + i`, which moves on in every turn of the inner one."""

from __future__ import annotations

import ast

from instrument.plan.loops.runs import Place, Run
from instrument.plan.loops.units import inside, loops_around
from instrument.plan.loops.values import name_of

#: What draws its argument's items one by one.
_WRAPPERS = frozenset("tqdm trange track".split())


def worked_out(run: Run, place: Place) -> str:
    """The name of a step that is worked out before a place, from the run's counter and the loop around the place; or "".

    The factor must be the inner loop's own length: then no step comes twice, and none goes back.
    """
    module, emission = place.unit.module, place.emission
    if place.depth != 1 or not place.counter:
        return ""
    around = loops_around(module, emission.stmt, run.loop if place.unit is run.unit else None)
    if len(around) != 1 or not isinstance(around[0], ast.For):
        return ""
    loop = around[0]
    counted = _counted(loop)
    if counted is None:
        return ""
    index, length = counted
    assigned: dict[str, list[ast.stmt]] = {}
    for node in inside(loop.body):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        assigned.setdefault(part.id, []).append(node)
    if index in assigned or place.counter in assigned:
        return ""
    for stmt in loop.body:
        if stmt.lineno >= emission.stmt.lineno:
            break
        if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
            name = stmt.targets[0].id
            if assigned[name] == [stmt] and _is_linear(stmt.value, place.counter, index, length):
                return name
    return ""


def _counted(loop: ast.For) -> tuple[str, str] | None:
    """The index of a loop that counts from 0, and its length as the program would write it."""
    source = loop.iter
    while isinstance(source, ast.Call) and name_of(source.func) in _WRAPPERS and source.args:
        if name_of(source.func) == "trange":
            break
        source = source.args[0]
    if not isinstance(source, ast.Call):
        return None
    called = name_of(source.func)
    if called == "enumerate" and len(source.args) == 1 and not source.keywords:
        if isinstance(loop.target, ast.Tuple) and isinstance(loop.target.elts[0], ast.Name):
            items = source.args[0]
            while isinstance(items, ast.Call) and name_of(items.func) in _WRAPPERS and items.args:
                items = items.args[0]
            return loop.target.elts[0].id, f"len({ast.unparse(items)})"
    elif called in ("range", "trange") and len(source.args) == 1 and isinstance(loop.target, ast.Name):
        return loop.target.id, ast.unparse(source.args[0])
    return None


def _is_linear(value: ast.expr, outer: str, index: str, length: str) -> bool:
    """Whether a value is `outer * length + index`, in whatever order, perhaps with a constant added."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return False
    if isinstance(value.right, ast.Constant):
        return _is_linear(value.left, outer, index, length)
    for product, rest in ((value.left, value.right), (value.right, value.left)):
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult) and ast.unparse(rest) == index:
            if {ast.unparse(product.left), ast.unparse(product.right)} == {outer, length}:
                return True
    return False
