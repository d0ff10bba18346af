"""Opening Probe's run where the tracker's run is opened, whatever form that takes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import effect_free, fresh_name, moved_text, repeatable
from instrument.plan.emission import Opening, handles
from instrument.plan.guards import flag_off_by_default
from instrument.plan.mirror import walrus_allowed
from instrument.plan.twice import dominates, exclusive

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.emission import Tracker
    from instrument.plan.mirror import Mirror
    from instrument.repo.names import Module

_REASON = "open Probe's run under the same guard as the tracker's"


def open_beside(mirror: Mirror, call: ast.Call, opening: Opening) -> None:
    """Write `probe.init(...)` for one call that opens a run, or ask where that can't be done."""
    module = mirror.module
    site = mirror.context.site(mirror.tracker.name, "open", module, call, module.code(call.func), strategy="alongside")
    skipped = opening.skip(mirror.context, module, call)
    if skipped is not None:
        site.outcome, site.why = "left", skipped
        return
    if mirror.existing.counterpart(call, "init") or mirror.existing.counterpart(settled(mirror, call), "init"):
        site.outcome, site.why = "already", "probe.init stands beside it"
        return
    other = _opened_by_another(mirror, call)
    if other == "always":
        site.outcome, site.why = "left", "the run is opened beside another tracker's, just before"
        return
    if _written(mirror, call, opening, unless_open=other == "perhaps"):
        site.outcome, site.why = "covered", "probe.init opens a run where the tracker opens one"
        flag = flag_off_by_default(module, call)
        if flag is not None:
            mirror.context.note(
                "warning", "follows-flag",
                f"{module.code(call.func)} runs only with `{flag}`, which is off by default; Probe follows it",
                path=module.path, line=site.line, next=f"switch `{flag}` on to record the run",
            )  # fmt: skip
    else:
        mirror.ask(
            site, "open-by-hand",
            f"{module.code(call.func)} is called inside an expression: open Probe's run beside it by hand",
            next="write the call as a statement of its own, then run `instrument apply` again",
        )  # fmt: skip


def _init(mirror: Mirror, call: ast.Call, opening: Opening, handle: str | None) -> str:
    arguments = opening.arguments(mirror.context, mirror.module, call, handle)
    asked = mirror.context.options
    given = [
        f"{key}={_quoted(value)}" for key in ("project", "experiment", "question") if (value := getattr(asked, key))
    ]
    if asked.name:
        arguments = [f"name={_quoted(asked.name)}", *(a for a in arguments if not a.startswith("name="))]
    return f"{mirror.alias}.init({', '.join([*given, *arguments])})"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def settled(mirror: Mirror, call: ast.Call) -> ast.stmt:
    """The statement that completes an opening: the call's own, or the last right below it that sets config or name.

    `wandb.init(); wandb.config.update(args); wandb.run.name = "x"` opens Probe's run with all of that.
    """
    return settling(mirror.context, mirror.tracker, mirror.module, call)[-1]


def settling(context: Context, tracker: Tracker, module: Module, call: ast.Call) -> list[ast.stmt]:
    """The statements that open a run together, that of the call first."""
    stmt = module.statement(call)
    if module.parent(call) is not stmt or not tracker.settles:
        return [stmt]
    block, index = module.block(stmt)
    last = index
    for position in range(index + 1, len(block)):
        if _settles(context, tracker, module, block[position]):
            last = position
        elif not _passed_over(context, tracker, module, block[position]):
            break
    return block[index : last + 1]


def _settles(context: Context, tracker: Tracker, module: Module, stmt: ast.stmt) -> bool:
    if isinstance(stmt, (ast.Expr, ast.Assign)) and isinstance(stmt.value, ast.Call):
        if context.program.resolve(module, stmt.value.func) & tracker.settles:
            return True
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return False
    target = stmt.targets[0]
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        return False
    owners = context.program.resolve(module, target.value)
    names = owners if isinstance(target, ast.Subscript) else owners | {f"{owner}.{target.attr}" for owner in owners}
    return bool(names & tracker.settles)


def _passed_over(context: Context, tracker: Tracker, module: Module, stmt: ast.stmt) -> bool:
    """What may stand between an opening and what completes it: `config = wandb.config`, `wandb.watch(model)`."""
    if isinstance(stmt, ast.Assign):
        return effect_free(stmt.value) and all(isinstance(target, ast.Name) for target in stmt.targets)
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
        return bool(context.program.resolve(module, stmt.value.func) & tracker.leaves.keys())
    return False


def _opened_by_another(mirror: Mirror, call: ast.Call) -> str:
    """Whether another tracker's opening in this file has opened the run when this one runs: always, perhaps or never."""
    found = "never"
    for site in mirror.context.plan.sites:
        opened = site.kind == "open" and site.outcome in ("covered", "already")
        if not opened or site.rule == mirror.tracker.name or site.node is None:
            continue
        if site.path != mirror.module.path:
            if mirror.context.tracking.run_together(site.path, mirror.module):
                found = "perhaps"
            continue
        if dominates(mirror.module, site.node, call):
            return "always"
        if not exclusive(mirror.module, site.node, call):
            found = "perhaps"
    return found


def _written(mirror: Mirror, call: ast.Call, opening: Opening, *, unless_open: bool = False) -> bool:
    module = mirror.module
    parent, stmt = module.parent(call), module.statement(call)
    if isinstance(parent, ast.withitem) and isinstance(stmt, ast.With):
        return _in_with(mirror, call, parent, stmt, opening)
    if not place.evaluated_once(module, call):
        return _conditional(mirror, call, stmt, opening) or _as_expression(mirror, call, opening)
    ambient = opening.ambient(module, call)
    if parent is stmt and isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        handle = _target(mirror, stmt) if opening.gives_handle else None
        point = _below(
            module,
            settled(mirror, call),
            _init(mirror, call, opening, handle or ambient),
            f"{mirror.alias}.active_run() is None" if unless_open else "",
        )
        if point is not None:
            mirror.insert(point, _REASON)
            return True
    shows = getattr(module.source, "shows_value", None)
    displayed = bool(shows and isinstance(stmt, ast.Expr) and shows(stmt))
    if (
        parent is stmt
        and isinstance(stmt, ast.Expr)
        and not displayed
        and (ambient is not None or not opening.gives_handle)
    ):
        point = _below(
            module,
            settled(mirror, call),
            _init(mirror, call, opening, ambient),
            f"{mirror.alias}.active_run() is None" if unless_open else "",
        )
        if point is not None:
            mirror.insert(point, _REASON)
            return True
    if parent is stmt and isinstance(stmt, ast.Expr) and not displayed:
        # The result is thrown away and nothing else reaches the run: keep it in a name.
        name = fresh_name(module, call, opening.kept_as)
        point = _below(module, stmt, _init(mirror, call, opening, name))
        if point is None:
            return False
        group = f"{module.path}:{module.start(call)}"
        mirror.insert(place.Insertion(module.start(stmt), f"{name} = "), "keep the run that is opened here", group)
        mirror.insert(point, _REASON, group)
        return True
    if ambient and isinstance(stmt, ast.Assign) and _in_display(module, call):
        point = _below(module, stmt, _init(mirror, call, opening, ambient))
        if point is not None:
            mirror.insert(point, _REASON)
            return True
    if place.comes_first(module, call) and _bound_before(mirror, call, stmt, opening, unless_open=unless_open):
        return True
    return _as_expression(mirror, call, opening)


def _in_display(module: Module, call: ast.Call) -> bool:
    """`loggers = [Console(), wandb.init()]`: nothing after the call is evaluated that could log."""
    child: ast.AST = call
    parent = module.parent(child)
    while isinstance(parent, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
        parts = parent.values if isinstance(parent, ast.Dict) else parent.elts
        if child not in parts or not all(effect_free(part) for part in parts[parts.index(child) + 1 :]):
            return False
        child, parent = parent, module.parent(parent)
    return isinstance(parent, ast.Assign) and parent.value is child


def _as_expression(mirror: Mirror, call: ast.Call, opening: Opening) -> bool:
    """In a lambda, a condition, an argument that others come before: a pair that yields the tracker's run."""
    module = mirror.module
    handle = opening.ambient(module, call)
    group = f"{module.path}:{module.start(call)}"
    head = "("
    if handle is None and opening.gives_handle:
        if not walrus_allowed(module, call):
            return False
        handle = fresh_name(module, call, opening.kept_as)
        head = f"({handle} := "
    inner = _init(mirror, call, opening, handle)
    if head == "(":
        mirror.insert(place.Insertion(module.start(call), head), _REASON, group)
        mirror.insert(place.Insertion(module.end(call), f", {inner})[0]"), _REASON, group)
    else:
        mirror.insert(place.Insertion(module.start(call), f"({head}"), _REASON, group)
        mirror.insert(place.Insertion(module.end(call), f"), {inner})[0]"), _REASON, group)
    return True


def _below(module: Module, stmt: ast.stmt, call: str, condition: str = "") -> place.Insertion | None:
    """Below a statement; at the end of a notebook cell with a `;`, so that the cell does not show the run."""
    if condition:
        point = place.after(module, stmt, [f"if {condition}:", f"    {call}"])
        if point is not None:
            return point
    point = place.after(module, stmt, [call])
    shows_last = getattr(module.source, "shows_last", None)
    if point is not None and shows_last and stmt in module.tree.body and shows_last(point.offset):
        return place.Insertion(point.offset, point.text + ";")
    return point


def _target(mirror: Mirror, stmt: ast.Assign | ast.AnnAssign) -> str | None:
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
    for target in targets:
        if isinstance(target, ast.Name) or (isinstance(target, ast.Attribute) and repeatable(target)):
            return mirror.module.code(target)
    return None


def _bound_before(mirror: Mirror, call: ast.Call, stmt: ast.stmt, opening: Opening, *, unless_open: bool) -> bool:
    """`return wandb.init(...)`, `Loop(wandb.init(...))`: bind the run first, open Probe's, then go on with the name."""
    module = mirror.module
    name = fresh_name(module, call, opening.kept_as)
    text = moved_text(module, call, place.indent_of(module, stmt))
    init = _init(mirror, call, opening, name)
    guarded = [f"if {mirror.alias}.active_run() is None:", f"    {init}"] if unless_open else [init]
    point = place.before(module, stmt, [f"{name} = {text}", *guarded])
    point = point or place.before(module, stmt, [f"{name} = {text}", init])
    if point is None:
        return False
    group = f"{module.path}:{module.start(call)}"
    mirror.insert(point, _REASON, group)
    mirror.context.edit(
        module.path, module.start(call), module.end(call), name, reason="the run opened above",
        rule=mirror.tracker.name, group=group, moved=True,
    )  # fmt: skip
    return True


def _in_with(mirror: Mirror, call: ast.Call, item: ast.withitem, stmt: ast.With, opening: Opening) -> bool:
    """`with wandb.init() as run:` gets a second item, so that Probe's run ends as the tracker's does."""
    module = mirror.module
    handle = module.code(item.optional_vars) if isinstance(item.optional_vars, (ast.Name, ast.Attribute)) else None
    handle = handle or opening.ambient(module, call)
    text = _init(mirror, call, opening, handle)
    end = module.end(item.optional_vars or item.context_expr)
    source = module.source
    line = source.line_start(source.line_of(module.start(item.context_expr)))
    lead = source.text[line : module.start(item.context_expr)]
    own_line = not lead.strip()
    above = source.text[:line].removesuffix(source.newline)
    comma = ", \\" if above.endswith("\\") else ","
    separator = f"{comma}{source.newline}{lead}" if own_line else ", "
    mirror.insert(place.Insertion(end, separator + text), _REASON)
    return True


def _conditional(mirror: Mirror, call: ast.Call, stmt: ast.stmt, opening: Opening) -> bool:
    """`run = wandb.init() if main else None`, `run = use and wandb.init()`: open Probe's when there is a run."""
    module = mirror.module
    if not isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        return False
    parent = module.parent(call)
    if module.parent(parent) is not stmt if parent is not None else True:
        return False
    handle = _target(mirror, stmt)
    if handle is None:
        return False
    if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) and parent.values[-1] is call:
        condition = handle
    elif isinstance(parent, ast.BoolOp) and parent.values[-1] is call and _own_state(mirror, parent.values[0]):
        condition = f"{mirror.alias}.active_run() is None"  # `wandb.run or wandb.init()`
    elif isinstance(parent, ast.IfExp):
        other = parent.orelse if parent.body is call else parent.body
        if isinstance(other, ast.Constant) and other.value is None:
            condition = f"{handle} is not None"
        elif _own_state(mirror, parent.test):
            condition = f"{mirror.alias}.active_run() is None"  # `wandb.init() if not wandb.run else wandb.run`
        elif _pure_test(parent.test):
            test = module.code(parent.test)
            condition = test if parent.body is call else f"not ({test})" if " " in test else f"not {test}"
        else:
            return False
    else:
        return False
    point = place.after(module, stmt, [f"if {condition}:", f"    {_init(mirror, call, opening, handle)}"])
    if point is None:
        return False
    mirror.insert(point, _REASON)
    return True


def _own_state(mirror: Mirror, test: ast.expr) -> bool:
    """Whether a condition asks the tracker itself, whose answer is another one after the call (`not wandb.run`)."""
    own = handles(mirror.tracker)
    return any(
        isinstance(part, (ast.Name, ast.Attribute)) and mirror.context.program.resolve(mirror.module, part) & own
        for part in ast.walk(test)
    )


def _pure_test(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return all(map(_pure_test, test.values))
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and _pure_test(test.operand)
    if isinstance(test, ast.Compare):
        return all(map(repeatable, [test.left, *test.comparators]))
    return repeatable(test)
