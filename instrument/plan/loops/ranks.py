"""Which process of several shows the metrics: the condition that the program itself prints under."""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING

from instrument.plan.loops.hparams import is_bound
from instrument.plan.loops.runs import Place, Run, Runs
from instrument.plan.loops.units import FUNCTIONS, Unit, inside, last_name
from instrument.plan.loops.values import name_of

if TYPE_CHECKING:
    from instrument.repo.names import Module

_RANK = re.compile(
    r"(?:\w*_)?(?:rank|process_index|node_rank)|is_(?:main|master|primary|root|local_main|rank_zero|rank0|rank_0|main_rank)\w*|"
    r"(?:main|master)_(?:process|rank|node)\w*|get_rank|is_world_process_zero|rank_zero|is_chief|is_master_ordinal"
)
_DISTRIBUTED = re.compile(
    rb"init_process_group|DistributedDataParallel|FullyShardedDataParallel|fully_shard|mp\.spawn|xmp\.spawn|deepspeed\.init|"
    rb"dist\.get_rank|hvd\.init|jax\.distributed|Accelerator\(|LOCAL_RANK|init_device_mesh"
)
_STARTS = re.compile(r"\b(?:Process|spawn|start_processes|notebook_launcher|ProcessPoolExecutor|Pool)\b")


def guards_of(runs: Runs, run: Run) -> list[str]:
    """The conditions on the process under which the run's metrics are shown, the most usual first; "" for none."""
    counted: dict[str, int] = {}
    for place in run.places:
        text = guard_of(runs, place)
        counted[text] = counted.get(text, 0) + 1
    return sorted(counted, key=lambda text: -counted[text])


def guard_of(runs: Runs, place: Place) -> str:
    """The condition on the process that a place is under, "" for none."""
    module, stmt = place.unit.module, place.emission.stmt
    found = _above(module, stmt)
    if found:
        return found
    call = place.emission.node
    if isinstance(call, ast.Call):
        if isinstance(call.func, ast.Attribute):
            receiver = module.code(call.func.value)
            if call.func.attr == "print" and "accel" in receiver.lower():
                return f"{receiver}.is_main_process"
            if place.emission.kind == "bar":
                return _shown_by(place.unit, call.func.value)
        for unit in runs.code.callees(module, call):
            if runs.printers.is_printer(unit):
                return _inside(unit)
    return ""


def stands_under(run: Run, guard: str) -> bool:
    """Whether the loop itself is under a condition on the process already."""
    return _above(run.module, run.anchor) == guard


def _above(module: Module, node: ast.AST) -> str:
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, FUNCTIONS):
        if isinstance(parent, ast.If) and any(child is stmt for stmt in parent.body):
            for test in _conjuncts(parent.test):
                if _is_of_rank(test):
                    return module.code(test)
        child, parent = parent, module.parent(parent)
    return ""


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in _conjuncts(value)]
    return [test]


def _is_of_rank(test: ast.expr) -> bool:
    """`rank == 0`, `is_main_process()`, `not rank`, `args.local_rank in (-1, 0)`, `accelerator.is_main_process`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_of_rank(test.operand)
    if isinstance(test, ast.BoolOp):
        return any(map(_is_of_rank, test.values))
    if isinstance(test, ast.Compare):
        return any(_is_of_rank(part) for part in (test.left, *test.comparators))
    if isinstance(test, ast.Call):
        return _is_of_rank(test.func)
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return _RANK.fullmatch(name) is not None


def _shown_by(unit: Unit, bar: ast.expr) -> str:
    """`tqdm(..., disable=not is_main)` shows on the main process."""
    text = ast.unparse(bar)
    for node in inside(unit.node.body):
        made: ast.expr | None = None
        if (
            isinstance(node, ast.withitem)
            and node.optional_vars is not None
            and ast.unparse(node.optional_vars) == text
        ):
            made = node.context_expr
        elif isinstance(node, ast.Assign) and any(ast.unparse(t) == text for t in node.targets):
            made = node.value
        if isinstance(made, ast.Call):
            disable = next((k.value for k in made.keywords if k.arg == "disable"), None)
            if isinstance(disable, ast.UnaryOp) and isinstance(disable.op, ast.Not) and _is_of_rank(disable.operand):
                return unit.module.code(disable.operand)
            if isinstance(disable, ast.Compare) and isinstance(disable.ops[0], ast.NotEq) and _is_of_rank(disable):
                return f"{unit.module.code(disable.left)} == {unit.module.code(disable.comparators[0])}"
    return ""


def _inside(unit: Unit) -> str:
    """The condition that a function prints under."""
    for node in inside(unit.node.body):
        if isinstance(node, ast.If):
            for test in _conjuncts(node.test):
                if _is_of_rank(test):
                    return unit.module.code(test)
    return ""


def is_distributed(run: Run) -> bool:
    """Whether the program runs the loop in several processes."""
    modules = {run.module.path: run.module, **{unit.module.path: unit.module for unit in run.reached}}
    return any(_DISTRIBUTED.search(module.source.data) for module in modules.values())


def is_spawned(runs: Runs, run: Run) -> bool:
    """Whether the loop's function is started in processes of its own."""
    units, queue = {run.unit}, [run.unit]
    for _ in range(3):
        queue = [caller for unit in queue for caller, _ in runs.code.callers.get(unit, [])]
        units |= set(queue)
    nodes = {unit.node: unit.name for unit in units if unit.name}
    for module in runs.code.modules:
        for call in module.calls() if _STARTS.search(module.source.text) else ():
            if not _STARTS.fullmatch(last_name(call.func)):
                continue
            for value in [*call.args, *(k.value for k in call.keywords)]:
                if isinstance(value, (ast.Name, ast.Attribute)) and name_of(value) in nodes.values():
                    if any(node in nodes for _, node in runs.code.context.program.definitions(module, value)):
                        return True
    return False


def is_visible(run: Run, text: str) -> bool:
    """Whether a condition can be asked where the run begins: its names are bound there."""
    module = run.module
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id) and not is_bound(run, node.id):
            imported = module.scope.names.get(node.id, ())
            if not any(binding.kind in ("module", "from", "def") for binding in imported):
                return False
    return True
