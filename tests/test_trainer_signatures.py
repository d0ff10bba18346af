"""What each `*Trainer` of the Hugging Face family takes: no call is given an argument that its class does not have.

Read from the sources, nothing is imported: of the packages that are installed, and of the wheels that are named by
`TRAINER_WHEELS=/path/a.whl:/path/b.whl pytest tests/test_trainer_signatures.py`, for versions that are not.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from instrument.patch.diff import changes
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

pytestmark = pytest.mark.framework

PACKAGES = ("transformers", "trl", "sentence_transformers", "setfit", "span_marker", "optimum", "adapters", "gliner")
WHEELS = [path for path in os.environ.get("TRAINER_WHEELS", "").split(os.pathsep) if path]
#: Hugging Face's in all but name, and TRL's base classes, which nobody builds.
NOT_BUILT = {"BaseTrainer", "_BaseTrainer", "TFTrainer"}


@dataclass(frozen=True)
class Class:
    module: str
    name: str
    bases: tuple[str, ...]
    #: The names its `__init__` takes by keyword; None where it has no `__init__`. `**` among them: any other, too.
    takes: frozenset[str] | None


def installed(package: str) -> Iterator[tuple[str, str]]:
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations if spec else None) or ():
        for path in sorted(Path(place).rglob("*rainer*/*.py")) + sorted(Path(place).rglob("*rainer*.py")):
            yield path.relative_to(Path(place).parent).as_posix(), path.read_text("utf-8", "replace")


def in_wheel(path: str) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(path) as wheel:
        for name in sorted(wheel.namelist()):
            if name.endswith(".py") and "rainer" in name:
                yield name, wheel.read(name).decode("utf-8", "replace")


def classes(files: Iterator[tuple[str, str]]) -> list[Class]:
    found = {}
    for path, text in files:
        if "Trainer(" not in text and "Trainer:" not in text:
            continue
        dotted = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Trainer") and node.name not in NOT_BUILT:
                if not node.bases and taken(node) is None:
                    continue  # what stands in where a package is missing
                bases = tuple(ast.unparse(base).rpartition(".")[2].lstrip("_") for base in node.bases)
                found[dotted, node.name] = Class(dotted, node.name, bases, taken(node))
    return list(found.values())


def taken(node: ast.ClassDef) -> frozenset[str] | None:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            given = item.args
            names = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            return frozenset(names | ({"**"} if given.kwarg else set()))
    return None


def takes(one: Class, others: list[Class], argument: str, depth: int = 5) -> bool:
    if one.takes is not None and "**" not in one.takes:
        return argument in one.takes
    if one.takes is not None and argument in one.takes:
        return True
    for base in one.bases:
        if base in ("Trainer", "BaseTrainer", "TransformersTrainer", "Seq2SeqTrainer") and one.name != "Trainer":
            return True  # transformers' own takes it since 4.0
        near = [other for other in others if other.name == base and other is not one]
        if near and depth:
            return all(takes(other, others, argument, depth - 1) for other in near)
    return "Trainer" in one.bases


@pytest.mark.parametrize("package", [*PACKAGES, *WHEELS])
def test_no_trainer_is_given_what_it_does_not_take(tmp_path: Path, package: str) -> None:
    found = classes(in_wheel(package) if package in WHEELS else installed(package))
    if not found:
        pytest.skip(f"{package} is not installed")
    for number, one in enumerate(found):
        text = f"from {one.module} import {one.name}\n\n\ndef build(given):\n    made = {one.name}(model=given)\n"
        if one.name == "PPOTrainer" and not takes(one, found, "callbacks"):
            text += "    made.step(queries, answers, scores)\n"  # TRL's of up to 0.11 is told by how it is used
        (tmp_path / f"build_{number}.py").write_text(text)
    repo = Repository(tmp_path)
    after = {change.path: change.after.decode() for change in changes(repo, make_plan(repo))}
    passed = {
        one.name: takes(one, found, "callbacks")
        for number, one in enumerate(found)
        if "callbacks=" in after.get(f"build_{number}.py", "")
    }
    wrong = sorted(name for name, right in passed.items() if not right)
    assert not wrong
    if package in ("transformers", "trl"):
        assert passed
