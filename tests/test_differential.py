"""Random legal programs do the same before and after, and Probe gets what the tracker got, point for point.

`python -m tests.fuzz 0 10000` runs more of them; a seed that differs becomes a program in `tests/trackers/forms`.
"""

from __future__ import annotations

import pytest

from tests.fuzz import others
from tests.fuzz.programs import differing, program

SEEDS = 120


@pytest.mark.parametrize("first", range(0, SEEDS, 30))
def test_same_output_same_calls_same_series(first: int) -> None:
    wrong = [
        (item.program, faults) for item, faults in differing([program(s) for s in range(first, first + 30)]) if faults
    ]
    assert not wrong, "\n\n".join(f"{p.name}: {faults}\n{p.files['main.py']}" for p, faults in wrong)


@pytest.mark.parametrize("kind", others.KINDS)
def test_the_same_for_trackers_of_single_metrics(kind: str) -> None:
    wrong = [(item.program, f) for item, f in differing([others.program(kind, seed) for seed in range(30)]) if f]
    assert not wrong, "\n\n".join(f"{p.name}: {faults}\n{p.files['main.py']}" for p, faults in wrong)


def test_a_fault_is_seen() -> None:
    """The comparison can fail: a program whose calls the tool can't see is said to differ."""
    unseen = program(1)
    unseen.files["main.py"] = "m = __import__('wan' + 'db')\nm.init()\ngetattr(m, 'lo' + 'g')({'a': 1})\n"
    assert [faults for _, faults in differing([unseen]) if faults]
