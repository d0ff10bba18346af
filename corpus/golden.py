"""The answer for one source: each edit by place and text, questions and refusals, and what became of every emitter.

No text of the source is kept: an anchor is a hash, and so is an inserted text that repeats fifty characters of the file.
"""

from __future__ import annotations

import ast
import hashlib
import json
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from corpus.emitters import Emitter, count
from corpus.manifest import HERE, Source
from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

GOLDEN = HERE / "golden"
#: Longer runs of characters that are the file's own are not kept.
_OWN = 50
#: What becomes of an emitter, and whether that is as it should be.
CLASSES = ("covered", "asked", "no counterpart", "other door", "tests", "vendored", "fault")


@dataclass(slots=True)
class Answer:
    """What the engine does to a source, as it is compared and kept."""

    edits: list[dict[str, Any]] = field(default_factory=list)
    new_files: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    emitters: dict[str, int] = field(default_factory=dict)
    shapes: list[str] = field(default_factory=list)
    files: int = 0

    def text(self) -> str:
        """As JSON, an edit a line."""
        edits = ",\n  ".join(json.dumps(edit, ensure_ascii=False) for edit in self.edits)
        rest = {
            "files": self.files,
            "shapes": self.shapes,
            "emitters": self.emitters,
            "new_files": self.new_files,
            "asked": self.asked,
        }
        head = json.dumps(rest, ensure_ascii=False, indent=1)[:-2]
        return f'{head},\n "edits": [{chr(10) + "  " + edits if edits else ""}]\n}}\n'


@dataclass(frozen=True, slots=True)
class Fate:
    """One emitter and what became of it."""

    emitter: Emitter
    kind: str
    why: str = ""


def answer(root: Path, source: Source) -> tuple[Answer, Repository, Plan, list[Fate]]:
    """Plan a source's tree; the answer, and what it was made of."""
    repo = Repository(root)
    plan = make_plan(repo)
    fates = judge(repo, plan, count(root, [path for path in repo.files if path.endswith((".py", ".ipynb"))]), source)
    made = Answer(
        edits=[_edit(repo, edit) for edit in plan.edits],
        new_files=sorted(new.path for new in plan.new_files),
        asked=sorted(
            {
                f"{n.level} {n.code} {n.path or ''}:{n.line or ''}"
                for n in plan.notes
                if n.level in ("question", "refusal")
            }
        ),
        emitters={kind: n for kind in CLASSES if (n := Counter(fate.kind for fate in fates)[kind])},
        shapes=sorted(plan.shapes),
        files=len(repo.files),
    )
    made.edits.sort(key=lambda edit: (edit["path"], edit["line"], edit["text"]))
    return made, repo, plan, fates


def judge(repo: Repository, plan: Plan, emitters: list[Emitter], source: Source) -> list[Fate]:
    """What becomes of each emitter, by what the plan says of its line; in a notebook, of its cells in order."""
    at: dict[tuple[str, int], list[Any]] = {}
    for place in plan.sites:
        line = 0 if place.path.endswith(".ipynb") else place.line
        if place.kind in ("emit", "build", "registry"):
            at.setdefault((place.path, line), []).append(place)
    wired = {p.path for p in plan.sites if p.kind == "registry" and p.outcome in ("covered", "already")}
    #: Questions about how a file's run gets its metrics stand for the calls in it that nothing else is said of.
    asked = {note.path: note.code for note in plan.notes if note.path and note.code == "synced-from-tensorboard"}
    fates: list[Fate] = []
    for emitter in emitters:
        kind = repo.kind(emitter.path)
        if kind != "own":
            fates.append(Fate(emitter, "tests" if kind == "tests" else "vendored"))
            continue
        if emitter.kind == "log":
            fates.append(Fate(emitter, *_of_module(plan)))
            continue
        sites = at.get((emitter.path, emitter.line), [])
        # In a notebook the places of a file stand for its emitters in order.
        site = (sites[0] if emitter.line or len(sites) == 1 else sites.pop(0)) if sites else None
        judged = source.judged.get(f"{emitter.path}:{emitter.line}") or source.judged.get(emitter.path)
        if site is not None:
            fates.append(Fate(emitter, _fate(site), site.why))
        elif judged:
            kind_, _, why = judged.partition(": ")
            fates.append(Fate(emitter, kind_, why))
        elif emitter.path in wired:
            fates.append(Fate(emitter, "other door", "the tracker layer of this file has Probe as one more backend"))
        elif emitter.path in asked:
            fates.append(Fate(emitter, "asked", f"{asked[emitter.path]} in this file"))
        else:
            fates.append(Fate(emitter, "fault", "the plan says nothing of it"))
    return fates


def _of_module(plan: Plan) -> tuple[str, str]:
    """What `self.log` of a LightningModule comes to: what the Trainers of its repository do."""
    built = [site for site in plan.sites if site.kind == "build" and site.rule.startswith("lightning")]
    for outcome, why in (("covered", "the Trainer has Probe's logger"), ("asked", "asked at the Trainer")):
        if any(_fate(site) == outcome for site in built):
            return outcome, why
    return "no counterpart", "no Trainer in this repository runs it: the metrics are those of whoever builds one"


def _fate(site: Any) -> str:
    if site.outcome in ("covered", "already"):
        return "covered"
    if site.outcome in ("asked", "refused", "warned"):
        return "asked"
    doors = ("mirrored", "wandb too", "reaches", "itself", "its callbacks", "backend", "sends")
    return "other door" if any(word in site.why for word in doors) else "no counterpart"


def _edit(repo: Repository, edit: Any) -> dict[str, Any]:
    source = repo.source(edit.path)
    line = source.line_of(edit.start)
    start = source.text.rfind("\n", 0, edit.start) + 1
    anchor = source.text[start:].split("\n", 1)[0].rstrip("\r")
    return {
        "path": edit.path,
        "sha256": source.sha256[:16],
        "line": line,
        "in": _enclosing(source.text, line) if edit.path.endswith(".py") else "",
        "anchor": hashlib.sha256(anchor.encode("utf-8", "surrogatepass")).hexdigest()[:12],
        "text": _kept(edit.text, source.text),
        "rule": edit.rule,
        "applicability": edit.applicability,
        "why": edit.reason,
    }


def _kept(text: str, own: str) -> str:
    repeated = any(text[at : at + _OWN] in own for at in range(max(0, len(text) - _OWN + 1)))
    if not repeated:
        return text
    return f"sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}, {len(text)} characters"


def _enclosing(text: str, line: int) -> str:
    """The innermost function or class around a line, dotted."""
    inside = [(first, name) for first, last, name in _definitions(text) if first <= line <= last]
    return max(inside)[1] if inside else ""


@lru_cache(maxsize=4)
def _definitions(text: str) -> tuple[tuple[int, int, str], ...]:
    """First line, last line and dotted name of each function and class."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    spans = []
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, above = stack.pop()
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{above}.{child.name}" if above else child.name
                spans.append((child.lineno, child.end_lineno or 0, name))
            stack.append((child, name))
    return tuple(spans)


def differences(known: str, made: str) -> list[str]:
    """What changed between two answers, a line each with + or -."""
    old, new = known.splitlines(), made.splitlines()
    gone, come = set(old) - set(new), set(new) - set(old)
    return [f"- {line.strip()}" for line in old if line in gone] + [f"+ {line.strip()}" for line in new if line in come]
