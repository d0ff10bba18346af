"""Searches for many needles at once, and for words, find what one search after the other finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instrument.repo.scan import Repository
from instrument.repo.search import Needles, Words

_TEXT = st.lists(
    st.sampled_from(
        [b"import", b"wandb", b"verl", b"overlap", b"run", b" ", b"\n", b".", b"(", b"<<", b"\xc3\xa9", b"_x"]
    ),
    max_size=12,
).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(data=_TEXT, needles=st.lists(_TEXT, max_size=6))
def test_needles_are_found_as_one_by_one(data: bytes, needles: list[bytes]) -> None:
    assert Needles(needles).within(data) == {needle for needle in needles if needle in data}


def test_needles_that_lie_in_one_another_are_all_found() -> None:
    assert Needles([b"wandb", b"self._wandb", b"and", b"db.l"]).within(b"self._wandb.log") == {
        b"wandb", b"self._wandb", b"and", b"db.l",
    }  # fmt: skip


def test_words_are_found_whole() -> None:
    words = Words()
    for path, text in (("a.py", "run.log(x)\nself.run_id"), ("b.py", "runs = größe"), ("c.py", "run")):
        words.add(path, text.encode())
    assert words.having(b"run") == ["a.py", "c.py"]
    assert words.having(b"run_id") == ["a.py"]
    assert words.having("größe".encode()) == ["b.py"]
    assert words.having(b"other") == []


@pytest.mark.parametrize(
    ("needle", "found"), [(b"wandb.", ["a.py"]), (b"wandb", ["a.py", "b.py"]), (b"import wandb", ["a.py"]), (b"<<", [])]
)
def test_having(tmp_path: Path, needle: bytes, found: list[str]) -> None:
    (tmp_path / "a.py").write_text("import wandb\nwandb.init()\n")
    (tmp_path / "b.py").write_text("from mywandb import x\n")
    (tmp_path / "c.py").write_text("print('nothing')\n")
    repo = Repository(tmp_path)
    assert repo.scan([b"wandb", b"<<"]) == 3
    assert repo.having(needle) == found


def test_an_overlay_is_searched_as_it_would_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import wandb\n")
    repo = Repository(tmp_path)
    repo.scan([b"wandb", b"probe"])
    after = repo.with_overlay({"a.py": b"import probe\n", "new.py": b"import probe\n"})
    after.scan([b"wandb", b"probe"])
    assert after.having(b"wandb") == []
    assert after.having(b"probe") == ["a.py", "new.py"]
    assert repo.having(b"wandb") == ["a.py"]


def test_a_second_scan_keeps_what_the_first_one_had(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import wandb\n")
    (tmp_path / "b.py").write_text("loss = 1\n")
    repo = Repository(tmp_path)
    repo.scan([b"wandb"])
    assert repo.having(b"loss") == []
    repo.scan([b"loss"])
    assert repo.having(b"loss") == ["b.py"]
    assert repo.having(b"wandb") == ["a.py"]
