"""Which files install the package: those that install the tracker for the code that was covered.

A kind of file is a module of this package with an object `KIND`. All kinds are looked at together, because where one
file names the tracker, files that only name its framework need nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from instrument.launch._common import ORDER, covered, readable, record
from instrument.launch._names import CLASSES, FRAMEWORKS, LIBRARIES, PACKAGE, TRACKERS, VIEWERS
from instrument.launch._text import Located
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.source import Source


@dataclass(frozen=True)
class DependencyKind:
    """One kind of file that installs packages.

    `locate(source, names)` says where the package goes beside the first of `names` in it. `declares` is true for files
    that list a project's dependencies (the nearest one serves), false for commands. `alone` files (notebooks, scripts
    with a header) serve only themselves.
    """

    name: str
    matches: Callable[[str], bool]
    locate: Callable[[Source, Sequence[str]], Located]
    declares: bool = True
    alone: bool = False
    #: Lock files beside it, and the command that refreshes each.
    locks: tuple[tuple[str, str], ...] = ()


#: Names too common to be worth keeping every file in memory for.
_COMMON = frozenset(("numpy", "scikit-learn", "ray", "keras", "aim", "composer", "neptune"))
NEEDLES = tuple(
    name.replace("-", "_" if name.startswith("pytorch") else "-").encode()
    for name in (*TRACKERS, *VIEWERS, *FRAMEWORKS, *LIBRARIES)
    if name not in _COMMON
)


def dependency_rule(kind: DependencyKind, title: str) -> Rule:
    """The rule of a kind: it takes its own files out of what was found for all kinds."""

    def plan(ctx: Context) -> None:
        for (path, name), located in sorted(selected(ctx).items(), key=lambda entry: entry[0]):
            if name == kind.name:
                record(ctx, kind.name, path, located)
                if located.insertions:
                    _note_locks(ctx, kind, path)

    return Rule(name=kind.name, title=title, needles=NEEDLES, plan=plan, order=ORDER)


def _note_locks(ctx: Context, kind: DependencyKind, path: str) -> None:
    folder = path[: -len(path.rsplit("/", 1)[-1])]
    for name, command in kind.locks:
        if ctx.repo.exists(folder + name):
            ctx.note(
                "info",
                "lock-file",
                f"{name} is left as it is and does not have {PACKAGE} yet",
                path=folder + name,
                next=command if not folder else f"cd {folder.rstrip('/')} && {command}",
            )


@cache
def kinds() -> tuple[DependencyKind, ...]:
    """Every kind in this package."""
    parent = importlib.import_module("instrument.launch")
    modules = [
        importlib.import_module(f"instrument.launch.{info.name}")
        for info in pkgutil.iter_modules(parent.__path__)
        if not info.name.startswith("_")
    ]
    return tuple(module.KIND for module in modules if hasattr(module, "KIND"))


#: What was found, by path and kind.
Selected = dict[tuple[str, str], Located]
_SELECTED: WeakKeyDictionary[Context, Selected] = WeakKeyDictionary()


def selected(ctx: Context) -> Selected:
    """What was found in the files that serve covered code. Worked out once a plan."""
    if ctx not in _SELECTED:
        _SELECTED[ctx] = _select(ctx)
    return _SELECTED[ctx]


def _select(ctx: Context) -> Selected:
    targets = covered(ctx)
    chosen: Selected = {}
    if not targets:
        return chosen
    shared: list[tuple[str, DependencyKind, Source]] = []
    for path in ctx.repo.files:
        for kind in kinds():
            if not kind.matches(path) or (kind.alone and path not in targets):
                continue
            source = readable(ctx, path)
            if source is None:
                break
            if kind.alone:
                own = next((own for names in CLASSES if (own := kind.locate(source, names)).anything), None)
                if own is not None:
                    chosen[path, kind.name] = own
            else:
                shared.append((path, kind, source))
    level = _levels(ctx)
    for rank, names in enumerate(CLASSES):
        found = [(path, kind, kind.locate(source, names)) for path, kind, source in shared]
        found = [entry for entry in found if entry[2].anything]
        serving = _serving([(path, kind) for path, kind, _ in found], targets, level)
        for path, kind, located in found:
            if path not in serving:
                continue
            if rank and not kind.declares:
                # A framework may be installed in many commands of one file; once is enough.
                located.insertions = [] if located.present else located.insertions[:1]
            chosen[path, kind.name] = located
        if serving:
            break
    return chosen


def _levels(ctx: Context) -> Callable[[str], str]:
    """From a file to the folder it speaks for: its own, or the nearest above that has Python files below it."""
    with_python = {""}
    for path in ctx.repo.files:
        if path.endswith((".py", ".ipynb")) and ctx.repo.kind(path) == "own":
            folder = path.rpartition("/")[0]
            while folder and folder not in with_python:
                with_python.add(folder)
                folder = folder.rpartition("/")[0]

    def level(path: str) -> str:
        folder = path.rpartition("/")[0]
        while folder not in with_python:
            folder = folder.rpartition("/")[0]
        return folder

    return level


def _serving(
    found: Sequence[tuple[str, DependencyKind]], targets: frozenset[str], level: Callable[[str], str]
) -> set[str]:
    """The files that install for covered code: declaring ones at the nearest level above it, commands at any."""
    serving: set[str] = set()
    by_level: dict[str, list[str]] = {}
    for path, kind in found:
        if kind.declares:
            by_level.setdefault(level(path), []).append(path)
        elif any(_below(target, level(path)) for target in targets):
            serving.add(path)
    for target in targets:
        folder = target.rpartition("/")[0]
        while True:
            if folder in by_level:
                serving.update(by_level[folder])
                break
            if not folder:
                break
            folder = folder.rpartition("/")[0]
    return serving


def _below(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")
