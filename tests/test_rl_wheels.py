"""RL trainers as they are published: planned, proved, written, compiled, planned again, taken back."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from instrument.patch.proofs import prove
from instrument.patch.undo import undo
from instrument.patch.write import apply
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

#: The rule that must wire each, and a file that it edits.
WHEELS = {
    "verl==0.9.1": ("verl", "verl/utils/tracking.py"),
    "verl==0.7.1": ("verl", "verl/utils/tracking.py"),
    "verl==0.4.1": ("verl", "verl/utils/tracking.py"),
    "ms-swift==4.6.0": ("ms_swift", "swift/megatron/trainers/base.py"),
    "skyrl==0.3.0": ("skyrl", "skyrl/train/utils/tracking.py"),
    "areal==1.0.4": ("areal", "areal/utils/stats_logger.py"),
    "openpipe-art==0.5.18": ("art", "art/model.py"),
}


def unpacked(requirement: str, folder: Path) -> Path:
    """A wheel's files; $INSTRUMENT_SDISTS names a folder that may have it already."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    given = os.environ.get("INSTRUMENT_SDISTS")
    wheel = next(Path(given).glob(pattern), None) if given else None
    if wheel is None:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
        subprocess.run([*pip, "--only-binary", ":all:", requirement], check=True, timeout=300)
        wheel = next(folder.glob(pattern))
    target = folder / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("requirement", WHEELS)
def test_a_published_trainer_is_written_and_taken_back(requirement: str, tmp_path: Path) -> None:
    rule, path = WHEELS[requirement]
    folder = unpacked(requirement, tmp_path)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    repo = Repository(folder)
    plan = make_plan(repo)
    assert rule in {edit.rule for edit in plan.edits if edit.path == path}
    prove(repo, plan, make_plan)
    apply(repo, plan)
    for edited in {edit.path for edit in plan.edits} | {new.path for new in plan.new_files}:
        if edited.endswith(".py"):
            compile((folder / edited).read_bytes(), edited, "exec")
    assert make_plan(Repository(folder)).empty
    undo(folder)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
