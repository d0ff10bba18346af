"""Writing the calls of one run: open it above its loop, send each metric where it is shown, close it below."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import effect_free, fresh_name, moved_text
from instrument.plan.loops.emissions import Emission
from instrument.plan.loops.hparams import config_of
from instrument.plan.loops.values import Value, is_located

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.loops.runs import Place, Run
    from instrument.plan.place import Insertion
    from instrument.repo.names import Module

RULE = "custom_loop"
_LONGEST = 100


class Writer:
    """Makes the edits; every one of them is for a person to look at."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._written: set[ast.stmt] = set()

    def alias(self, module: Module) -> str:
        """What a file calls Probe; asking for it brings the import."""
        return self._context.tracking.alias(module, "core")

    def _insert(self, module: Module, point: Insertion, reason: str, group: str) -> None:
        self._context.edit(
            module.path, point.offset, point.offset, point.text, reason=reason, rule=RULE, applicability="review",
            group=group,
        )  # fmt: skip

    def open(self, run: Run, guard: str) -> bool:
        """Write `probe.init(...)` above the loop. False where no statement can stand there."""
        module, asked = run.module, self._context.options
        config = config_of(self._context, run)
        given = [
            f'{key}="{value}"'
            for key in ("project", "experiment", "question", "name")
            if (value := getattr(asked, key))
        ]
        if config:
            given.append(f"config={config}")
        lines = _call(f"{self.alias(module)}.init", given, len(place.indent_of(module, run.anchor)))
        if guard:
            lines = [f"if {guard}:", *(f"    {line}" for line in lines)]
        point = place.before(module, run.anchor, lines)
        if point is None:
            return False
        where = " on the process that shows the metrics" if guard else ""
        self._insert(module, point, f"open a run where this training begins{where}", _group(module, run.anchor))
        return True

    def close(self, run: Run) -> bool:
        """Write `probe.finish()` below what belongs to the run. False where it is left to the end of the process."""
        module = run.module
        if isinstance(run.loop, ast.While) and _endless(run.loop):
            return False
        assert run.last is not None
        point = place.after(module, run.last, [f"{self.alias(module)}.finish()"])
        if point is None:
            return False
        self._insert(module, point, "close the run where this training ends", _group(module, run.anchor))
        return True

    def log(self, spot: Place, step: str) -> bool:
        """Write `probe.log(...)` beside what shows the metrics. False where there is no place, or nothing is left to send."""
        emission = spot.emission
        module, stmt = emission.module, emission.stmt
        if stmt in self._written:
            return True
        self._written.add(stmt)
        group = _group(module, stmt)
        binds = self._bind(emission)
        if emission.row:
            row = emission.row
        else:
            if not emission.values:
                return False
            row = f"{{{', '.join(f'{_key(value)}: {value.text}' for value in emission.values)}}}"
        given = [row, *([f"step={step}"] if step else [])]
        lines = _call(f"{self.alias(module)}.log", given, len(place.indent_of(module, stmt)))
        if place.one_line_suite(module, stmt):
            lines = [f"{self.alias(module)}.log({', '.join(given)})"]
        below = place.after(module, stmt, lines)
        if below is None:
            return False
        if binds:
            names = [f"{name} = {moved_text(module, node, place.indent_of(module, stmt))}" for name, node in binds]
            above = place.before(module, stmt, names)
            if above is None:
                return False
            self._insert(module, above, "bind what is shown to a name, so that it is evaluated once", group)
            for name, node in binds:
                self._context.edit(
                    module.path, module.start(node), module.end(node), name, reason="the value bound above", rule=RULE,
                    applicability="review", group=group, moved=True,
                )  # fmt: skip
        self._insert(module, below, "send what is shown here", group)
        return True

    def _bind(self, emission: Emission) -> list[tuple[str, ast.expr]]:
        """Bind values that may not be evaluated twice; those that can't be are taken out of the emission."""
        binds: list[tuple[str, ast.expr]] = []
        taken: set[str] = set()
        for value in [v for v in emission.values if v.bind]:
            if not _movable(emission, value.node, [node for _, node in binds]):
                emission.values.remove(value)
                continue
            base = value.key if value.key.isidentifier() else "value"
            name = fresh_name(emission.module, emission.stmt, base, taken)
            taken.add(name)
            binds.append((name, value.node))
            value.text = name
        return binds


def bindable(emission: Emission) -> None:
    """Take out of an emission what can neither be evaluated twice nor bound."""
    moved: list[ast.expr] = []
    for value in [v for v in emission.values if v.bind]:
        if _movable(emission, value.node, moved):
            moved.append(value.node)
        else:
            emission.values.remove(value)


def _movable(emission: Emission, node: ast.expr, moved: list[ast.expr]) -> bool:
    """Whether an expression may be evaluated above its statement: nothing with an effect comes before it there."""
    module, stmt = emission.module, emission.stmt
    if not is_located(module, node) or module.statement(node) is not stmt or place.one_line_suite(module, stmt):
        return False
    if not isinstance(stmt, ast.Expr) or not place.evaluated_once(module, node):
        return False
    child: ast.AST = node
    parent = module.parent(child)
    while parent is not None and parent is not stmt:
        for other in ast.iter_child_nodes(parent):
            if other is child:
                break
            if isinstance(other, ast.expr) and other not in moved and not _looks(other, moved):
                return False
        if isinstance(parent, ast.JoinedStr) and not isinstance(child, ast.FormattedValue):
            return False
        if isinstance(parent, ast.FormattedValue) and _shows_itself(module, parent):
            return False
        child, parent = parent, module.parent(parent)
    return True


def _looks(node: ast.expr, moved: list[ast.expr]) -> bool:
    """Whether an expression does nothing but look at names, apart from what is moved out of it."""
    if node in moved or effect_free(node):
        return True
    if isinstance(node, ast.FormattedValue):
        return _looks(node.value, moved) and (node.format_spec is None or _looks(node.format_spec, moved))
    if isinstance(node, ast.JoinedStr):
        return all(_looks(value, moved) for value in node.values)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_looks(value, moved) for value in node.elts)
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant)


def _shows_itself(module: Module, part: ast.FormattedValue) -> bool:
    """`f"{x()=}"` prints its own text."""
    text = module.source.text
    at = module.end(part.value)
    return text[at : at + 3].lstrip().startswith("=") and not text[at : at + 3].lstrip().startswith("==")


def _key(value: Value) -> str:
    if value.changing:
        return f'f"{{{value.changing}}}_{value.key}"'
    return f'"{value.key}"'


def _call(function: str, given: list[str], indent: int) -> list[str]:
    """A call on one line, or with an argument (then an item) a line where that would be too long."""
    line = f"{function}({', '.join(given)})"
    if len(line) + indent <= _LONGEST:
        return [line]
    lines = [f"{function}("]
    for argument in given:
        if len(argument) + indent + 5 <= _LONGEST or "{" not in argument:
            lines.append(f"    {argument},")
            continue
        head, items, tail = _items(argument)
        lines += [f"    {head}", *(f"        {item}," for item in items), f"    {tail},"]
    return [*lines, ")"]


def _items(argument: str) -> tuple[str, list[str], str]:
    """The items of `{...}` or `config={...}`, each as it is written."""
    head, _, _ = argument.partition("{")
    mapping = ast.parse(argument[len(head) :], mode="eval").body
    assert isinstance(mapping, ast.Dict)
    text = argument[len(head) :]
    pieces = []
    for key, item in zip(mapping.keys, mapping.values):
        assert key is not None
        pieces.append(f"{ast.get_source_segment(text, key)}: {ast.get_source_segment(text, item)}")
    return head + "{", pieces, "}"


def _group(module: Module, node: ast.AST) -> str:
    return f"{module.path}:{module.start(node)}"


def _endless(loop: ast.While) -> bool:
    """`while True` without a `break`: nothing comes after it."""
    forever = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    return forever and not any(isinstance(node, ast.Break) for node in ast.walk(loop))
