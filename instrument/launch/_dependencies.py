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
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from instrument.launch._common import ORDER, covered, readable, record
from instrument.launch._names import CLASSES, PACKAGE, TIERS, TRACKERS
from instrument.launch._text import Located, asked, inserted
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
    #: What some file of a repository must contain for the rule to be looked at; read by name, not by these.
    needles: tuple[bytes, ...] = (b"install",)
    #: A file of this kind without any of these installs nothing.
    marks: tuple[bytes, ...] = ()
    #: Lock files beside it, and the command that refreshes each; `{file}` is its own name.
    locks: tuple[tuple[str, str], ...] = ()


def dependency_rule(kind: DependencyKind, title: str) -> Rule:
    """The rule of a kind: it takes its own files out of what was found for all kinds."""

    def plan(ctx: Context) -> None:
        for (path, name), located in sorted(selected(ctx).items(), key=lambda entry: entry[0]):
            if name == kind.name:
                _note_compiled(ctx, path, located)
                record(ctx, kind.name, path, located)
                if located.insertions:
                    _note_locks(ctx, kind, path)

    return Rule(name=kind.name, title=title, needles=kind.needles, plan=plan, order=ORDER)


def _note_compiled(ctx: Context, path: str, located: Located) -> None:
    """Say how a compiled requirements file is made again, where the file that it is made from gets the package."""
    source = path.removesuffix(".txt") + ".in"
    made_from = any(at == source and other.insertions for (at, _), other in selected(ctx).items())
    for left in [left for left in located.left if left.code == "locked-file" and made_from]:
        located.left.remove(left)
        command = left.next.partition(" and run `")[2].rstrip("`")
        ctx.note(
            "info",
            "lock-file",
            f"{path.rpartition('/')[2]} is left as it is and does not have {PACKAGE} yet",
            path=path,
            next=command or f"make it again from {source.rpartition('/')[2]}",
        )


def _note_locks(ctx: Context, kind: DependencyKind, path: str) -> None:
    """Say of each lock file beside a changed file, or above it in a workspace, how it is refreshed."""
    folder, _, base = path.rpartition("/")
    while True:
        above = f"{folder}/" if folder else ""
        found = False
        for name, command in kind.locks:
            lock = above + name.format(file=base)
            if not ctx.repo.exists(lock) or any(n.path == lock and n.code == "lock-file" for n in ctx.plan.notes):
                continue
            found = True
            command = command.format(file=base)
            ctx.note(
                "info",
                "lock-file",
                f"{name.format(file=base)} is left as it is and does not have {PACKAGE} yet",
                path=lock,
                next=command if not folder else f"cd {folder} && {command}",
            )
        if found or not folder or "{file}" in "".join(name for name, _ in kind.locks):
            return
        folder = folder.rpartition("/")[0]


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
    shared: list[tuple[str, DependencyKind, Source, str]] = []
    installing = targets.union(ctx.repo.having(b"install"))
    for path in ctx.repo.files:
        if path.endswith(".py") and path not in installing:
            continue  # most of a repository: it installs nothing
        for kind in kinds():
            if not kind.matches(path) or (kind.alone and path not in targets):
                continue
            if kind.marks and not any(mark in ctx.repo.read(path) for mark in kind.marks):
                continue
            source = readable(ctx, path)
            if source is None:
                break
            if kind.alone:
                own = next((own for names in CLASSES if (own := _located(kind, source, names)).anything), None)
                if own is not None:
                    chosen[path, kind.name] = own
            else:
                shared.append((path, kind, source, source.text.lower().replace("_", "-")))
    level = _levels(ctx)
    for tier in TIERS:
        found: list[_Found] = []
        for path, kind, source, lowered in shared:
            for rank, names in enumerate(tier):
                if not any(name in lowered for name in names):
                    continue
                located = _located(kind, source, names)
                if located.anything:
                    if not kind.declares and tier is not TRACKERS:
                        # A framework may be installed in many commands of one file; once is enough.
                        located.insertions = [] if located.present else located.insertions[:1]
                    found.append(_Found(path, kind, rank, located))
                    break
        serving, served = _serving(found, targets, level)
        for entry in serving:
            chosen.setdefault((entry.path, entry.kind.name), entry.located)
        # Code whose tracker is installed somewhere needs no further anchor.
        targets = targets - served
        if not targets:
            break
    return chosen


def _located(kind: DependencyKind, source: Source, names: Sequence[str]) -> Located:
    """What a kind finds, as questions only if it would find more in the result."""
    located = kind.locate(source, names)
    if located.insertions and not kind.alone:
        again = kind.locate(
            type(source)(source.path, inserted(source.text, located.insertions).encode(source.encoding)), names
        )
        if again.insertions or not again.present:
            return asked(located)
    return located


class _Found(NamedTuple):
    path: str
    kind: DependencyKind
    #: The place of its best anchor in the tier.
    rank: int
    located: Located


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
    found: Sequence[_Found], targets: frozenset[str], level: Callable[[str], str]
) -> tuple[list[_Found], set[str]]:
    """The files that install for covered code, and the code that is so served.

    Declaring files serve at the nearest level above the code, commands at any; in both only those with the best anchor
    there: where one file names W&B, another that only names MLflow as an extra is left alone.
    """
    serving: list[_Found] = []
    served: set[str] = set()
    by_level: dict[str, list[_Found]] = {}
    commands: list[_Found] = []
    for entry in found:
        if entry.kind.declares:
            by_level.setdefault(level(entry.path), []).append(entry)
        else:
            commands.append(entry)
    for target in targets:
        folder = target.rpartition("/")[0]
        while folder and folder not in by_level:
            folder = folder.rpartition("/")[0]
        if folder in by_level:
            serving += _best(by_level[folder])
            served.add(target)
        above = _best([entry for entry in commands if _below(target, level(entry.path))])
        if above:
            serving += above
            served.add(target)
    return serving, served


def _best(entries: list[_Found]) -> list[_Found]:
    best = min((entry.rank for entry in entries), default=0)
    return [entry for entry in entries if entry.rank == best]


def _below(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")
