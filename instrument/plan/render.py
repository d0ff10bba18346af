"""The text of the module (or its inline form) that a plan puts into a repository, from the templates.

A module is made of parts: `core` (init, log, finish); inside it `wandb` (W&B's own steps) and `axes` (the x-axes that
`define_metric` names); `series` (log_each, for trackers that count each metric by itself); and one for each framework:
`ray` (which worker records), `accelerate` (ProbeTracker), `huggingface` (ProbeCallback), `lightning` (ProbeLogger),
`miles` (ProbeBackend and register),
`samples` (each sample of a rollout of Miles). `fits` (a run for each fit) is what the callbacks of `keras`, `stable_baselines3`,
`xgboost`, `lightgbm`, `catboost`, `fastai`, `composer` and `ultralytics` share, and `recorded` (a method of theirs, tapped) what
`tianshou`, `skrl`, `rsl_rl`, `mmengine`, `torchtune` and `torchtitan` do. A configuration names `axolotl`'s plugin, and a
launch line `verl`'s (VERL_USE_EXTERNAL_MODULES).
`preflight` (asked for with `--preflight`) ends a process that would record nothing, where an environment variable says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from instrument import resources
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from jinja2 import Environment

#: Every part, in the order in which parts stand in the file, with the parts that it needs.
PARTS: dict[str, tuple[str, ...]] = {
    "core": (),
    "wandb": ("core",),
    "axes": ("core",),
    "series": ("core",),
    "ray": ("core",),
    "secrets": ("core",),
    "adapter": ("core",),
    "accelerate": ("core",),
    "huggingface": (),
    "lightning": (),
    "miles": (),
    "samples": (),
    "fits": ("core",),
    "keras": ("core", "fits"),
    "stable_baselines3": ("core", "fits"),
    "xgboost": ("core", "fits"),
    "lightgbm": ("core", "fits"),
    "catboost": ("core", "fits"),
    "fastai": ("core", "fits"),
    "composer": ("core", "fits"),
    "recorded": ("core", "fits"),
    "ultralytics": ("core", "fits"),
    "tianshou": ("core", "fits", "recorded"),
    "skrl": ("core", "fits", "recorded"),
    "rsl_rl": ("core", "fits", "recorded"),
    "mmengine": ("core", "fits", "recorded"),
    "torchtune": ("core", "fits", "recorded"),
    "torchtitan": ("core", "fits", "recorded"),
    "timm": ("core", "fits"),
    "axolotl": ("huggingface",),
    "verl": ("core",),
    "preflight": (),
}
#: The class that a framework part offers to import; it is made when it is first imported.
NAMES = {
    "accelerate": "ProbeTracker",
    "huggingface": "ProbeCallback",
    "lightning": "ProbeLogger",
    "keras": "ProbeKerasCallback",
    "stable_baselines3": "ProbeSB3Callback",
    "xgboost": "ProbeXGBoostCallback",
    "fastai": "ProbeFastaiCallback",
    "composer": "ProbeComposerLogger",
    "axolotl": "ProbePlugin",
}

#: Parts that offer `record_PART`.
_RECORD = frozenset("ultralytics tianshou skrl rsl_rl mmengine torchtune torchtitan timm".split())

_MARK = re.compile(r"written by probe-instrument; parts: ([\w,\s]+)")
#: What the templates may use from the standard library, and the line that imports it.
_IMPORTS = {
    name: f"import {name}"
    for name in "atexit contextlib functools importlib json logging os queue random sys threading time weakref".split()
} | {
    "Mapping": "from collections.abc import Mapping",
    "datetime": "from datetime import datetime, timezone",
}


@cache
def environment() -> Environment:
    """Jinja on `templates/`: nothing escaped, a name that is missing is an error."""
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
    template = environment().get_template("probe_tracking.py.jinja")
    given = {
        "parts": names,
        "subject": f"what goes to {tracker}" if tracker else "this project's metrics",
        "lazy": {NAMES[part]: f"_{part}_class" for part in names if part in NAMES},
    }
    used = {node.id for node in walk(ast.parse(template.render(imports="", **given))) if isinstance(node, ast.Name)}
    text = template.render(imports="\n".join(_IMPORTS[name] for name in _IMPORTS if name in used), **given)
    return re.sub(r"\n{4,}", "\n\n\n", text).rstrip("\n") + "\n"


def parts_of(text: str) -> set[str]:
    """The parts that a module written earlier has, also when its head was edited."""
    found = _MARK.search(text)
    if found:
        return {part for part in re.split(r",\s*", found[1].strip()) if part in PARTS}
    marks = {
        **NAMES,
        "miles": "class ProbeBackend",
        "core": "def log(metrics",
        "wandb": "_wandb_run",
        "axes": "_by_axis",
        "series": "def log_each",
        "ray": "_first_worker",
        "secrets": "def _public",
        "adapter": "class _Tee",
        "fits": "class _Fit",
        "preflight": "def _preflight",
        "verl": "def _tap_verl",
        "lightgbm": "class ProbeLightGBMCallback",
        "catboost": "class ProbeCatBoostCallback",
        "recorded": "class _Tap",
        **{part: f"def record_{part}(" for part in PARTS if part in _RECORD},
    }
    return {part for part, mark in marks.items() if mark in text}


def render_inline(parts: Iterable[str], *, alias: str | None = "probe", names: Iterable[str] = ()) -> str:
    """The same guards in a few lines for the import cell of a notebook, or a script that runs from anywhere.

    `alias` is what the file calls Probe (None: it calls nothing), `names` are the classes that it uses.
    """
    text = environment().get_template("inline.py.jinja").render(parts=complete(parts), alias=alias, names=sorted(names))
    return text.strip("\n") + "\n"
