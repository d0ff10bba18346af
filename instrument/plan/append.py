"""One more argument in a call, one more element in a list, in the style that it is laid out in.

LibCST holds every comma, comment and white space of the expression as a node, so the new element takes its separators
from its neighbours. What it writes is compared with what was there: the result is an insertion or nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from instrument.plan.place import Insertion

if TYPE_CHECKING:
    import libcst as cst

    from instrument.repo.names import Module


def append_argument(module: Module, call: ast.Call, text: str) -> Insertion:
    """Where and how to add an argument (`callbacks=[x]`) at the end of a call."""
    if not call.args and not call.keywords:
        return Insertion(module.end(call) - 1, text)
    return _appended(module, call, text)


def append_element(module: Module, collection: ast.List | ast.Tuple | ast.Set, text: str) -> Insertion:
    """Where and how to add an element at the end of a written-out list."""
    if not collection.elts:
        return Insertion(module.end(collection) - 1, text)
    return _appended(module, collection, text)


def _appended(module: Module, node: ast.expr, text: str) -> Insertion:
    import libcst as cst  # 0.2 s to load: only where something is edited

    code, newline = module.code(node), module.source.newline
    config = cst.PartialParserConfig(default_newline=newline)
    end = module.end(node)
    try:
        parsed = cst.parse_expression(code, config)
    except (cst.ParserSyntaxError, RecursionError):
        return Insertion(end - 1, f", {text}")  # the proofs judge it
    changed: cst.BaseExpression
    if isinstance(parsed, cst.Call):
        new = cst.ensure_type(cst.parse_expression(f"f({text})", config), cst.Call).args[0]
        changed = parsed.with_changes(args=_more_arguments(parsed.args, new, parsed.whitespace_before_args))
    elif isinstance(parsed, (cst.List, cst.Tuple, cst.Set)):
        changed = _more_elements(parsed, cst.Element(cst.parse_expression(text, config)))
    else:
        return Insertion(end - 1, f", {text}")
    written = cst.Module(body=[], default_newline=newline).code_for_node(changed)
    return _difference(code, written, module.start(node)) or Insertion(end - 1, f", {text}")


def _more_arguments(
    items: Sequence[cst.Arg], new: cst.Arg, opening: cst.BaseParenthesizableWhitespace
) -> list[cst.Arg]:
    """A call's arguments with a new one at the end. The white space before the closing bracket is the last one's."""
    import libcst as cst

    *before, last = items
    between = _between([item.comma for item in before], opening)
    if isinstance(last.comma, cst.Comma):
        middle, closing = _split(between, last.comma.whitespace_after)
        return [*before, _with_comma(last, middle), _with_comma(new, closing)]
    closing = last.whitespace_after_arg
    if _comment(closing):
        between = cst.SimpleWhitespace(" ")  # the comment stays on its line, behind both
    bare = last.with_changes(whitespace_after_arg=cst.SimpleWhitespace(""))
    return [*before, _with_comma(bare, between), new.with_changes(whitespace_after_arg=closing)]


def _more_elements(parsed: cst.List | cst.Tuple | cst.Set, new: cst.Element) -> cst.BaseExpression:
    """A list with a new element at the end. The white space before the closing bracket is the bracket's."""
    import libcst as cst

    if isinstance(parsed, cst.Tuple):
        opening, closer = parsed.lpar[0].whitespace_after, "rpar"
        bracket: cst.CSTNode = parsed.rpar[0]
    elif isinstance(parsed, cst.List):
        opening, closer, bracket = parsed.lbracket.whitespace_after, "rbracket", parsed.rbracket
    else:
        opening, closer, bracket = parsed.lbrace.whitespace_after, "rbrace", parsed.rbrace
    *before, last = parsed.elements
    between = _between([item.comma for item in before], opening)
    closing = bracket.whitespace_before  # type: ignore[attr-defined]
    if isinstance(last.comma, cst.Comma):
        middle, closing = _split(between, closing)
        elements = [*before, _with_comma(last, middle), _with_comma(new, cst.SimpleWhitespace(""))]
    else:
        if _comment(closing):
            between = cst.SimpleWhitespace(" ")
        elements = [*before, _with_comma(last, between), new]
    moved = bracket.with_changes(whitespace_before=closing)
    return parsed.with_changes(elements=elements, **{closer: [moved] if closer == "rpar" else moved})


def _with_comma(item: Any, after: cst.BaseParenthesizableWhitespace) -> Any:
    import libcst as cst

    return item.with_changes(comma=cst.Comma(whitespace_after=after))


def _between(
    commas: Sequence[cst.Comma | cst.MaybeSentinel], opening: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """What stands between two items: as between the last two, or as behind the opening bracket; without comments."""
    import libcst as cst

    last = commas[-1] if commas else None
    found = last.whitespace_after if isinstance(last, cst.Comma) else opening
    if not isinstance(found, cst.ParenthesizedWhitespace):
        return cst.SimpleWhitespace(" ")
    line = found.first_line.with_changes(whitespace=cst.SimpleWhitespace(""), comment=None)
    return found.with_changes(first_line=line, empty_lines=())


def _split(
    between: cst.BaseParenthesizableWhitespace, closing: cst.BaseParenthesizableWhitespace
) -> tuple[cst.BaseParenthesizableWhitespace, cst.BaseParenthesizableWhitespace]:
    """White space for behind the comma of what was last, and for before the bracket; a comment stays in front."""
    import libcst as cst

    if not isinstance(closing, cst.ParenthesizedWhitespace):
        return cst.SimpleWhitespace(" "), closing
    if not isinstance(between, cst.ParenthesizedWhitespace):
        return cst.SimpleWhitespace(" "), closing
    plain = closing.first_line.with_changes(whitespace=cst.SimpleWhitespace(""), comment=None)
    return between.with_changes(first_line=closing.first_line), closing.with_changes(first_line=plain)


def _comment(whitespace: cst.BaseParenthesizableWhitespace) -> bool:
    import libcst as cst

    return isinstance(whitespace, cst.ParenthesizedWhitespace) and (
        whitespace.first_line.comment is not None or bool(whitespace.empty_lines)
    )


def _difference(old: str, new: str, start: int) -> Insertion | None:
    """The one insertion that makes `new` of `old`, or None if it takes more than that."""
    head = 0
    while head < len(old) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < len(old) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head + tail != len(old):
        return None
    return Insertion(start + head, new[head : len(new) - tail])
