"""What the proofs let through does what the original does: seen by running thousands of random edits.

A small program calls `ev(name)` wherever something is evaluated. Random text goes in at random places of it. Whenever
the proofs accept the result, both are run, and the result must have called `ev` with the same names in the same order
(inserted text calls `probe(...)`, which records nothing).
"""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pytest

from instrument.errors import ConflictError, ProofError
from instrument.patch.spans import Spans
from instrument.patch.syntax import same_program
from instrument.plan.edits import Edit, ordered
from instrument.repo.source import PythonSource

PROGRAM = '''\
"""Doc."""
import os as o
class C:
    """C."""
    n = ev("class")
    def __init__(self, **_): pass
    def m(self, a=None, *r, k=[], **w):
        ev("m")
        if a: return ev("r", [1])
        return [ev("x"), ev("y")]
    @classmethod
    @deco(1)
    def s(cls, **_): return [*ev("s1", "ab")]
def f(x, y=0, **_):
    """F."""
    for i in [1, 2]:
        if ev("odd", i % 2):
            ev("then"); ev("also")
        elif ev("elif"):
            ev("no", [0])
        else:
            ev("other")
    while x:
        x = x - 1
        try:
            if ev("t") and x: raise ValueError
        except (KeyError, ValueError) as e:
            ev("handled")
            continue
        finally:
            ev("finally")
    return {"a": ev("a"), "b": [ev("b"), *ev("l", [1])], **ev("d", {"q": 1})}
c = C()
a, b = ev("p", "ab")
d = f(3, y=ev("kw"))
g = lambda q, **_: ev("g", q) if q else ev("h")
z = [ev("comp", j) for j in ev("it", "ab") if ev("if", True)]
with ev("with", cm()) as w, cm():
    u = g(1) or g(0)
print_ = c.m(*ev("s", "\\0"), k=ev("k", [])), c.m(ev("one", None)), C.s()
ev("end", f"{g(2)!r} {z}")
assert ev("asserted", True), ev("msg")
'''

#: Put in alone. Nothing that changes a value on purpose (`+ [x]`, one more element): that shows in the run.
WHOLE = """\
probe(1)\\n|; probe(2)|probe(3); |, key=probe(5)|probe(6), |if probe(7): |not |-| or []| and probe(8)| + 1|[0]|.n|()
return\\n|break\\n|continue\\n|pass\\n|raise ValueError\\n|x = 0\\n|fresh = 1\\n|x = |fresh = |lambda: |del x\\n
global x\\n|# |\\\\\\n|'|\"""|else:\\n    probe(10)\\n|finally:\\n    probe(11)\\n|except: |@probe\\n|yield\\n|(yield)
await |import probe\\n|import string\\n|from os import *\\n|def fresh(): probe(12)\\n|def f(): pass\\n|\\n|    |x|0
 as fresh|, cm()|, cm() as fresh|*|**| if probe(13) else None| for fresh in [1]|\\n    probe(14)|\\n        probe(15)
probe(16)\\n    |probe(17)\\n        |:=|fresh := |class D: pass\\n|, probe(18)|from __future__ import annotations\\n
with probe(19): |while probe(20): |for fresh in [1]: |try: |async |\\n    return|\\n            break|'doc'\\n|'doc'; |;|,|:
"""
#: Put around an expression.
PAIRS = """\
(~)|(~, probe(2))[0]|(probe(3), ~)[1]|(fresh := ~)|(~, probe(4))[1]|(lambda: ~)()|[~ for fresh in ()]|(~ or [])|(~)[:]
not (~)|(yield ~)|(~,)|def fresh(): return (~)|if probe(8): (~)|f'{~}'|probe() and ~|(fresh := ~, probe(fresh))[0]|-~|~.n
(~, probe(5))[-2]|(probe(6), ~)[-1]|(~, probe(7))[True]|(*[], ~)[0]|~; probe(9)|probe(10); ~|fresh = ~|lambda: ~
~ if probe() else probe()|probe() if fresh else ~|(~)()|~ == ~|await ~|*~|**~|(x := ~)|('', ~)[bool(probe())]
"""
WHOLE_LIST = [
    text.replace("\\n", "\n").replace("\\\\", "\\") for line in WHOLE.splitlines() for text in line.split("|")
]
PAIR_LIST = [text.split("~")[:2] for line in PAIRS.splitlines() for text in line.split("|")]


class Manager:
    def __init__(self, **_: object) -> None:
        pass

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _decorator(number: int, **_: object) -> Callable[[Any], Any]:
    return lambda function: function


class Stop(Exception):
    """A program that runs for ever."""


def trace(text: str) -> list[object]:
    """The names that a program calls `ev` with, and what it ended with."""
    events: list[object] = []

    def ev(name: str, value: Any = 1, **_: object) -> Any:
        events.append(name)
        if len(events) > 300:
            raise Stop
        return value

    space = {
        "ev": ev,
        "cm": Manager,
        "probe": lambda *a, **k: Manager(),
        "deco": _decorator,
        "__name__": "program",
        "x": 0,
    }
    try:
        exec(compile(text, "program", "exec", dont_inherit=True), space)
    except ModuleNotFoundError as error:
        events.append(f"no module {error.name}")
    except BaseException as error:
        events.append(type(error).__name__)
    events += [space.get("__doc__"), getattr(space.get("f"), "__doc__", None), getattr(space.get("C"), "__doc__", None)]
    return events


def places(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Where tokens begin and end, and the spans of expressions."""
    source = PythonSource(PurePosixPath("p.py"), text.encode())
    offsets = {0}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        offsets |= {source.line_start(token.start[0]) + token.start[1], source.line_start(token.end[0]) + token.end[1]}
    spans = [(source.start(node), source.end(node)) for node in ast.walk(source.tree) if isinstance(node, ast.expr)]
    return sorted(at for at in offsets if at <= len(text)), spans


def accepted(edits: list[Edit]) -> str | None:
    """The result's text if it compiles and proof 3 takes it."""
    before = PythonSource(PurePosixPath("p.py"), PROGRAM.encode())
    try:
        edits = ordered(edits)
        after = PythonSource(before.path, before.render(edits))
        compile(after.data, "p.py", "exec", dont_inherit=True)
        same_program(before, after, Spans(before, edits))
    except (ConflictError, ProofError, SyntaxError, ValueError):
        return None
    return after.text


def insert(at: int, text: str) -> Edit:
    return Edit(path="p.py", start=at, end=at, text=text, reason="r", rule="t")


def one(pick: random.Random) -> list[Edit]:
    return [insert(pick.choice(OFFSETS), pick.choice(WHOLE_LIST))]


def pair(pick: random.Random) -> list[Edit]:
    (start, end), (head, tail) = pick.choice(SPANS), pick.choice(PAIR_LIST)
    return [insert(start, head), insert(end, tail)]


def several(pick: random.Random) -> list[Edit]:
    return [*pick.choice((one, pair))(pick), *pick.choice((one, pair))(pick)]


def moved(pick: random.Random) -> list[Edit]:
    """Bind an expression at a random place, or at the start of its line, and use the name where it was."""
    start, end = pick.choice(SPANS)
    line = PROGRAM.rfind("\n", 0, start) + 1
    line += len(PROGRAM[line:]) - len(PROGRAM[line:].lstrip(" "))
    at = line if pick.random() < 0.8 else pick.choice(OFFSETS)
    indent = PROGRAM[PROGRAM.rfind("\n", 0, at) + 1 : at]
    text = PROGRAM[start:end] if pick.random() < 0.9 else "probe()"
    replaced = Edit(path="p.py", start=start, end=end, text="moved", reason="r", rule="t", moved=True)
    return [insert(at, f"moved = {text}\n{indent if not indent.strip() else ''}"), replaced]


OFFSETS, SPANS = places(PROGRAM)
EXPECTED = trace(PROGRAM)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize(
    ("make", "tries", "least"), [(one, 1000, 30), (pair, 500, 80), (several, 500, 5), (moved, 400, 20)]
)
def test_what_is_accepted_runs_as_before(make: Callable[[random.Random], list[Edit]], tries: int, least: int) -> None:
    pick, taken, seen = random.Random(5), 0, set()
    for _ in range(tries):
        edits = make(pick)
        key = repr([(e.start, e.text) for e in edits])
        if key in seen:
            continue
        seen.add(key)
        result = accepted(edits)
        if result is not None:
            taken += 1
            assert trace(result) == EXPECTED, f"{edits}\n{result}"
    assert taken >= least, "the generator makes hardly anything that is accepted, so this proves nothing"


def test_the_program_itself_is_worth_it() -> None:
    assert EXPECTED[-4] == "asserted" and len(EXPECTED) > 40
