"""The places of real trainers that were judged by hand (`corpus/audit/judged.json`), and what the rules say of them now.

Wheels are downloaded; git repositories are looked at where $INSTRUMENT_SOURCES names a folder that has them unpacked as
`owner+name@version`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from instrument.audit.engine import Audit, audit
from instrument.audit.rule import all_rules
from instrument.repo.scan import Repository
from tests.test_rl_wheels import unpacked

FILE = Path(__file__).resolve().parents[1] / "corpus" / "audit" / "judged.json"
JUDGED: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
SOURCES = os.environ.get("INSTRUMENT_SOURCES")
ROWS: list[dict[str, Any]] = [*JUDGED["sites"], *JUDGED["quiet"], *JUDGED["sample"]]
#: What is downloaded: published packages with places of every kind.
WHEELS = ["trl==1.16.0", "openpipe-art==0.5.18", "ms-swift==3.12.6", "verl==0.9.1", "swanlab==0.10.3"]


def rows_of(repository: str, version: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if (row["repository"], row["version"]) == (repository, version)]


def holds(result: Audit, rows: list[dict[str, Any]]) -> None:
    """The audit says what the file says it does."""
    found = {(f.path, f.line, f.code) for f in result.findings}
    files = {(f.path, f.code) for f in result.findings}
    for row in rows:
        place = (row["path"], row["line"], row["code"])
        if row["line"] is None:
            assert (row["path"], row["code"]) not in files, row
        else:
            assert (place in found) == (row.get("found", True)), row


# -- the file by itself


def test_every_place_has_a_rule_and_a_reason() -> None:
    codes = {rule.code for rule in all_rules()}
    for row in ROWS:
        assert row["code"] in codes and row["path"] and not row["path"].startswith("/"), row
    assert all(row["found"] or row["why"].endswith(".") for row in JUDGED["sites"])
    assert all(row["why"].endswith(".") for row in [*JUDGED["quiet"], *JUDGED["sample"]])


def test_the_sample_is_large_and_right() -> None:
    sample = JUDGED["sample"]
    places = {(row["repository"], row["version"], row["path"], row["line"], row["code"]) for row in sample}
    assert len(places) == len(sample) >= 50
    assert sum(row["verdict"] == "true" for row in sample) / len(sample) >= 0.9
    assert len({row["repository"] for row in sample}) >= 12 and len(JUDGED["looked_at"]) >= 30


def test_the_page_has_the_numbers() -> None:
    page = (FILE.parents[2] / "docs" / "audit.md").read_text("utf-8")
    sites, sample = JUDGED["sites"], JUDGED["sample"]
    reported = sum(row["found"] for row in sites)
    assert f"| {len(sites)}, of which {reported} are reported; each of the other {len(sites) - reported} has" in page
    assert f"| {len(sample)}, of which {sum(row['verdict'] == 'true' for row in sample)} are true |" in page
    assert f"| {len(JUDGED['looked_at'])};" in page


def test_most_places_of_the_survey_are_reported() -> None:
    found = Counter(row["code"] for row in JUDGED["sites"] if row["found"])
    assert sum(found.values()) / len(JUDGED["sites"]) > 0.85 and set(found) >= {f"PI10{n}" for n in range(1, 9)}


# -- the file and the rules


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("requirement", WHEELS)
def test_a_published_package_is_as_it_was_judged(requirement: str, tmp_path: Path) -> None:
    name, version = requirement.split("==")
    rows = rows_of(f"{name} (wheel)", version)
    assert rows
    holds(audit(Repository(unpacked(requirement, tmp_path))), rows)


@pytest.mark.skipif(SOURCES is None, reason="set INSTRUMENT_SOURCES to a folder of owner+name@version")
@pytest.mark.parametrize(
    "where", sorted({(row["repository"], row["version"]) for row in ROWS if "/" in row["repository"]})
)
def test_a_repository_is_as_it_was_judged(where: tuple[str, str]) -> None:
    repository, version = where
    folder = Path(SOURCES or "") / f"{repository.replace('/', '+')}@{version}"
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is not there")
    holds(audit(Repository(folder)), rows_of(repository, version))
