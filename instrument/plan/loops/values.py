"""Values that a loop shows: what each is called, and whether it may be written a second time or must be bound first."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from instrument.plan.loops.templates import Hole, Part
from instrument.plan.loops.words import is_counter, is_metric, is_position, key_of, phase_of, tokens

if TYPE_CHECKING:
    from instrument.repo.names import Module

#: Reading a value once more is nothing: these only convert it.
_CONVERTING = frozenset("item detach cpu numpy tolist float double get_last_lr block_until_ready squeeze".split())
_BUILTINS = frozenset("float int abs len round max min".split())
#: Attributes that are a statistic of what they belong to.
_STATISTICS = frozenset("avg val value mean item sum data global_avg median last result compute ema smoothed".split())
_AVERAGES = frozenset("avg mean global_avg average ema median".split())
_CONFIGS = frozenset("args config cfg conf opt opts options hparams hp flags FLAGS hyperparams settings self".split())
#: Names that say which data a line is about, and those that do where a loop goes over them.
_CHANGING = frozenset("phase split mode stage subset".split())
_ITEMS = _CHANGING | frozenset("name task metric key dataset domain tag".split())
_CLOCKS = frozenset("time perf_counter monotonic process_time now perf_counter_ns".split())
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.Mod)


@dataclass(slots=True)
class Value:
    """A number that reaches Probe: its key, and the expression it is."""

    key: str
    node: ast.expr
    #: The expression as it may be written in another statement.
    text: str
    #: It does something, or costs something: it must be bound to a name above, and the name used in both places.
    bind: bool = False
    #: A name that the key begins with ("phase" for `f"{phase}_loss"`).
    changing: str = ""
    #: The key is a name of the program's, not words of a text.
    named: bool = False


def cost(node: ast.expr) -> Literal["free", "bind", "no"]:
    """Whether an expression may be evaluated again right after it was, must be bound to a name first, or neither."""
    if any(isinstance(n, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.Starred))
           for n in ast.walk(node)):  # fmt: skip
        return "no"
    return "free" if _free(node) else "bind"


def _free(node: ast.expr) -> bool:
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return _free(node.value)
    if isinstance(node, ast.Subscript):
        return _free(node.value) and _free(node.slice)
    if isinstance(node, ast.UnaryOp):
        return _free(node.operand)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _ARITHMETIC) and _free(node.left) and _free(node.right)
    if isinstance(node, ast.Call) and not node.keywords:
        if isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "math":
                return all(map(_free, node.args))
            return node.func.attr in _CONVERTING and not node.args and _free(node.func.value)
        return isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and all(map(_free, node.args))
    return False


def text_of(module: Module, node: ast.expr) -> str:
    """An expression's own text where its position is right (in f-strings it may not be before Python 3.12)."""
    if is_located(module, node):
        return module.code(node)
    return ast.unparse(node)


def is_located(module: Module, node: ast.expr) -> bool:
    """Whether the text at an expression's position is the expression."""
    try:
        code = module.code(node)
        return "\n" not in code and ast.dump(ast.parse(code, mode="eval").body) == ast.dump(node)
    except (SyntaxError, ValueError, AttributeError, IndexError, TypeError):
        return False


def name_of(node: ast.expr) -> str:
    """What an expression is called: `losses.avg` is "losses", `x["loss"]` is "loss", `np.mean(errs)` is "errs"."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return name_of(node.value) if node.attr in _STATISTICS else node.attr
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        return name_of(node.value)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not node.args:
            inner = name_of(node.func.value)
            return node.func.attr if node.func.attr not in _STATISTICS | _CONVERTING else inner
        if node.args:
            inner = name_of(node.args[0])
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            return called if is_metric(called) and not is_metric(inner) else inner
        return name_of(node.func)
    if isinstance(node, ast.BinOp):
        left, right = name_of(node.left), name_of(node.right)
        return left if is_metric(left) or (not is_metric(right) and left) else right
    if isinstance(node, (ast.UnaryOp,)):
        return name_of(node.operand)
    return ""


def is_progress(node: ast.expr, counters: set[str], *, named: bool = False) -> bool:
    """Whether an expression is made of counters, sizes, settings and constants alone.

    `named`: the text calls it a metric, so that a sum or a size may well be one ("loss" is often `total / len(data)`).
    """
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return (
            node.id in counters
            or (is_position if named else is_counter)(node.id)
            or (node.id.isupper() and len(node.id) > 1)
        )
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id in _CONFIGS - {"self"}:
            return True
        if isinstance(node.value, ast.Attribute) and node.value.attr in _CONFIGS:
            return True
        return ast.unparse(node) in counters or (is_position if named else is_counter)(node.attr)
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called in _CLOCKS | {"len", "strftime", "get_rank", "timeSince", "asctime"}:
            return True
        plain = called in _BUILTINS | {"str", "min", "max"}
        return plain and bool(node.args) and all(is_progress(arg, counters, named=named) for arg in node.args)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        if any(isinstance(side, ast.Call) and name_of(side.func) in _CLOCKS for side in sides):
            return True
        return all(is_progress(side, counters, named=named) for side in sides)
    if isinstance(node, (ast.UnaryOp, ast.Subscript)):
        inner = node.operand if isinstance(node, ast.UnaryOp) else node.value
        return is_progress(inner, counters, named=named)
    return False


def is_text(node: ast.expr) -> bool:
    """Whether an expression is surely no number."""
    return isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Set)) or (
        isinstance(node, ast.Constant) and not isinstance(node.value, (int, float))
    )


def in_text(module: Module, parts: list[Part], counters: set[str]) -> list[Value]:
    """The metrics in a text, each with the key that the words before it give."""
    first = next((part for part in parts if isinstance(part, str) and tokens(part)), "")
    line, changing, pending = first if phase_of(first) else "", "", ""
    found: list[Value] = []
    label, last_key = "", ""
    for index, part in enumerate(parts):
        if isinstance(part, str):
            if "\n" in part and tokens(part.rpartition("\n")[2]) and found:
                line, changing = "", ""
            label += part
            continue
        before, label = label, ""
        following = parts[index + 1] if index + 1 < len(parts) and isinstance(parts[index + 1], str) else ""
        name = name_of(part.node)
        words = key_of(before, line, unit=any(isinstance(other, Hole) for other in parts[:index]))
        if isinstance(part.node, ast.Name) and (name in _CHANGING or _is_item(module, part.node)):
            changing = name
            continue
        if words:
            pending = words
        ratio = before.endswith("/") or (
            str(following).startswith("/") and not part.is_float and index + 2 < len(parts)
        )
        known = is_metric(words or pending)
        if ratio or part.is_text or is_text(part.node) or is_progress(part.node, counters, named=known):
            continue
        value = _value(module, part, words, pending, last_key, str(following), line)
        if value is None or value.key in {v.key for v in found}:
            continue
        value.changing = changing
        if changing and value.key.startswith(f"{phase_of(line)}_"):
            value.key = value.key.removeprefix(f"{phase_of(line)}_")
        found.append(value)
        last_key, pending = value.key, ""
    return found


def _value(
    module: Module, hole: Hole, words: str, pending: str, last_key: str, following: str, line: str
) -> Value | None:
    name = name_of(hole.node)
    how = cost(hole.node)
    if how == "no" or (hole.made_up and how != "free"):
        return None
    named = not words
    key = words
    if not key:
        attribute = hole.node.attr if isinstance(hole.node, ast.Attribute) else ""
        behind = _behind(following)
        if last_key and attribute in _AVERAGES:
            key, named = f"{last_key}_avg", False
        elif pending and is_metric(pending):
            key, named = pending, False
        elif is_metric(name):
            key = name
        elif behind and is_metric(behind) and hole.spec:
            key, named = behind, False
        else:
            key = name
    if not key or (is_counter(key) and not is_metric(name)):
        return None
    if is_counter(key) and not (key == "total" and hole.is_float):
        key, named = name, True
    if not (is_metric(key) or is_metric(name) or (hole.is_float and not is_counter(name))):
        return None
    return Value(key.strip("_"), hole.node, text_of(module, hole.node), how == "bind", named=named)


def _behind(following: str) -> str:
    """What a number is called by the words after it: "93.1% accuracy, ..." (but not "93.1% | accuracy: ...")."""
    found = re.match(r"\s*%?\s*([A-Za-z_ ]+)(?![A-Za-z_ ]|\s*[:=])", following)
    return key_of(found[1]) if found and not re.match(r"\s*[:=]", following[found.end() :]) else ""


def _is_item(module: Module, node: ast.Name) -> bool:
    """Whether a name is the item of the innermost loop and its name says that it tells data apart (`task_name`)."""
    if not _ITEMS & set(tokens(node.id)):
        return False
    above: ast.AST | None = module.parent(node)
    while above is not None and not isinstance(above, (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef)):
        above = module.parent(above)
    if not isinstance(above, ast.For):
        return False
    return any(isinstance(n, ast.Name) and n.id == node.id for n in ast.walk(above.target))


def in_row(module: Module, pairs: list[tuple[str, ast.expr]], counters: set[str]) -> list[Value]:
    """The metrics of a row that is written out, `{"loss": loss}` or `loss=loss`."""
    from instrument.plan.loops.templates import parts_of

    found: list[Value] = []
    for key, node in pairs:
        parts = parts_of(module, node) if isinstance(node, (ast.JoinedStr, ast.BinOp, ast.Call)) else None
        holes = [part for part in parts or () if isinstance(part, Hole)]
        if parts is not None:
            if len(holes) != 1 or holes[0].made_up or any(tokens(p) for p in parts if isinstance(p, str)):
                continue
            node = holes[0].node
        how = cost(node)
        if how == "no" or is_text(node) or isinstance(node, ast.Constant) or is_counter(key):
            continue
        if is_progress(node, counters) and not is_metric(key):
            continue
        if not found or key not in {v.key for v in found}:
            found.append(Value(key, node, text_of(module, node), how == "bind", named=True))
    return found


def in_list(module: Module, nodes: list[ast.expr], counters: set[str]) -> list[Value]:
    """The metrics of a row without names, `[epoch, loss, acc]`, called as the variables are."""
    pairs = [(name_of(node).strip("_"), node) for node in nodes if not isinstance(node, ast.Starred)]
    return [v for v in in_row(module, [(k, n) for k, n in pairs if k], counters) if is_metric(v.key)]
