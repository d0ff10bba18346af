"""Shared by shapes whose door is a `callbacks=` argument: one more callback, whatever is given there already.

A written-out list grows by one. A name that always holds a list is spread into a new one, since a list that is handed
to several fits must not collect a callback for each. Anything else goes through a function of the generated module,
which looks at what it is when the program runs.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.append import append_argument, append_element
from instrument.plan.place import Insertion
from instrument.shapes._building import ask, insert, refuse_shadowed

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.repo.names import Module


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where a framework takes its callbacks, and what Probe's is called there."""

    rule: str
    title: str
    #: The class in the generated module, and the part that has it.
    callback: str
    part: str
    keyword: str = "callbacks"
    #: The position at which a call may give it without its name.
    position: int | None = None
    #: The function of the generated module that adds the callback to what is known only when the program runs.
    helper: str = "with_callback"
    #: Whether one callback may be given by itself, outside of a list.
    single: bool = False
    #: What an expression resolves to that is surely one callback.
    one: str = ""
    why: str


_RAY = re.compile(rb"^[ \t]*(?:from|import)[ \t]+ray\b", re.MULTILINE)


def own_source(context: Context, module: Module, *packages: str) -> bool:
    """Whether the repository is the framework itself."""
    return any(context.program.finder.find(package, module.path) is not None for package in packages)


def add_callback(
    context: Context, module: Module, call: ast.Call, door: Door, site: Site, beside: str, arguments: str = ""
) -> None:
    """Give a call Probe's callback; the site says what came of it."""
    given = place.argument(call, door.position, door.keyword)
    if _has(module, call, given, door):
        site.outcome, site.why = "already", f"it has a {door.callback}"
        context.opened_elsewhere = True
        return
    if _RAY.search(module.source.data):
        site.outcome, site.why = "left", "in a file that runs on Ray, what is reported to Ray is recorded"
        return
    if refuse_shadowed(context, module, site):
        return
    if given is None and place.has_splat(call):
        ask(
            context, site, "callback-by-hand",
            f"{site.what}: its arguments are passed on by * or **, which may hold `{door.keyword}` already",
            f"add {door.callback}() of probe_tracking to its {door.keyword} by hand",
        )  # fmt: skip
        return

    def name(which: str) -> str:
        return context.tracking.name(module, which, door.part, beside=beside, at=call)

    reason = f"register Probe's callback; it records what {door.title} reports, at {door.title}'s own steps"
    own, own_named = f"{door.callback}({arguments})", True
    if given is None:
        text = own if door.single else f"[{own}]"
        insert(context, module, append_argument(module, call, f"{door.keyword}={text}"), door.rule, reason)
    elif isinstance(given, ast.List):
        insert(context, module, append_element(module, given, own), door.rule, reason)
    elif isinstance(given, ast.Constant) and given.value is None:
        text = own if door.single else f"[{own}]"
        context.edit(
            module.path, module.start(given), module.end(given), text, rule=door.rule, reason=reason,
        )  # fmt: skip
    else:
        if isinstance(given, ast.Name) and always_a_list(module, call, given):
            head, tail = "[*", f", {own}]"
        elif _is_one(context, module, given, door):
            head, tail = "[", f", {own}]"
        elif door.helper == "with_callback":
            head, tail = f"{name('with_callback')}(", f", {own})"
        else:
            head, tail = f"{name(door.helper)}(", ")"
        group = f"{module.path}:{module.start(call)}"
        insert(context, module, Insertion(module.start(given), head), door.rule, reason, group)
        insert(context, module, Insertion(module.end(given), tail), door.rule, reason, group)
        own_named = own in tail
    if own_named:
        name(door.callback)
    context.opened_elsewhere = True
    site.outcome, site.why = "covered", door.why


def _has(module: Module, call: ast.Call, given: ast.expr | None, door: Door) -> bool:
    code = module.code(call)
    if door.callback in code or (door.helper != "with_callback" and f"{door.helper}(" in code):
        return True
    if isinstance(given, ast.Name):
        wanted = rf"\b{re.escape(given.id)}\b[^\n]*(?:=|append\(|extend\()[^\n]*{door.callback}"
        return bool(re.search(wanted, module.source.text))
    return False


def _is_one(context: Context, module: Module, given: ast.expr, door: Door) -> bool:
    """Whether an expression surely builds a single callback."""
    if not door.one or not isinstance(given, ast.Call):
        return False
    names = context.program.resolve(module, given)
    return bool(names) and all(
        re.fullmatch(door.one, name) or (name.startswith("repo:") and name.endswith("Callback()")) for name in names
    )


def always_a_list(module: Module, call: ast.Call, name: ast.Name) -> bool:
    """Whether every value that a name is given, in the function that makes the call or else the file, is written out."""
    function = module.function(call)
    inside = _values(module, name.id, function)
    if inside == [] and function is not None and module.function(function) is None:
        inside = _values(module, name.id, None)
    return bool(inside) and all(isinstance(value, (ast.List, ast.ListComp)) for value in inside or ())


def _values(module: Module, name: str, function: ast.AST | None) -> list[ast.expr] | None:
    """What a name is given right in a function (None: the file's top level); None where that can't be seen."""
    values: list[ast.expr] = []
    for node in ast.walk(function or module.tree):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return None
        if isinstance(node, ast.arg) and node.arg == name and module.function(node) is function:
            return None
        if not (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)):
            continue
        if module.function(node) is not function:
            continue
        parent = module.parent(node)
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is not None:
            values.append(parent.value)
        elif not isinstance(parent, ast.AugAssign):
            return None
    return values
