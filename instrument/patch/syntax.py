"""Proof 3: the syntax tree of the result, without what was inserted, is the tree of the original.

Both texts are parsed anew. In the result's tree a statement whose first character was inserted is taken out. An
expression that starts or ends in inserted text must have a form that yields what an expression of the original yields
(`[*x, ProbeCallback()]`, `x or []`, `(m := x)`, `(x, probe.log(m))[0]`) and is replaced by that, or be one more element
where one more is harmless (a keyword argument, an element of a list, an item of a `with`, a name of an import). A name
that an expression was moved into is replaced by the expression (`moves.py`). Then the trees are compared, node by node.

What was taken out must not reach into the rest: no jump, no name that the scope already uses (`inserted.py`).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

from instrument.errors import ProofError, SourceError
from instrument.patch.compare import SUITES, difference, mask
from instrument.patch.inserted import Inserted
from instrument.patch.moves import Moves
from instrument.patch.spans import Spans
from instrument.repo.source import PythonSource

PROOF = "same program"

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: Where one more element is harmless.
_ELEMENTS = (ast.List, ast.Tuple, ast.Set)
#: What no collection and no object of the program's is, so that nothing can be added to it.
_NO_COLLECTION = (ast.Constant, ast.JoinedStr, ast.Compare, ast.UnaryOp, ast.Lambda)
#: Methods of the original's objects that give the same object again, with something added (Ray's `.options(...)`).
_WRAPPING_METHODS = frozenset({"options", "copy"})
#: Methods that take any number of requirements as arguments (Modal's images).
_COLLECTING_METHODS = frozenset({"pip_install", "uv_pip_install"})
_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def same_program(before: PythonSource, after: PythonSource, spans: Spans) -> None:
    """Raise ProofError, with the original's line, unless the result is the original plus what was inserted."""
    comments = ast.PyCF_TYPE_COMMENTS
    try:
        old = _parse(before, comments)
    except SyntaxError:  # a comment that only looks like a type comment
        comments = 0
        try:
            old = _parse(before, 0)
        except SyntaxError as error:
            raise SourceError(f"does not parse: {error.msg}", path=before.path, line=error.lineno) from None
    try:
        new = _parse(after, comments)
    except SyntaxError as error:
        raise ProofError(f"the result does not parse: {error.msg}", proof=PROOF, path=str(before.path)) from None
    _Proof(before, after, spans).run(old, new)


def _parse(source: PythonSource, flags: int) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = compile(source.text, str(source.path), "exec", _FLAGS | flags, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree


class _Proof:
    def __init__(self, before: PythonSource, after: PythonSource, spans: Spans) -> None:
        self._before = before
        self._after = after
        self._spans = spans
        self._values: dict[int, ast.expr] = {}
        self._scopes: list[Scope] = []
        #: The nodes that the one being visited is in, itself last.
        self._way: list[ast.AST] = []
        #: What was taken out, with the scopes of the original that it was in, outermost first.
        self._taken: list[tuple[tuple[Scope, ...], ast.AST]] = []

    def run(self, old: ast.Module, new: ast.Module) -> None:
        if _futures(old) != _futures(new):
            self._fail("`from __future__` imports are not the same any more", 0)
        self._values = Moves(self._after, new, self._spans, self._fail).values
        self._visit(new)
        if self._spans.replaced:
            # Now, since what is masked has no names any more; those of the replacing text are not the program's.
            for node in ast.walk(new):
                if isinstance(node, ast.Name) and any(
                    s.start <= self._start(node) < s.end for s in self._spans.replaced
                ):
                    node.id = ""
            self._check_taken()
            mask(old, self._before, [(s.old_start, s.old_end, s) for s in self._spans.replaced])
            mask(new, self._after, [(s.start, s.end, s) for s in self._spans.replaced])
        apart = difference(old, new)
        if apart is not None:
            line = getattr(apart[0], "lineno", None)
            raise ProofError("the program is not the same any more here", proof=PROOF, path=self._path, line=line)
        self._check_taken()

    def _check_taken(self) -> None:
        inserted = Inserted()
        for scopes, node in self._taken:
            place = node.context_expr if isinstance(node, ast.withitem) else node
            inserted.check(scopes, node, partial(self._fail, offset=self._start(place)))
        self._taken.clear()

    @property
    def _path(self) -> str:
        return str(self._before.path)

    def _fail(self, message: str, offset: int) -> NoReturn:
        line = self._before.line_of(self._spans.before(offset))
        raise ProofError(message, proof=PROOF, path=self._path, line=line)

    # -- places

    def _start(self, node: ast.AST) -> int:
        return self._after.start(node)

    def _starts_inserted(self, node: ast.AST) -> bool:
        return self._spans.is_inserted(self._start(node))

    def _reaches_out(self, node: ast.AST) -> bool:
        """Whether a node starts or ends in inserted text."""
        return self._starts_inserted(node) or self._spans.is_inserted(self._after.end(node) - 1)

    def _touched(self, node: ast.AST) -> bool:
        start = min([self._start(node), *(self._start(d) for d in getattr(node, "decorator_list", ()))])
        return self._spans.touches(start, self._after.end(node))

    # -- statements

    def _visit(self, node: ast.AST) -> None:
        """Take what was inserted out of a node of the original."""
        self._way.append(node)
        is_scope = isinstance(node, _SCOPES)
        if is_scope:
            self._check_decorators(node)
            self._scopes.append(node)  # type: ignore[arg-type]
        docstring = _docstring(node)
        if isinstance(node, ast.Dict):
            self._visit_dict(node)
        else:
            for name, value in ast.iter_fields(node):
                if isinstance(value, list):
                    setattr(node, name, self._visit_list(node, name, value))
                elif isinstance(value, ast.expr):
                    setattr(node, name, self._kept(value))
                elif isinstance(value, ast.AST):
                    self._visit_part(value)
        if docstring is not _docstring(node):
            line = self._start(node) if hasattr(node, "lineno") else 0
            self._fail("what is inserted makes another docstring, or takes one away", line)
        if is_scope:
            self._scopes.pop()
        self._way.pop()

    def _visit_part(self, node: ast.AST) -> None:
        if not hasattr(node, "lineno"):  # arguments, comprehension, withitem, match_case: no place of their own
            self._visit(node)
        elif self._starts_inserted(node):
            self._fail(f"an inserted {type(node).__name__} changes a statement", self._start(node))
        elif self._touched(node) and not isinstance(node, ast.pattern):
            self._visit(node)

    def _visit_list(self, parent: ast.AST, name: str, items: list[Any]) -> list[Any]:
        if name in SUITES and items and isinstance(items[0], ast.stmt):
            statements = [self._statement(item) for item in items if isinstance(item, ast.stmt)]
            return [statement for statement in statements if statement is not None]
        kept_items: list[Any] = []
        for item in items:
            if isinstance(item, ast.expr):
                kept = self._expression(item)
                if kept is None and self._takes_more(parent):
                    continue
                kept_items.append(self._required(item, kept))
            elif isinstance(item, (ast.keyword, ast.alias, ast.withitem)) and self._is_added(parent, item):
                self._take(item)
            elif isinstance(item, ast.AST) and not isinstance(item, ast.TypeIgnore):
                self._visit_part(item)
                kept_items.append(item)
            else:
                kept_items.append(item)
        return kept_items

    def _takes_more(self, parent: ast.AST) -> bool:
        """Whether one more element of a written-out collection is harmless: not where it is unpacked or counted."""
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Attribute) and parent.func.attr in _COLLECTING_METHODS
        if not isinstance(parent, _ELEMENTS) or isinstance(getattr(parent, "ctx", None), (ast.Store, ast.Del)):
            return False
        above = self._way[-2]
        if isinstance(above, ast.BoolOp):
            return isinstance(above.op, ast.Or)
        if isinstance(above, (ast.List, ast.Tuple, ast.Set, ast.BinOp, ast.Lambda)):
            return True
        return self._may_hold_more(parent, above)

    def _may_hold_more(self, node: ast.AST, above: ast.AST) -> bool:
        """Whether a value may have more in it than before where it stands: where it is handed on, not where it is used
        up at once (called, unpacked, looped over, compared)."""
        if isinstance(above, ast.Call):
            return above.func is not node
        if isinstance(above, ast.IfExp):
            return above.test is not node
        if isinstance(above, ast.Assign):
            return not any(isinstance(target, (ast.Tuple, ast.List)) for target in above.targets)
        if isinstance(above, ast.Return):
            return not isinstance(node, ast.Tuple)
        if isinstance(above, ast.Dict):
            return not any(key is None and value is node for key, value in zip(above.keys, above.values))
        return isinstance(above, (ast.keyword, ast.AnnAssign, ast.AugAssign, ast.NamedExpr))

    def _is_added(self, parent: ast.AST, item: ast.keyword | ast.alias | ast.withitem) -> bool:
        if isinstance(item, ast.withitem):
            target = item.optional_vars
            inserted = self._starts_inserted(item.context_expr) and self._originals(item.context_expr) == []
            return inserted and (target is None or self._starts_inserted(target))
        return self._starts_inserted(item) and not (isinstance(item, ast.keyword) and isinstance(parent, ast.ClassDef))

    def _statement(self, node: ast.stmt) -> ast.stmt | None:
        if not self._touched(node):
            return node
        if self._starts_inserted(node) and self._is_new(node):
            self._take(node)
            return None
        kept = self._kept_in_a_name(node)
        if kept is None:
            self._visit(node)
        return kept or node

    def _is_new(self, node: ast.AST) -> bool:
        """Whether nothing but white space in a node is of the original."""
        start, end = self._start(node), self._after.end(node)
        for span in self._spans.inserted:
            if span.start <= start < span.end:
                start = span.end
            while start < end and self._after.text[start].isspace():
                start += 1
        return start >= end

    def _kept_in_a_name(self, node: ast.stmt) -> ast.stmt | None:
        """`run = wandb.init()` where only `run = ` is new: what was thrown away is now kept."""
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            return None
        if not self._is_new(node.targets[0]):
            return None
        if self._starts_inserted(node.value) or self._spans.is_inserted(self._after.end(node) - 1):
            return None
        self._take(node.targets[0])
        return ast.copy_location(ast.Expr(self._kept(node.value)), node.value)

    def _take(self, node: ast.AST) -> None:
        self._taken.append((tuple(self._scopes), node))

    def _check_decorators(self, node: ast.AST) -> None:
        for decorator in getattr(node, "decorator_list", ()):
            if self._starts_inserted(decorator):
                self._fail("an inserted decorator changes what is defined", self._start(decorator))

    # -- expressions

    def _kept(self, node: ast.expr) -> ast.expr:
        return self._required(node, self._expression(node))

    def _required(self, node: ast.expr, kept: ast.expr | None) -> ast.expr:
        if kept is None:
            self._fail(f"«{_short(self._after.code(node))}» is put where it changes the program", self._start(node))
        return kept

    def _expression(self, node: ast.expr) -> ast.expr | None:
        """What the original had here; None for an expression that was inserted as a whole."""
        if id(node) in self._values:
            return self._values[id(node)]
        if not self._touched(node):
            return node
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            # Positions inside an f-string are not to be trusted before Python 3.12: it is compared whole, apart from
            # what stands in braces for an expression that was moved (and was found there by its name).
            for part in ast.walk(node):
                if isinstance(part, ast.FormattedValue) and id(part.value) in self._values:
                    part.value = self._values[id(part.value)]
            return None if self._starts_inserted(node) else node
        if not self._reaches_out(node):
            self._visit(node)
            return node
        found = self._originals(node)
        if not found:
            self._take(node)
            return None
        if len(found) > 1 or not self._built_around(node, found[0][-1]):
            self._visit(node)  # of the original: only what it begins or ends with was built around
            return node
        self._check_form(node, found[0])
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr) and self._starts_inserted(part):
                self._take(part.target)
            elif isinstance(part, (ast.Yield, ast.YieldFrom)) and self._starts_inserted(part):
                self._take(part)
        return self._kept(found[0][-1])

    def _originals(self, node: ast.expr) -> list[list[ast.expr]]:
        """The outermost expressions of the original inside an inserted one, each with the way down to it."""
        if not self._reaches_out(node):
            return [[node]]
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            return []
        return [[node, *way] for child in _subexpressions(node) for way in self._originals(child)]

    def _built_around(self, outer: ast.expr, inner: ast.expr) -> bool:
        """Whether all of the original that an expression spans is one expression of it, parentheses aside."""
        text = self._before.text
        outer_span = [self._spans.before(at) for at in (self._start(outer), self._after.end(outer))]
        inner_span = [self._spans.before(at) for at in (self._start(inner), self._after.end(inner))]
        return not (text[outer_span[0] : inner_span[0]] + text[inner_span[1] : outer_span[1]]).strip("() \t\r\n\\")

    def _check_form(self, node: ast.expr, way: list[ast.expr]) -> None:
        """Each step of the way must hand the inner expression's value on, evaluated once, whatever else is there."""
        for index, (outer, inner) in enumerate(pairwise(way)):
            above = way[index - 1] if index else None
            handed_on = _hands_on(outer, inner, above) and not (isinstance(outer, ast.Subscript) and inner is way[-1])
            if handed_on and _adds(outer, inner):
                # `log_with="wandb"` may become `log_with=["wandb", ProbeTracker()]`: one name, then one more.
                named = isinstance(outer, ast.List) and isinstance(inner, ast.Constant) and isinstance(inner.value, str)
                holds = named or not isinstance(way[-1], _NO_COLLECTION)
                handed_on = holds and self._may_hold_more(node, self._way[-1])
            if not handed_on:
                text = _short(self._after.code(outer))
                self._fail(f"«{text}» is no form that is known to keep what the program has there", self._start(node))

    def _visit_dict(self, node: ast.Dict) -> None:
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for key, value in zip(node.keys, node.values):
            kept = self._expression(value)
            if kept is None and (key is None or (self._starts_inserted(key) and self._originals(key) == [])):
                continue
            keys.append(None if key is None else self._kept(key))
            values.append(self._required(value, kept))
        node.keys, node.values = keys, values


def _subexpressions(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, (ast.keyword, ast.comprehension, ast.arguments)):
            yield from _subexpressions(child)


def _hands_on(outer: ast.expr, inner: ast.expr, above: ast.expr | None) -> bool:
    """Whether an inserted expression (in an inserted one, `above`) hands on the value of what it is built around."""
    if isinstance(outer, ast.NamedExpr):
        return inner is outer.value
    if isinstance(outer, (ast.List, ast.Set)):
        return True
    if isinstance(outer, ast.Starred):
        return isinstance(above, _ELEMENTS)
    if isinstance(outer, ast.Tuple):
        return isinstance(inner, ast.Starred) or _picked(outer, inner, above)
    if isinstance(outer, ast.Dict):
        return any(key is None and value is inner for key, value in zip(outer.keys, outer.values))
    if isinstance(outer, ast.BinOp):
        other = outer.right if inner is outer.left else outer.left
        return isinstance(outer.op, (ast.Add, ast.BitOr)) and isinstance(other, (ast.List, ast.Tuple, ast.Dict))
    if isinstance(outer, ast.BoolOp):
        return isinstance(outer.op, ast.Or) and inner is outer.values[0] and all(map(_is_empty, outer.values[1:]))
    if isinstance(outer, ast.Subscript):
        return isinstance(inner, ast.Tuple)  # the tuple answers for what is picked
    if isinstance(outer, ast.Call):
        if inner is outer.func:
            return isinstance(inner, ast.Attribute) and inner.attr in _WRAPPING_METHODS
        return inner in outer.args and _is_dotted(outer.func)
    if isinstance(outer, ast.Attribute):
        return isinstance(above, ast.Call) and above.func is outer
    return False


def _adds(outer: ast.expr, inner: ast.expr) -> bool:
    """Whether a form hands on the value with something added (or what a wrapper makes of it), not the value itself."""
    if isinstance(outer, ast.Call):
        return outer.func is not inner
    return isinstance(outer, (ast.List, ast.Set, ast.Dict, ast.BinOp, ast.BoolOp)) or (
        isinstance(outer, ast.Tuple) and any(isinstance(item, ast.Starred) for item in outer.elts)
    )


def _picked(outer: ast.expr, inner: ast.expr, above: ast.expr | None) -> bool:
    """`(inner, ...)[0]`, `(..., inner)[1]`: the pair is made for the value that is picked from it."""
    if not isinstance(outer, ast.Tuple) or not isinstance(above, ast.Subscript):
        return False
    try:
        picked = outer.elts[ast.literal_eval(above.slice)]
    except (ValueError, TypeError, IndexError):
        return False
    return picked is inner and not any(isinstance(item, ast.Starred) for item in outer.elts)


def _is_empty(node: ast.expr) -> bool:
    return (isinstance(node, (ast.List, ast.Tuple)) and not node.elts) or (
        isinstance(node, ast.Dict) and not node.values
    )


def _is_dotted(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_dotted(node.value))


def _docstring(node: ast.AST) -> ast.Constant | None:
    if not isinstance(node, _SCOPES) or isinstance(node, ast.Lambda) or not node.body:
        return None
    first = node.body[0]
    found = first.value if isinstance(first, ast.Expr) else None
    return found if isinstance(found, ast.Constant) and isinstance(found.value, str) else None


def _futures(tree: ast.Module) -> set[str]:
    return {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level
        for alias in node.names
    }


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 60 else line[:57] + "..."
