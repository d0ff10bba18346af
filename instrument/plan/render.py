"""The text of the module (or its inline form) that a plan puts into a repository, from the templates.

A module is made of parts: `core` (init, log, finish), `wandb` (W&B's own steps, inside core), `huggingface`
(ProbeCallback), `lightning` (ProbeLogger), `accelerate` (ProbeTracker, on top of core), `miles` (ProbeBackend, register).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from instrument import resources

if TYPE_CHECKING:
    from jinja2 import Environment

#: Every part, in the order in which parts stand in the file, with the parts that it needs.
PARTS: dict[str, tuple[str, ...]] = {
    "core": (),
    "wandb": ("core",),
    "accelerate": ("core",),
    "huggingface": (),
    "lightning": (),
    "miles": (),
}
_MARK = re.compile(r"written by probe-instrument; parts: ([\w, ]+)")
_DEFINED = {"core": "def log(", "huggingface": "class ProbeCallback", "lightning": "class ProbeLogger", "accelerate": "class ProbeTracker", "miles": "class ProbeBackend"}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(resources.folder("templates")), undefined=StrictUndefined, autoescape=False,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip


def complete(parts: Iterable[str]) -> list[str]:
    """The parts with those that they need, in file order. Raises KeyError for a part that does not exist."""
    wanted: set[str] = set()
    for part in parts:
        wanted.update((part, *PARTS[part]))
    return [part for part in PARTS if part in wanted]


def render_module(parts: Iterable[str], *, tracker: str | None = None) -> str:
    """The text of `probe_tracking.py` made of some parts (`core` if none is given).

    `tracker` names what the project already logs to, for the docstring.
    """
    names = complete(parts) or ["core"]
    subject = f"what goes to {tracker}" if tracker else "this project's metrics"
    text = _environment().get_template("probe_tracking.py.jinja").render(parts=names, subject=subject)
    return re.sub(r"\n{4,}", "\n\n\n", text).rstrip("\n") + "\n"


def parts_of(text: str) -> set[str]:
    """The parts that a module written earlier has, also when its head was edited."""
    found = _MARK.search(text)
    parts = {part for part in (found[1].replace(" ", "").split(",") if found else ()) if part in PARTS}
    return parts | {part for part, definition in _DEFINED.items() if f"\n{definition}" in text}


def render_inline(parts: Iterable[str], *, alias: str | None = "probe", names: Iterable[str] = ()) -> str:
    """The same guards in a few lines for the import cell of a notebook, or a script that runs from anywhere.

    `alias` is what the file calls Probe (None: it calls nothing), `names` are the classes that it uses.
    """
    return _environment().get_template("inline.py.jinja").render(
        parts=complete(parts), alias=alias, names=sorted(names)
    ).strip("\n") + "\n"  # fmt: skip
