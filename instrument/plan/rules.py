"""What a shape, a tracker or a launcher is to the engine, and how they are found.

One file is one rule: its name is the id used by `--only`, in reports and in edits. The module has a docstring that
says what it recognises, and an object called `RULE`. Nothing else has to be registered.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.plan.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One framework, tracker or launcher.

    `needles` decide by bytes whether the rule looks at a repository at all: some file must contain one of them; a rule
    without needles decides itself.
    `plan` looks for its sites and wires them through the context. Rules run by `order`, lowest first: shapes that
    register (100) before trackers that log alongside (200), launchers and dependency files (300) last, since they act
    on what the others covered.
    """

    name: str
    title: str
    needles: tuple[bytes, ...]
    plan: Callable[[Context], None]
    order: int
    #: Used only where it was asked for with `--push`.
    push: bool = False


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule below `shapes/`, `trackers/`, `launch/` and `push/`, in the order they run."""
    rules: list[Rule] = []
    for package in ("shapes", "trackers", "launch", "push"):
        parent = importlib.import_module(f"instrument.{package}")
        for info in pkgutil.iter_modules(parent.__path__):
            if not info.name.startswith("_"):
                rules.append(importlib.import_module(f"{parent.__name__}.{info.name}").RULE)
    return tuple(sorted(rules, key=lambda rule: (rule.order, rule.name)))
