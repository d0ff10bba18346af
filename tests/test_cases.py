"""The example repositories: each is safe to apply and undo, and those that passed once pass for ever."""

from __future__ import annotations

import pytest

from tests import cases
from tests.run_cases import floor

IDS = cases.ids()
FLOOR = {case for ids in floor().values() for case in ids}

pytestmark = pytest.mark.skipif(not IDS, reason="the cases are not beside this project")


@pytest.mark.parametrize("case", IDS)
def test_case(case: str) -> None:
    """Apply never crashes, twice is as once, undo gives the bytes back; a listed case satisfies its checker."""
    result = cases.run(case)
    assert not result.unsafe, "\n".join(result.unsafe)
    if case in FLOOR:
        assert not result.wrong, "\n".join(result.wrong)
