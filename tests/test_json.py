"""What `--json` prints fits the schemas that docs/json.md names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

SCHEMAS = {path.name.removesuffix(".schema.json"): json.loads(path.read_text("utf-8")) for path in DOCS.glob("*.json")}
REGISTRY: Registry[Any] = Registry().with_resources(
    (f"{name}.schema.json", Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)


def check(document: dict[str, Any]) -> dict[str, Any]:
    """The document, which is of the form that its `schema` says."""
    name = str(document["schema"]).removeprefix("instrument.").removesuffix("/1")
    Draft202012Validator(SCHEMAS[name], registry=REGISTRY).validate(document)
    return document


def run(*arguments: str, cwd: Path, code: int = 0) -> dict[str, Any]:
    """The document that a command prints, checked."""
    done = subprocess.run(
        [sys.executable, "-m", "instrument", *arguments, "--json"], cwd=cwd, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return check(document)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The demo trainer, outside git."""
    return shutil.copytree(ROOT / "corpus" / "demo", tmp_path / "demo", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_schema_is_one_and_is_documented(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    page = (DOCS / "json.md").read_text("utf-8")
    assert f"{name}.schema.json" in page and f"`instrument.{name}/1`" in page


def test_the_whole_way(demo: Path) -> None:
    for command in ("detect", "check"):
        found = run(command, ".", cwd=demo, code=command == "check")
        assert found["outcome"] == "found" and "plan" not in found and found["counts"]["covered"] == 4
    whole = run("detect", ".", "-v", cwd=demo)["plan"]
    assert whole["schema"] == "instrument.plan/1" and whole["edits"]
    shown = run("diff", ".", cwd=demo)
    assert shown["patch"].startswith("diff --git ") and {proof["name"] for proof in shown["proofs"]} > {"parses"}
    asked = run("apply", ".", cwd=demo, code=1)
    assert asked["outcome"] == "found" and "probe" not in (demo / "train.py").read_text("utf-8")
    done = run("apply", ".", "--yes", cwd=demo)
    assert done["outcome"] == "done" and [file["path"] for file in done["files"] if file["new"]] == [
        "probe_tracking.py"
    ]
    clean = run("check", ".", cwd=demo)
    assert clean["outcome"] == "clean" and clean["counts"]["already"] == 4 and clean["files"] == []
    undone = run("undo", ".", cwd=demo)
    assert undone["removed"] == ["probe_tracking.py"] and "train.py" in undone["restored"]


def test_questions_have_a_place_and_a_next_step(demo: Path) -> None:
    (demo / "train.py").write_text("import wandb\nwandb.init()\nrow = {}\nwandb.log(**row)\nwandb.log({'a': 1})\n")
    note = run("detect", ".", cwd=demo)["notes"][0]
    assert (note["level"], note["code"], note["path"], note["line"]) == ("question", "unreadable-call", "train.py", 4)
    assert note["next"]


def test_nothing_to_write_and_something_in_the_way_is_refused(demo: Path) -> None:
    (demo / "probe.py").write_text("x = 1\n")
    for command, code in (("detect", 0), ("diff", 0), ("check", 0), ("apply", 2)):
        document = run(command, ".", cwd=demo, code=code)
        assert document["outcome"] == "refused" and document["notes"][0]["code"] == "probe-shadowed"


def test_errors_have_a_code_and_a_next_step(demo: Path) -> None:
    def error(*arguments: str) -> tuple[str, bool]:
        detail = run(*arguments, cwd=demo, code=2)["error"]
        return detail["code"], bool(detail["hint"] or detail["next"])

    assert error("detect", "nowhere") == ("no-target", True)
    assert error("detect", ".", "--select", "wandbb") == ("unknown-rule", True)
    assert error("undo", ".")[0] == "nothing-to-undo"
    plan = demo.parent / "plan.json"
    plan.write_text("[]")
    assert error("apply", ".", "--yes", "--plan", str(plan)) == ("bad-plan", True)
    subprocess.run([sys.executable, "-m", "instrument", "diff", "-q", "--plan", str(plan)], cwd=demo, check=True)
    with (demo / "train.py").open("a") as file:
        file.write("# mine\n")
    assert error("apply", ".", "--yes", "--plan", str(plan)) == ("changed-since-plan", True)
    subprocess.run([sys.executable, "-m", "instrument", "apply", "-q", "--yes"], cwd=demo, check=True)
    with (demo / "train.py").open("a") as file:
        file.write("# mine\n")
    assert error("undo", ".") == ("changed-since-apply", True)
    (demo / "pyproject.toml").write_text("[tool.instrument]\nonly = 3\n")
    assert error("check", ".") == ("settings", True)


def test_a_dirty_tree(demo: Path) -> None:
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=demo, check=True)
    with (demo / "train.py").open("a") as file:
        file.write("# mine\n")
    error = run("apply", ".", "--yes", cwd=demo, code=2)["error"]
    assert error["code"] == "dirty-tree" and error["path"] == "train.py" and "--allow-dirty" in error["next"]


TRAINER = """
import wandb, probe
wandb.init(project="toy")
probe.init(name="one")
for step in range(3):
    wandb.log({"loss": float("nan"), "late": 1 / (step + 1)}, step=step)
    if step:
        probe.log({"loss": float("nan"), "late": 1.0}, step=step)
probe.finish()
wandb.finish()
"""


@pytest.mark.slow
def test_verify(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    pytest.importorskip("probe")
    (tmp_path / "train.py").write_text(TRAINER)
    document = json.loads(_verify(tmp_path, 1, "--", sys.executable, "train.py"))
    keys = {key["key"]: key for key in check(document)["runs"][0]["keys"]}
    assert not document["passed"] and keys["late"]["first_difference"] and keys["loss"]["verdict"] == "missing at Probe"
    error = check(json.loads(_verify(tmp_path, 2, "--", "no-such-command")))["error"]
    assert error["code"] == "could-not" and "can't be started" in error["message"]


def _verify(folder: Path, code: int, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "instrument", "verify", ".", "--json", "--records", "records", *arguments],
        cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout
