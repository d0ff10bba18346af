"""Real files with calls sown into them, and declaring files in random layouts: a few of each in every run of the tests.

More of them, an hour's worth or a minute's: `python -m tests.fuzz.sown FIRST LAST`, `python -m tests.fuzz.declared FIRST LAST`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import declared, sown


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_calls_sown_into_real_files(first: int, tmp_path: Path) -> None:
    outcomes = []
    for seed in range(first, first + 20):
        data = sown.sown(seed)
        if data is not None:
            folder = tmp_path / str(seed)
            folder.mkdir()
            outcomes.append((seed, sown.outcome(data, folder)))
    assert not [(seed, result.fault or result.refused) for seed, result in outcomes if result.fault or result.refused]
    assert sum(result.edits for _, result in outcomes) > len(outcomes)


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_declaring_files(first: int, tmp_path: Path) -> None:
    changed = 0
    for seed in range(first, first + 40):
        folder = tmp_path / str(seed)
        folder.mkdir()
        wrong, count = declared.faults(declared.repository(seed), folder)
        assert not wrong, (seed, wrong)
        changed += count
    assert changed > 40


def test_a_change_of_what_a_file_says_is_seen() -> None:
    """The comparison can fail."""
    assert declared.meaning("pyproject.toml", b"[a]\nb = ['x', 'probe-research']\n") == {"a": {"b": ["x"]}}
    assert declared.meaning("pyproject.toml", b"[a]\nb = ['x']\n") != declared.meaning(
        "pyproject.toml", b"[a]\nb = ['y']\n"
    )
    assert declared.meaning("requirements.txt", b"a\r\nprobe-research") == declared.meaning("requirements.txt", b"a")
    assert declared.meaning("requirements.txt", b"a\nb") != declared.meaning("requirements.txt", b"a")
