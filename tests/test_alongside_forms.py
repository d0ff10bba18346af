"""Legal programs in odd forms: what they print and send stays the same, and Probe gets the tracker's series.

Each program of `tests/trackers/forms/*.txt` is planned, proved and run before and after, against recording doubles of
its tracker and of the SDK. Where nothing can be placed the plan must say so.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.trackers.programs import HERE, Instrumented, faults, instrumented, read_programs

NAMES = {path.stem: [p.name for p in read_programs(path)] for path in sorted((HERE / "forms").glob("*.txt"))}


@cache
def results(group: str) -> dict[str, Instrumented]:
    """All programs of a group, run together: a process each is a fork of one."""
    programs = read_programs(HERE / "forms" / f"{group}.txt")
    return {item.program.name: item for item in instrumented(programs)}


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, names in NAMES.items() for name in names])
def test_form(group: str, name: str) -> None:
    item = results(group)[name]
    assert not faults(item), "\n".join([*faults(item), *(f"--- {n}\n{d.decode()}" for n, d in item.files.items())])


def test_there_are_enough() -> None:
    assert sum(map(len, NAMES.values())) >= 60
    for names in NAMES.values():
        assert len(names) == len(set(names))
