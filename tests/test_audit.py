"""`instrument audit`: what each rule says of small repositories and what it does not, silencing, settings, formats.

`tests/audit/PI1xx/CASE/before` holds a repository; a line that a rule must report ends in `# -> PI1xx`. Cases are found by
their place; more of them are quiet than not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from instrument.audit import report
from instrument.audit.engine import audit
from instrument.audit.noqa import silenced
from instrument.audit.rule import all_rules, expanded, rule_of
from instrument.audit.settings import AuditSettings, load, parse
from instrument.cli import build
from instrument.errors import InstrumentError
from instrument.repo.scan import Repository
from tests.test_json import check as checked

ROOT = Path(__file__).parent / "audit"
PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
CASES = sorted(path.parent for path in ROOT.glob("*/*/before"))
CODES = [rule.code for rule in all_rules()]
FLAT = 'import wandb\n\nwandb.init()\n\n\ndef log(loss, lr):\n    wandb.log({"train/loss": loss, "lr": lr})\n'


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(build(), [*arguments])
    return result.exit_code, result.output


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    """A repository with one finding, PI106 in line 7."""
    (tmp_path / "train.py").write_text(FLAT)
    return tmp_path


# -- the rules


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_case_says_what_is_marked(case: Path) -> None:
    folder = case / "before"
    wanted = {
        (path.relative_to(folder).as_posix(), number, code)
        for path in folder.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for code in re.findall(r"# -> (PI\d+)", line)
    }
    found = audit(Repository(folder), AuditSettings(select=(case.parent.name,)))
    assert {(f.path, f.line, f.code) for f in found.findings} == wanted
    assert bool(wanted) == case.name.startswith("says_"), "the name says whether something is found"


@pytest.mark.parametrize("code", CODES)
def test_more_cases_are_quiet_than_not(code: str) -> None:
    names = [case.name for case in CASES if case.parent.name == code]
    says = sum(name.startswith("says_") for name in names)
    assert says and len(names) - says >= says


@pytest.mark.parametrize("code", CODES)
def test_a_quiet_case_is_quiet_for_its_own_rule_alone_or_for_all(code: str) -> None:
    """No rule raises on any of the repositories."""
    for case in CASES:
        if case.parent.name == code:
            audit(Repository(case / "before"))


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_says_what_it_is(rule: Any) -> None:
    assert re.fullmatch(r"PI\d{3}", rule.code) and re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.summary.endswith(".") and rule.why.endswith(".") and rule.needles
    compile(rule.bad, rule.code, "exec")
    compile(rule.good, rule.code, "exec")
    assert bool(rule.fix) == (rule.applicability is not None)


def test_the_page_has_every_rule_as_it_is() -> None:
    rows = [f"| {rule.code} | `{rule.name}` | {rule.summary} | {rule.applicability or 'no'} |" for rule in all_rules()]
    text = PAGE.read_text("utf-8")
    if os.environ.get("BLESS"):
        head, rest = text.split("|---|---|---|---|\n", 1)
        tail = rest.split("\n\n", 1)[1]
        text = head + "|---|---|---|---|\n" + "\n".join(rows) + "\n\n" + tail
        PAGE.write_text(text, "utf-8")
    assert "\n".join(rows) in text


# -- silencing


@pytest.mark.parametrize(
    ("comment", "quiet"),
    [
        ("# noqa", True), ("# noqa: PI106", True), ("#noqa:PI106", True), ("# noqa: E501, PI106", True),
        ("# noqa: E501 PI106", True), ("# NOQA: pi106", True), ("# noqa: E501", False), ("# noqa: PI105", False),
        ("# nothing", False),
    ],
)  # fmt: skip
def test_a_comment_silences_its_line(flat: Path, comment: str, quiet: bool) -> None:
    file = flat / "train.py"
    file.write_text(FLAT.rstrip("\n") + f"  {comment}\n")
    found = audit(Repository(flat))
    assert (len(found.findings), found.silenced) == ((0, 1) if quiet else (1, 0))


def test_a_comment_on_any_line_of_what_was_found_counts() -> None:
    text = "wandb.log(\n    row,  # noqa: PI102\n)\n"
    assert silenced(text, range(1, 4), "PI102") and not silenced(text, range(3, 4), "PI102")


@pytest.mark.parametrize(("comment", "quiet"), [("noqa", True), ("noqa: PI106", True), ("noqa: PI101", False)])
def test_a_comment_silences_a_file(flat: Path, comment: str, quiet: bool) -> None:
    file = flat / "train.py"
    file.write_text(f"# instrument: {comment}\n" + FLAT)
    assert bool(audit(Repository(flat)).findings) != quiet


# -- settings


def test_settings_leave_out(flat: Path) -> None:
    for text, left in [
        ("", 1), ('ignore = ["PI106"]', 0), ('ignore = ["PI1"]', 0), ('select = ["PI101"]', 0), ('exclude = ["tr*.py"]', 0),
        ('per-file-ignores = { "*.py" = ["PI106"] }', 0), ('per-file-ignores = { "other/**" = ["PI106"] }', 1),
        ('section = { lr = "" }', 0), ('section = { lr = "train" }', 1),
    ]:  # fmt: skip
        (flat / "pyproject.toml").write_text(f"[tool.instrument.audit]\n{text}\n")
        assert len(audit(Repository(flat), load(flat)).findings) == left, text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["PI1"]', "did you mean «select»"), ('select = "PI1"', "list of strings"), ("section = 3", "table"),
        ('per-file-ignores = ["a"]', "table"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_settings_is_named(text: str, message: str) -> None:
    with pytest.raises(InstrumentError) as error:
        parse(f"[tool.instrument.audit]\n{text}\n", "pyproject.toml")
    assert message in str(error.value) and error.value.line == 2


def test_the_other_commands_take_a_file_with_audit_settings(flat: Path) -> None:
    (flat / "pyproject.toml").write_text('[tool.instrument.audit]\nignore = ["PI106"]\n')
    assert run("detect", str(flat))[0] == 0


def test_codes_by_name_and_by_beginning() -> None:
    assert rule_of("pi105") is rule_of("zero-for-missing")
    assert expanded(["PI1"]) == frozenset(CODES) and expanded(["key-without-section"]) == {"PI106"}
    with pytest.raises(InstrumentError, match="PI999"):
        expanded(["PI999"])


# -- the command


def test_exit_codes_and_text(flat: Path) -> None:
    code, out = run("audit", str(flat))
    assert code == 1 and "train.py:7:36: PI106" in out and "1 finding in 1 file" in out
    assert run("audit", str(flat), "--ignore", "PI106")[0] == 0
    assert run("audit", str(flat), "--select", "PI101,PI102")[0] == 0
    code, out = run("audit", str(flat), "--select", "PI999")
    assert code == 2
    assert run("audit", str(flat / "missing"))[0] == 2


def test_json(flat: Path) -> None:
    code, out = run("audit", str(flat), "--json")
    document = checked(json.loads(out))
    assert code == 1 and document["outcome"] == "found" and document["counts"] == {"PI106": 1}
    finding = document["findings"][0]
    assert (finding["code"], finding["path"], finding["line"], finding["column"]) == ("PI106", "train.py", 7, 36)
    assert json.loads(run("audit", str(flat), "--output-format", "json")[1]) == document
    assert checked(json.loads(run("audit", str(flat), "--json", "--ignore", "PI1")[1]))["outcome"] == "clean"


def test_sarif_and_annotations(flat: Path) -> None:
    code, out = run("audit", str(flat), "--output-format", "github")
    assert code == 1 and out.startswith("::warning file=train.py,line=7,title=probe-instrument::PI106 ")
    done = subprocess.run(
        [sys.executable, "-m", "instrument", "audit", str(flat), "--output-format", "sarif"], capture_output=True,
        timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(PAGE.parents[1])},
    )  # fmt: skip
    log = json.loads(done.stdout)["runs"][0]
    assert done.returncode == 1 and {rule["id"] for rule in log["tool"]["driver"]["rules"]} == set(CODES)
    (result,) = log["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert result["ruleId"] == "PI106" and region == {"startLine": 7, "startColumn": 36}


def test_a_rule_is_explained() -> None:
    code, out = run("rule", "PI105")
    assert code == 0 and "zero-for-missing" in out and "Rather:" in out
    code, out = run("rule", "--all")
    assert code == 0 and all(rule.code in out for rule in all_rules())
    assert checked(json.loads(run("rule", "--all", "--json")[1]))["rules"][0]["code"] == "PI101"
    assert run("rule", "PI999")[0] == 2


def test_a_file_that_does_not_parse_is_said_and_the_rest_is_looked_at(flat: Path) -> None:
    (flat / "broken.py").write_text("import wandb\nwandb.log({\n")
    code, out = run("audit", str(flat))
    assert code == 1 and "broken.py" in out and "not looked at" in out


def test_a_notebook_is_named_by_its_own_line(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "id": "a", "execution_count": None, "metadata": {}, "outputs": [], "source": FLAT}
    notebook = {
        "cells": [cell], "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "p"}},
        "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "n.ipynb").write_text(json.dumps(notebook, indent=1))
    (finding,) = audit(Repository(tmp_path)).findings
    assert finding.code == "PI106" and "cell 1, line 7" in finding.message


def test_tests_and_vendored_code_are_not_looked_at(flat: Path) -> None:
    for folder in ("tests", "third_party"):
        (flat / folder).mkdir()
        (flat / folder / "a.py").write_text(FLAT)
    assert [finding.path for finding in audit(Repository(flat)).findings] == ["train.py"]


def test_nothing_of_a_repository_without_a_tracker_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(x):\n    return x + 1\n")
    found = audit(Repository(tmp_path))
    assert (found.findings, found.files_parsed) == ([], 0)


def test_a_page_has_all_of_a_rule() -> None:
    page = report.page(rule_of("PI101"))
    assert page.startswith("# axis-not-declared (PI101)") and "define_metric" in page and "## Fix (review)" in page
