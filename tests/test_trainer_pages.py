"""The pages of the documentation show what the tool does: each diff in them is the one that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import trainer_pages


@pytest.mark.parametrize("page", trainer_pages.pages(), ids=lambda path: path.stem)
def test_the_diffs_are_todays(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == trainer_pages.rendered(text), "python -m tests.trainer_pages"
    assert "+" in text and "probe" in text


def test_every_trainer_has_a_page() -> None:
    """Each page that the overview names is there and linked, and has at least one real diff (notebooks have their own)."""
    folder = trainer_pages.ROOT / "docs" / "trainers"
    overview = (folder / "index.md").read_text("utf-8")
    for path in folder.glob("*.md"):
        assert path.name == "index.md" or f"({path.name})" in overview
    assert len(trainer_pages.pages()) >= 10
