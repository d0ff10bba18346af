"""Real files, mutated, with W&B calls sown into them: the plan is proved or refused, and never changes a meaning.

`python -m tests.fuzz.sown FIRST LAST` does the seeds of a range over the standard library of the interpreter that runs
it: other people's code in every style, at hand wherever there is Python. What varies: which statements get a call beside
them and in what form, how wandb is imported and where its run is opened, the indentation, the newlines, a byte order mark,
the missing last newline. Nothing of it is run.
"""

from __future__ import annotations

import ast
import random
import re
import sys
import sysconfig
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from instrument.errors import InstrumentError
from instrument.patch.diff import changes
from instrument.patch.proofs import prove
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

#: Larger files take longer than they are worth (bytes).
_MAX_SIZE = 40_000
#: Parts of a path that are left out: tests have their own rules, lib2to3 is in another language now and then.
_LEFT_OUT = frozenset("test tests site-packages dist-packages lib2to3 idlelib __pycache__ turtledemo".split())

#: Expressions that mean the same wherever they stand, so that any of them can be logged anywhere.
_PLAIN = (ast.Name, ast.Attribute, ast.BinOp, ast.Compare, ast.Constant, ast.Call, ast.Subscript, ast.IfExp, ast.Tuple)
_BOUND_TO_A_PLACE = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Starred)

_FORMS = (
    "{log}({row})",
    "{log}({row}, step={value})",
    "{log}({row}, commit=False)",
    "if {value}: {log}({row})",
    "if {value}:\n    {log}({row})\nelse:\n    {log}({other})",
    "for sown in range(2): {log}({row}, step=sown)",
    "while {value}:\n    {log}({row}); break",
    "try:\n    {log}({row})\nexcept Exception:\n    pass\nfinally:\n    {log}({other})",
    "with open({value!r}) as sown:\n    {log}({row})",
    "sown = {log}({row})",
    "sown = [{log}({row}) for sown in range(2)]",
    "sown = lambda *a: {log}({row})",
    "{value} and {log}({row})",
    "{log}(  # said here\n    {row},  # and here\n)",
    "{log}({row}); sown = 1; {log}({other})",
    "def sown(row, *, step=None):\n    if step:\n        return {log}(row, step=step)\n    {log}(row)",
    "class Sown:\n    {log}({row})\n    def send(self, m):\n        {log}(m, step=self.n)",
    "assert {log}({row}) is None, {value}",
)


@dataclass(slots=True)
class Outcome:
    """What came of one file."""

    statements: int
    sites: int = 0
    edits: int = 0
    refused: str = ""
    fault: str = ""


@cache
def material() -> tuple[Path, ...]:
    """The standard library's own modules that parse, in order of path."""
    root = Path(sysconfig.get_path("stdlib"))
    found = (p for p in root.rglob("*.py") if _LEFT_OUT.isdisjoint(p.relative_to(root).parts))
    return tuple(sorted(path for path in found if 200 < path.stat().st_size < _MAX_SIZE))


def sown(seed: int) -> bytes | None:
    """One file with calls sown into it; None where it does not parse to begin with."""
    chance = random.Random(seed)
    path = chance.choice(material())
    try:
        text = path.read_text("utf-8")
        tree = _parsed(text)
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return None
    if chance.random() < 0.4:  # in another layout
        text = ast.unparse(tree)
        unit = chance.choice(["\t", "  ", "   ", "        "])
        text = re.sub(r"(?m)^(?:    )+", lambda found: unit * (len(found[0]) // 4), text)
    tree = _parsed(text)
    text = _with_calls(text, tree, chance)
    try:
        _parsed(text)
    except SyntaxError:
        return None  # a form that does not fit where it was put, such as `return` at the top
    newline = chance.choice(["\n", "\n", "\n", "\r\n", "\r"])
    if chance.random() < 0.2:
        text = text.rstrip("\n")
    if chance.random() < 0.1:
        text = text.replace("\nclass ", "\n\f\nclass ")
    data = text.replace("\n", newline).encode()
    return b"\xef\xbb\xbf" + data if chance.random() < 0.1 and not text.startswith("#") else data


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _with_calls(text: str, tree: ast.Module, chance: random.Random) -> str:
    lines = text.split("\n")
    values = [
        code
        for node in ast.walk(tree)
        if isinstance(node, _PLAIN) and not any(isinstance(part, _BOUND_TO_A_PLACE) for part in ast.walk(node))
        if not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        if (code := ast.unparse(node)) and len(code) < 60
    ] or ["1"]
    module, imported = chance.choice(
        [("wb", "import wandb as wb"), ("wandb", "import wandb"), ("", "from wandb import log, init")]
    )
    opened = f"{module}.init" if module else "init"
    log = f"{module}.log" if module else "log"
    places = [stmt for stmt in ast.walk(tree) if isinstance(stmt, ast.stmt) and _begins_its_line(stmt, lines)]
    chosen = chance.sample(places, min(len(places), chance.randint(2, 9)))
    inserted: list[tuple[int, list[str]]] = []
    for stmt in chosen:
        line = lines[stmt.lineno - 1]
        indent = line[: len(line) - len(line.lstrip())]
        row = "{" + ", ".join(f"{f'sown/{n}'!r}: {chance.choice(values)}" for n in range(chance.randint(1, 3))) + "}"
        form = chance.choice(_FORMS)
        made = form.format(log=log, row=row, other="{'other': 1}", value=chance.choice(values))
        step = "\t" if "\t" in indent else "    "
        inserted.append((stmt.lineno, [indent + part.replace("    ", step) for part in made.split("\n")]))
    first = next((s for s in tree.body if not _leads(s)), None)
    if first is not None and _begins_its_line(first, lines):
        opening = [imported]
        opening += [f"{opened}(project='p')"] if chance.random() < 0.6 else [f"def sown_main():\n    {opened}()"]
        inserted.append((first.lineno, "\n".join(opening).split("\n")))
    for number, made_lines in sorted(inserted, key=lambda pair: -pair[0]):
        lines[number - 1 : number - 1] = made_lines
    return "\n".join(lines)


def _leads(stmt: ast.stmt) -> bool:
    """What must come first in a file."""
    return (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)) or (
        isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"
    )


def _begins_its_line(stmt: ast.stmt, lines: list[str]) -> bool:
    if getattr(stmt, "decorator_list", None) or _leads(stmt):
        return False
    line = lines[stmt.lineno - 1]
    before = line.encode()[: stmt.col_offset]
    # `else:\n    if x:` and `elif x:` are the same tree; a line of a string may look like code.
    return not before.strip() and not line.lstrip().startswith("elif") and not lines[stmt.lineno - 2].endswith("\\")


def outcome(data: bytes, folder: Path) -> Outcome:
    """Plan and prove one file in a folder of its own."""
    (folder / "main.py").write_bytes(data)
    text = data.decode("utf-8-sig")
    before = _parsed(text)
    result = Outcome(statements=sum(isinstance(node, ast.stmt) for node in ast.walk(before)))
    try:
        repo = Repository(folder)
        plan = make_plan(repo)
        found = changes(repo, plan)
        prove(repo, plan, make_plan)
    except InstrumentError as error:
        result.refused = str(error)
        if error.path is None:
            result.fault = f"an error without a file: {error}"
        return result
    except Exception:
        result.fault = traceback.format_exc(limit=-4)
        return result
    result.sites, result.edits = len(plan.sites), len(plan.edits)
    for change in found:
        if change.path == "main.py":
            after = _parsed(change.after.decode("utf-8-sig"))
            if _calls(before) != _calls(after):
                result.fault = "the calls that were there are not the calls that are there"
    return result


def _calls(tree: ast.Module) -> Counter[str]:
    """What is called, by text, but for what the plan adds."""
    names = Counter(ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return Counter({name: n for name, n in names.items() if not re.match(r"probe\b|_?probe_sdk\b|dict$|\(probe", name)})


def main(first: int, last: int) -> int:
    """Do the seeds of a range and say what came of them. The exit code is 1 where there was a fault."""
    start, totals, wrong = time.perf_counter(), Counter[str](), 0
    for seed in range(first, last):
        data = sown(seed)
        if data is None:
            continue
        with tempfile.TemporaryDirectory(prefix="sown-") as folder:
            result = outcome(data, Path(folder))
        totals.update(files=1, statements=result.statements, sites=result.sites, edits=result.edits)
        totals.update(refused=bool(result.refused))
        if result.refused:
            print(f"{seed}: refused: {result.refused[:300]}")
        if result.fault:
            wrong += 1
            print(f"{seed}: {result.fault}")
    print(f"{dict(totals)}, {wrong} faults, {time.perf_counter() - start:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
