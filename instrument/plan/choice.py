"""A part of a plan: some of its edits, with all that they need and nothing that only the others needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace

from instrument.plan.edits import Edit
from instrument.plan.model import Plan
from instrument.plan.rules import all_rules
from instrument.plan.tracking_module import RULE as IMPORT

#: Rules from this order on edit launchers and dependency files: they follow the trainer's own edits.
_LAUNCH = 300


@dataclass(slots=True)
class Unit:
    """Edits that are one decision: a bound value and its uses, a call and what it replaces."""

    path: str
    rule: str
    edits: list[Edit] = field(default_factory=list)
    #: It opens a run, without which others of its rule would have nowhere to send to.
    opens: bool = False
    #: It is about how the trainer is started or installed, not about the trainer.
    launch: bool = False

    @property
    def start(self) -> int:
        return min(edit.start for edit in self.edits)

    @property
    def reason(self) -> str:
        """The last edit's: a value is bound first, and what that is for comes after it."""
        return self.edits[-1].reason

    @property
    def applicability(self) -> str:
        return "review" if any(edit.applicability == "review" for edit in self.edits) else "safe"

    @property
    def signature(self) -> tuple[str, str, tuple[str, ...]]:
        """What it is known by where a plan is made anew and it stands elsewhere."""
        return self.path, self.rule, tuple(edit.text for edit in self.edits)


def units(plan: Plan, line_of: Callable[[Edit], int]) -> list[Unit]:
    """A plan's decisions, the trainer's first, by file and position. Imports are none: they follow.

    `line_of` gives the line that an edit stands in.
    """
    orders = {rule.name: rule.order for rule in all_rules()}
    opened = {
        (site.path, site.line, site.rule) for site in plan.sites if site.kind == "open" and site.outcome == "covered"
    }
    found: dict[tuple[str, str], Unit] = {}
    for edit in sorted(plan.edits, key=lambda edit: (edit.path, edit.start)):
        if edit.rule == IMPORT:
            continue
        key = (edit.path, edit.group or f"{edit.rule}:{edit.start}:{edit.end}")
        unit = found.setdefault(key, Unit(edit.path, edit.rule))
        unit.edits.append(edit)
        unit.opens |= (edit.path, line_of(edit), edit.rule) in opened and "init(" in edit.text
        unit.launch |= orders.get(edit.rule, 0) >= _LAUNCH
    return sorted(found.values(), key=lambda unit: (unit.launch, unit.path, unit.start))


def following(unit: Unit, chosen: Iterable[Unit], others: Iterable[Unit]) -> list[Unit]:
    """Which of the others fall with a unit that is left out: all of its rule, if no run is opened by that any more."""
    later = list(others)
    if not unit.opens or any(one.opens and one.rule == unit.rule for one in (*chosen, *later)):
        return []
    return [one for one in later if one.rule == unit.rule]


def part(plan: Plan, left_out: Collection[tuple[str, str, tuple[str, ...]]], line_of: Callable[[Edit], int]) -> Plan:
    """The plan without the units of some signatures, and without the imports and new files that nobody needs then."""
    kept = [unit for unit in units(plan, line_of) if unit.signature not in left_out]
    if all(unit.launch for unit in kept):
        kept = []  # what starts or installs a trainer has nothing to hand on
    edits = [edit for unit in kept for edit in unit.edits]
    importing = {unit.path for unit in kept if not unit.launch}
    edits += [edit for edit in plan.edits if edit.rule == IMPORT and edit.path in importing]
    whole = len(kept) == len(units(plan, line_of))
    new_files = plan.new_files if whole or importing else []
    return replace(plan, edits=edits, new_files=list(new_files))
