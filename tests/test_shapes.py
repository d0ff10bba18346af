"""What each shape and tracker writes: `tests/shapes/RULE/CASE/before` becomes `after`, or stays as it is without one.

Found by path. Each result is proved, and planned again without an edit. `BLESS=1 pytest tests/test_shapes.py` writes
`after` anew; read it before it is committed. The module that is added is tested by itself and not kept here.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from instrument.patch.diff import changes
from instrument.patch.proofs import prove
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

ROOT = Path(__file__).parent / "shapes"
# Loops without a tracker are tested against one rule alone, in test_custom_loop.py.
CASES = sorted(path.parent for path in ROOT.glob("*/*/before") if path.parent.parent.name != "custom_loop")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_before_becomes_after(case: Path, tmp_path: Path) -> None:
    work = tmp_path / "repo"
    shutil.copytree(case / "before", work)
    repo = Repository(work)
    plan = make_plan(repo)
    made = {
        change.path: change.after for change in changes(repo, plan) if not change.path.endswith("probe_tracking.py")
    }
    if made:
        prove(repo, plan, make_plan)
    if os.environ.get("BLESS"):
        shutil.rmtree(case / "after", ignore_errors=True)
        for path, data in made.items():
            target = case / "after" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    after = case / "after"
    kept = (
        {p.relative_to(after).as_posix(): p.read_bytes() for p in after.rglob("*") if p.is_file()}
        if after.exists()
        else {}
    )
    kept = {path: data for path, data in kept.items() if not path.endswith("probe_tracking.py")}
    before = {path: (case / "before" / path).read_bytes() for path in kept if (case / "before" / path).exists()}
    wanted = {path: data for path, data in kept.items() if before.get(path) != data}
    assert made == wanted
