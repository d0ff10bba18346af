"""The process map as a tree: what starts what, what is emitted where, and whether Probe gets it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from instrument.report.text import plural, shown

if TYPE_CHECKING:
    from rich.tree import Tree

    from instrument.repo.processes import Coverage, Process, ProcessMap
    from instrument.report.terminal import Screen

#: (mark, colour, words) of how an emitter stands.
MARKS: dict[Coverage, tuple[str, str, str]] = {
    "covered": ("+", "green", "recorded"),
    "asked": ("?", "yellow", "to decide"),
    "not-covered": ("-", "red", "not recorded"),
}
#: What is listed without -v.
_MAX_ROOTS, _MAX_EMITTERS, _MAX_STARTS = 12, 5, 2


def write_processes(screen: Screen, found: ProcessMap, *, verbose: bool = False) -> None:
    """Print the tree; nothing for an empty map. A process with several parents is told whole once."""
    from rich.tree import Tree

    if not found:
        return
    screen.heading("Processes")
    roots, told = found.roots(), set[str]()
    for root in roots if verbose else roots[:_MAX_ROOTS]:
        tree = Tree(_title(root, verbose))
        _grow(tree, found, root, told, verbose)
        screen.console.print(tree, soft_wrap=True)
    if not verbose and len(roots) > _MAX_ROOTS:
        screen.line(f"and {plural(len(roots) - _MAX_ROOTS, 'more process', 'more processes')} (-v shows all)", "dim")


def _title(process: Process, verbose: bool) -> str:
    starts = process.starts if verbose else process.starts[:_MAX_STARTS]
    text = process.title
    if starts:
        text += "  (" + "; ".join(f"{start.how}, {start.path}:{start.line}" for start in starts)
        text += f"; and {len(process.starts) - len(starts)} more)" if len(starts) < len(process.starts) else ")"
    return shown(text)


def _grow(tree: Tree, found: ProcessMap, process: Process, told: set[str], verbose: bool) -> None:
    from rich.text import Text

    if process.id in told:
        tree.add(Text("as above", style="dim"))
        return
    told.add(process.id)
    # What is not recorded comes first: it is what a person has to know.
    emitters = sorted(process.emitters, key=lambda emitter: emitter.coverage == "covered")
    listed = emitters if verbose else emitters[:_MAX_EMITTERS]
    for emitter in listed:
        mark, style, word = MARKS[emitter.coverage]
        tree.add(Text(shown(f"{mark} {emitter.path}:{emitter.line} {emitter.what}: {word}"), style=style))
    rest = Counter(MARKS[emitter.coverage][2] for emitter in emitters[len(listed) :])
    if rest:
        tree.add(Text("and " + ", ".join(f"{count} more {word}" for word, count in rest.items()), style="dim"))
    for child in found.children(process):
        _grow(tree.add(_title(child, verbose)), found, child, told, verbose)
