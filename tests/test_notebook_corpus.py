"""Notebooks of published packages: read, planned, written, validated, taken back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

import nbformat
import pytest

from instrument.patch.proofs import prove
from instrument.patch.undo import undo
from instrument.patch.write import apply
from instrument.plan.planner import make_plan
from instrument.repo.notebook import NotebookSource
from instrument.repo.scan import Repository

#: Source distributions with notebooks that train something (129 notebooks).
SDISTS = (
    "botorch==0.18.1",
    "gpytorch==1.15.2",
    "norse==1.1.0",
    "pytorch-ignite==0.5.5",
    "sbi==0.27.0",
    "trackio==0.5.0",
)


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The notebooks of all of them; $INSTRUMENT_SDISTS names a folder that has the archives already."""
    given = os.environ.get("INSTRUMENT_SDISTS")
    folder = Path(given) if given else tmp_path_factory.mktemp("sdists")
    found: list[Path] = []
    for requirement in SDISTS:
        name, version = requirement.split("==")
        archive = folder / f"{name.replace('-', '_')}-{version}.tar.gz"
        if not archive.exists():
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", str(folder)]
            subprocess.run([*pip, requirement], check=True, timeout=300)
        target = tmp_path_factory.mktemp(name)
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                data = tar.extractfile(member) if member.isfile() and member.name.endswith(".ipynb") else None
                if data is not None:
                    path = target / f"{len(found):03}-{Path(member.name).name}"
                    path.write_bytes(data.read())
                    found.append(path)
    return found


def valid(data: bytes) -> bool:
    try:
        nbformat.validate(json.loads(data))
    except nbformat.ValidationError:
        return False
    return True


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_notebooks_of_packages_are_planned_written_and_taken_back(notebooks: list[Path], tmp_path: Path) -> None:
    assert len(notebooks) >= 100
    written = 0
    for number, notebook in enumerate(notebooks):
        before = notebook.read_bytes()
        source = NotebookSource(PurePosixPath(notebook.name), before)
        assert len(source.text) == len(source.original) and source.render([]) == before
        assert not source.skipped, f"{notebook.name}: {source.skipped}"
        folder = tmp_path / str(number)
        folder.mkdir()
        copy = folder / notebook.name
        copy.write_bytes(before)
        repo = Repository(folder)
        plan = make_plan(repo)
        if plan.empty:
            continue
        prove(repo, plan, make_plan)
        apply(repo, plan)
        assert valid(copy.read_bytes()) or not valid(before), notebook.name
        written += 1
        undo(folder)
        assert copy.read_bytes() == before, notebook.name
    assert written >= 30
