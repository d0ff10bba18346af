"""Writing Probe's call beside one tracker call."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import effect_free, fresh_name, moved_text, repeatable, short_enough
from instrument.plan.emission import Emission, Tracker, Used, handles, last_part

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.plan.place import Insertion
    from instrument.plan.probe_calls import ProbeCalls
    from instrument.repo.names import Module


class Mirror:
    """The edits of one tracker in one file."""

    def __init__(self, context: Context, tracker: Tracker, module: Module, package: str, existing: ProbeCalls) -> None:
        self.context = context
        self.tracker = tracker
        self.module = module
        self.package = package
        self.existing = existing
        #: Text that every Probe call of a file is guarded by ("accelerator.is_main_process"), if any.
        self.guard: str = ""

    @cached_property
    def alias(self) -> str:
        """What this file calls Probe; asking for it brings the import."""
        return self.context.tracking.alias(self.module, *self.tracker.parts, beside=self.package)

    def insert(self, point: Insertion, reason: str, group: str = "") -> None:
        """Add an insertion to the plan."""
        self.context.edit(
            self.module.path, point.offset, point.offset, point.text, reason=reason, rule=self.tracker.name, group=group
        )

    def ask(self, site: Site, code: str, message: str, *, next: str = "") -> None:
        """Leave a site to a person, and say so."""
        site.outcome, site.why = "asked", message
        self.context.note("question", code, message, path=site.path, line=site.line, next=next)

    # -- log ------------------------------------------------------------------------------------------------------

    def log(self, node: ast.Call | ast.Assign | ast.Return, emission: Emission, guard: str = "") -> bool:
        """Write `probe.log` beside a call, or an assignment or return that sends. False where no place for it exists."""
        module = self.module
        stmt = module.statement(node)
        plain = node is stmt or (
            module.parent(node) is stmt and isinstance(stmt, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return))
        )
        if plain and self._as_statement(node, stmt, emission, guard or self.guard):
            return True
        if guard or self.guard or not isinstance(node, ast.Call):
            return False
        return self._as_expression(node, emission)

    def _bound(self, node: ast.Call | ast.Assign | ast.Return, emission: Emission) -> list[Used] | None:
        """What must be bound to names, in the order it is evaluated; None if that would change the order."""
        module = self.module
        evaluated = _evaluated(module, node)
        wanted = {id(u.expr): u for u in emission.uses if not repeatable(u.expr, role=u.base) or self._moves_on(u.expr)}
        if not wanted:
            wanted = {id(u.expr): u for u in emission.uses if not short_enough(module, u.expr)}
        receiver = evaluated[0] if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if receiver is not None and emission.automatic and self._opens_run(receiver):
            wanted[id(receiver)] = Used(receiver, "tracker")  # the row is sent before the call, the run opened before
        if not wanted:
            return []
        if receiver is not None and any(part is not receiver and id(part) in wanted for part in ast.walk(receiver)):
            return None  # `run[next_key()].append(x)`
        last = max(index for index, expr in enumerate(evaluated) if id(expr) in wanted)
        bound = []
        for expr in evaluated[: last + 1]:
            if id(expr) in wanted:
                bound.append(wanted[id(expr)])
            elif not effect_free(expr):
                # It was evaluated before; it must stay so.
                base = "tracker" if expr is receiver else "argument"
                bound.append(next((u for u in emission.uses if u.expr is expr), Used(expr, base)))
        if any(isinstance(u.expr, ast.Starred) for u in bound):
            return None
        return bound

    def _moves_on(self, expr: ast.expr) -> bool:
        """Whether the tracker's own call changes what an expression gives: `step=run.step + 1`."""
        own = {"step", "curr_step", "summary"}
        return any(
            isinstance(part, ast.Attribute)
            and part.attr in own
            and self.context.program.resolve(self.module, part.value) & handles(self.tracker)
            for part in ast.walk(expr)
        )

    def _opens_run(self, receiver: ast.expr) -> bool:
        """Whether to find the run is what opens it: a function or property of this repository that does."""
        program, calls = self.context.program, list[ast.AST]()
        if isinstance(receiver, ast.Call):
            calls = [function for _, function in program.definitions(self.module, receiver.func)]
        elif isinstance(receiver, ast.Attribute):
            calls = [
                node for name, node in self.module.definitions
                if name.rpartition(".")[2] == receiver.attr and getattr(node, "decorator_list", [])
            ]  # fmt: skip
        opens = {last_part(name) for name in self.tracker.opens}
        return any(
            isinstance(part, ast.Call)
            and (part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")) in opens
            for node in calls
            for part in ast.walk(node)
        )

    def _names(self, node: ast.AST, bound: list[Used]) -> dict[int, str]:
        names: dict[int, str] = {}
        for used in bound:
            names[id(used.expr)] = fresh_name(self.module, node, used.base, set(names.values()))
        return names

    def _call(self, emission: Emission, texts: list[str]) -> str:
        if emission.method != "log":
            self.context.tracking.alias(self.module, *self.tracker.parts, "series", beside=self.package)
        return f"{self.alias}.{emission.method}({emission.text(texts)})"

    def _texts(self, emission: Emission, names: dict[int, str]) -> list[str]:
        return [names.get(id(used.expr)) or self.module.code(used.expr) for used in emission.uses]

    def _as_statement(
        self, node: ast.Call | ast.Assign | ast.Return, stmt: ast.stmt, emission: Emission, guard: str
    ) -> bool:
        module = self.module
        bound = self._bound(node, emission)
        if bound is None:
            return False
        first = emission.automatic or place.ends_block(stmt)
        names = self._names(node, bound)
        line = self._call(emission, self._texts(emission, names))
        lines = [f"if {guard}:", f"    {line}"] if guard else [line]
        indent = place.indent_of(module, stmt)
        binds = [f"{names[id(u.expr)]} = {moved_text(module, u.expr, indent)}" for u in bound]
        above = binds + (lines if first else [])
        point = place.before(module, stmt, above) if above else None
        below = None if first else place.after(module, stmt, lines)
        if (above and point is None) or (not first and below is None):
            return False
        group = f"{module.path}:{module.start(node)}"
        what = (
            "the return"
            if isinstance(node, ast.Return)
            else module.code(node.func if isinstance(node, ast.Call) else node.targets[0])
        )
        if point is not None:
            reason = (
                f"bind what {what} is given to a name, so that it is evaluated once" if binds
                else f"send the same row to Probe before {what} counts its step"
            )  # fmt: skip
            self.insert(point, reason, group)
        for used in bound:
            self._replace(used.expr, names[id(used.expr)], group)
        if below is not None:
            self.insert(below, f"send to Probe what {what} sends", group)
        return True

    def _replace(self, expr: ast.expr, name: str, group: str) -> None:
        module = self.module
        self.context.edit(
            module.path, module.start(expr), module.end(expr), name,
            reason="the value bound above", rule=self.tracker.name, group=group, moved=True,
        )  # fmt: skip

    def _as_expression(self, call: ast.Call, emission: Emission) -> bool:
        """In a lambda, a comprehension or a conditional: a pair that yields what the tracker's call yields."""
        module = self.module
        bound = self._bound(call, emission)
        if bound is None or (bound and not walrus_allowed(module, call)):
            return False
        if emission.automatic and any(u.base == "tracker" for u in bound):
            return False
        names = self._names(call, bound)
        group = f"{module.path}:{module.start(call)}"
        reason = f"send to Probe what {module.code(call.func)} sends, in the same expression"
        texts = self._texts(emission, names)
        if emission.automatic:
            if len(bound) > sum(any(u is b for u in emission.uses) for b in bound):
                return False
            given = [
                f"({names[id(u.expr)]} := {module.code(u.expr)})" if id(u.expr) in names else text
                for u, text in zip(emission.uses, texts)
            ]
            self.insert(place.Insertion(module.start(call), f"({self._call(emission, given)}, "), reason, group)
            for used in bound:
                self._replace(used.expr, names[id(used.expr)], group)
            self.insert(place.Insertion(module.end(call), ")[1]"), reason, group)
            return True
        self.insert(place.Insertion(module.start(call), "("), reason, group)
        for used in bound:
            self.insert(place.Insertion(module.start(used.expr), f"({names[id(used.expr)]} := "), reason, group)
            self.insert(place.Insertion(module.end(used.expr), ")"), reason, group)
        tail = f", {self._call(emission, texts)})[0]"
        self.insert(place.Insertion(module.end(call), tail), reason, group)
        return True


def _evaluated(module: Module, node: ast.Call | ast.Assign | ast.Return) -> list[ast.expr]:
    """What a call, an assignment to an item or a return evaluates, in that order."""
    if isinstance(node, ast.Return):
        return [node.value] if node.value is not None else []
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return [node.value, target.value, target.slice] if isinstance(target, ast.Subscript) else [node.value]
    given: list[ast.expr] = [*node.args, *(k.value for k in node.keywords)]
    given.sort(key=module.start)
    if isinstance(node.func, ast.Attribute):
        return [node.func.value, *given]
    return given if isinstance(node.func, ast.Name) else [node.func, *given]


def walrus_allowed(module: Module, node: ast.AST) -> bool:
    """Assignment expressions are not allowed in a comprehension's iterable, nor in one directly in a class body."""
    child, parent, comprehension = node, module.parent(node), False
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.comprehension) and child is parent.iter:
            return False
        comprehension |= isinstance(parent, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
        if isinstance(parent, ast.Lambda):
            return True
        child, parent = parent, module.parent(parent)
    return not comprehension or not isinstance(module.parent(parent) if parent else None, ast.ClassDef)
