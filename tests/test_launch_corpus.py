"""Launch rules on whole repositories. INSTRUMENT_LAUNCH_CORPUS names a folder of checkouts (Miles, slime, verl, ...).

Each is planned with its own training code taken as covered, proved (bash -n, loads, reversible, nothing left to do),
and a count is printed: `pytest -s tests/test_launch_corpus.py`.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from instrument.launch._shell import is_shell
from instrument.patch.proofs import prove
from instrument.repo.scan import Repository
from tests.test_launch import planned, results

FOLDER = os.environ.get("INSTRUMENT_LAUNCH_CORPUS", "")
CHECKOUTS = sorted(p for p in Path(FOLDER).iterdir() if p.is_dir()) if FOLDER else []


@pytest.mark.skipif(not CHECKOUTS, reason="INSTRUMENT_LAUNCH_CORPUS names no folder of checkouts")
@pytest.mark.parametrize("root", CHECKOUTS, ids=lambda path: path.name)
def test_checkout(root: Path) -> None:
    repo = Repository(root)
    begun = time.perf_counter()
    plan = planned(repo)
    seconds = time.perf_counter() - begun
    shell = [path for path in repo.files if is_shell(path, "")]
    changed = results(repo, plan)
    prove(repo, plan, planned)
    for path, data in changed.items():
        after = [edit for edit in plan.edits if edit.path == path]
        assert len(data) == len(repo.read(path)) + sum(len(edit.text.encode()) for edit in after)
    rules = Counter(edit.rule for edit in plan.edits)
    notes = Counter(f"{note.level} {note.code}" for note in plan.notes)
    print(
        f"\n{root.name}: {len(shell)} shell scripts, {len(changed)} files edited, {len(plan.edits)} edits in "
        f"{seconds:.1f} s: {dict(rules)}; {dict(notes)}"
    )
