"""Saving a plan and reading it back, also when somebody else wrote it and means no good."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from instrument.errors import ConflictError, InstrumentError
from instrument.patch import planfile
from instrument.patch.diff import changes
from instrument.patch.planfile import load, save
from instrument.plan.edits import Edit, NewFile
from instrument.plan.model import Note, Plan, Site
from instrument.repo.processes import Emitter, Start
from instrument.repo.scan import Repository

SCHEMA = json.loads((Path(__file__).parent.parent / "docs/plan.schema.json").read_text("utf-8"))


def plan() -> Plan:
    made = Plan(root="/somewhere/else", files_seen=12, files_parsed=3, seconds=1.5)
    made.edits = [
        Edit(path="train.py", start=6, end=6, text="s = f()\n", reason="b", rule="wandb", group="g"),
        Edit(path="train.py", start=13, end=16, text="s", reason="c", rule="wandb", group="g", moved=True),
        Edit(path="pkg/é.py", start=0, end=0, text="import probe\n", reason="a", rule="wandb", applicability="review"),
        Edit(path="train.py", start=6, end=6, text="second\n", reason="b", rule="wandb"),
    ]
    made.new_files = [
        NewFile(path="probe_tracking.py", text="x = '\u2028'\n", reason="r", rule="wandb"),
        NewFile(path="again.py", text="b\n", reason="r", rule="wandb", replaces="a\n"),
    ]
    made.sites = [
        Site(
            rule="wandb",
            kind="emit",
            path="train.py",
            line=2,
            what="wandb.log",
            strategy="alongside",
            outcome="covered",
        ),
        Site(rule="miles", kind="open", path="pkg/é.py", line=1, what="init", process="Ray actor", why="because"),
    ]
    made.notes = [
        Note(level="question", code="which-run", message="Which?", path="train.py", line=2, next="instrument apply"),
        Note(level="info", code="seen", message="12 files"),
    ]
    started = Start(path="run.sh", line=3, how="torchrun")
    emitter = Emitter(path="train.py", line=2, what="wandb.log", rule="wandb", coverage="covered")
    made.processes.add("slurm", "run.sh", "slurm run.sh")
    made.processes.add("rank", "train.py", "train.py", started).emitters.append(emitter)
    made.processes.link(made.processes.processes["slurm run.sh"], made.processes.processes["train.py"])
    made.shapes = {"wandb": "", "miles": "registry in tracking.py"}
    made.passed_over = [("register", "no registry"), ("alongside", "x")]
    return made


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "train.py").write_bytes(b"a = 1\nlog(1, f())\n")
    (tmp_path / "pkg/é.py").write_bytes(b"b = 1\n")
    (tmp_path / "again.py").write_bytes(b"a\n")
    return Repository(tmp_path)


@pytest.fixture
def document(repo: Repository) -> Any:
    return json.loads(save(plan(), repo))


def test_what_is_saved_comes_back(repo: Repository) -> None:
    saved = save(plan(), repo)
    made = load(saved, repo)
    assert save(made, repo) == saved
    assert sorted(made.edits, key=repr) == sorted(plan().edits, key=repr)
    assert [e.text for e in made.edits if e.start == 6] == ["s = f()\n", "second\n"], (
        "insertions at one place keep order"
    )
    assert sorted(made.new_files, key=repr) == sorted(plan().new_files, key=repr)
    assert sorted(made.notes, key=repr) == sorted(plan().notes, key=repr)
    assert made.processes == plan().processes
    assert (made.shapes, made.passed_over) == (plan().shapes, plan().passed_over)
    assert (made.files_seen, made.files_parsed, made.seconds) == (12, 3, 0.0)
    assert made.root == str(repo.root)
    assert changes(repo, made) == changes(repo, plan())
    site = made.sites[1]
    assert (site.rule, site.kind, site.line, site.outcome, site.strategy) == (
        "wandb",
        "emit",
        2,
        "covered",
        "alongside",
    )


def test_the_document_is_of_its_schema_and_says_what_a_reader_wants(repo: Repository, document: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA)
    jsonschema.validate(json.loads(save(Plan(root="."), repo)), SCHEMA)
    assert document["files"] == {path: repo.source(path).sha256 for path in ("pkg/é.py", "train.py")}
    assert [(e["path"], e["line"], e["replaces"]) for e in document["edits"]] == [
        ("pkg/é.py", 1, ""),
        ("train.py", 2, ""),
        ("train.py", 2, ""),
        ("train.py", 2, "f()"),
    ]


def test_the_same_plan_gives_the_same_bytes_wherever_it_is_made(repo: Repository) -> None:
    saved = save(plan(), repo)
    other = plan()
    other.root, other.seconds, other.hashes = "/elsewhere", 99.0, {}
    for items in (other.sites, other.notes, other.new_files):
        items.reverse()
    other.edits = [other.edits[i] for i in (2, 0, 3, 1)]
    other.shapes = dict(reversed(other.shapes.items()))
    assert save(other, repo) == saved
    assert b"/somewhere" not in saved and str(repo.root).encode() not in saved and b"1.5" not in saved
    assert saved.endswith(b"}\n") and "é".encode() in saved


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        (tmp_path / name).write_bytes(b"a = 1\n")
    except OSError:
        pytest.skip("this file system has no such names")
    repo = Repository(tmp_path)
    made = Plan(root=".", edits=[Edit(path=name, start=0, end=0, text="x\n", reason="r", rule="t")])
    saved = save(made, repo)
    assert saved.decode("utf-8").isascii()
    assert load(saved, repo).edits == made.edits


def test_a_source_that_changed_is_seen_when_the_plan_is_rendered(repo: Repository) -> None:
    made = load(save(plan(), repo), repo)
    (repo.root / "train.py").write_bytes(b"a = 2\nlog(1, f())\n")
    with pytest.raises(ConflictError, match=r"train\.py: changed since it was planned"):
        changes(Repository(repo.root), made)


Change = Callable[[Any], object]


def put(key: str, value: object, *way: str | int) -> Change:
    def change(document: Any) -> None:
        for step in way:
            document = document[step]
        document[key] = value

    return change


def drop(key: str, *way: str | int) -> Change:
    def change(document: Any) -> None:
        for step in way:
            document = document[step]
        del document[key]

    return change


EDIT = ("edits", 1)
#: change, what the error says, whether the schema refuses it as well
BAD: dict[str, tuple[Change, str, bool]] = {
    "another form": (put("schema", "instrument.plan/2"), "not of the form", True),
    "no form": (drop("schema"), "not of the form", True),
    "a form that is none": (put("schema", ["instrument.plan/1"]), "not of the form", True),
    "an unknown key": (put("more", 1), "no `more`", True),
    "an unknown key of an edit": (put("more", 1, *EDIT), "`edits` 2: there is no `more`", True),
    "an unknown key of a site": (put("node", "x", "sites", 0), "`sites` 1: there is no `node`", True),
    "an unknown key of a reason": (put("x", "x", "passed_over", 0), "`passed_over` 1: there is no `x`", True),
    "a missing list": (drop("edits"), "`edits` is missing", True),
    "a missing key": (drop("reason", *EDIT), "`edits` 2: `reason` is missing", True),
    "edits that are none": (put("edits", {}), "`edits` is no list", True),
    "an edit that is none": (put("edits", [3]), "`edits` 1 is no object", True),
    "shapes that are none": (put("shapes", []), "`shapes` is no object", True),
    "a shape that is none": (put("wandb", 1, "shapes"), "`wandb` is no text", True),
    "a text that is a number": (put("text", 3, *EDIT), "`text` is no text", True),
    "a text that is null": (put("reason", None, *EDIT), "`reason` is no text", True),
    "a start that is a text": (put("start", "6", *EDIT), "`start` is no whole number", True),
    "a start that is true": (put("start", True, *EDIT), "`start` is no whole number", True),
    "a start that is no whole number": (put("start", 6.5, *EDIT), "`start` is no whole number", True),
    "a negative start": (put("start", -1, *EDIT), "`start` is no whole number", True),
    "a huge start": (put("start", 10**30, *EDIT), "`start` is no whole number", True),
    "an end before its start": (put("end", 2, *EDIT), "`end` lies before `start`", False),
    "a moved that is a number": (put("moved", 0, *EDIT), "neither true nor false", True),
    "an unknown applicability": (put("applicability", "always", *EDIT), "none of safe, review", True),
    "an unknown strategy": (put("strategy", "pray", "passed_over", 0), "none of register", True),
    "an unknown kind": (put("kind", "x", "sites", 0), "none of open", True),
    "an unknown outcome": (put("outcome", "x", "sites", 0), "none of found", True),
    "a site's strategy": (put("strategy", "x", "sites", 0), "none of register", True),
    "an unknown level": (put("level", "x", "notes", 0), "none of question", True),
    "line nought": (put("line", 0, "sites", 0), "`line` is no whole number from 1", True),
    "a note's path": (put("path", "../x", "notes", 1), "no path inside", True),
    "an edit above": (put("path", "../train.py", *EDIT), "«../train.py» is no path inside the repository", True),
    "an edit in between": (put("path", "a/../../train.py", *EDIT), "no path inside", True),
    "an absolute path": (put("path", "/etc/passwd", *EDIT), "no path inside", True),
    "a dot": (put("path", "./train.py", *EDIT), "no path inside", True),
    "two slashes": (put("path", "pkg//x.py", *EDIT), "no path inside", True),
    "a folder": (put("path", "pkg/", *EDIT), "no path inside", True),
    "no path": (put("path", "", *EDIT), "no path inside", True),
    "a null character": (put("path", "a\0b", *EDIT), "no path inside", True),
    "a hook": (put("path", ".git/hooks/pre-commit", "new_files", 0), "nothing is ever written", True),
    "git in other letters": (put("path", "a/.GIT/config", "new_files", 0), "nothing is ever written", True),
    "our journal": (put("path", ".instrument/x", "new_files", 0), "nothing is ever written", True),
    "a new file above": (put("path", "../../.bashrc", "new_files", 0), "no path inside", True),
    "a hash that is none": (put("train.py", "abc", "files"), "`train.py` is no sha256", True),
    "a hash too many": (put("other.py", "0" * 64, "files"), "other.py: .* does not edit", False),
    "a hash of a path above": (put("../x", "0" * 64, "files"), "no path inside", True),
    "a hash too few": (drop("train.py", "files"), "train.py: .* has no hash", False),
    "an overlap": (put("start", 5, "edits", 3), "same text", False),
    "created and edited": (put("path", "train.py", "new_files", 0), "train.py: .* both creates and edits", False),
    "created twice": (put("path", "again.py", "new_files", 1), "creates it twice", False),
    "a count": (put("files_seen", "many"), "`files_seen` is no whole number", True),
}


@pytest.mark.parametrize("name", BAD)
def test_a_document_that_is_wrong_is_refused_with_what_is_wrong(repo: Repository, document: Any, name: str) -> None:
    change, message, by_schema = BAD[name]
    document = copy.deepcopy(document)
    if name == "an overlap":
        document["edits"][2].update(start=5, end=7)
    else:
        change(document)
    with pytest.raises(InstrumentError, match=message):
        load(json.dumps(document).encode(), repo)
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(document) is not by_schema


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"{", "no JSON"),
        (b"[" * 200_000, "no JSON"),
        (b'{"a": ' * 100_000, "no JSON"),
        (b'{"schema": 1, "schema": 2}', "`schema` is there twice"),
        (b'{"schema": NaN}', "NaN is no number"),
        (b'{"schema": -Infinity}', "Infinity is no number"),
        (b'{"files_seen": ' + b"9" * 6000 + b"}", "no JSON|not of the form"),
        (b"[]", "the plan is no object"),
        (b"null", "the plan is no object"),
        (b'"instrument.plan/1"', "the plan is no object"),
    ],
    ids=range(12),
)
def test_bytes_that_are_no_plan(repo: Repository, data: bytes, message: str) -> None:
    with pytest.raises(InstrumentError, match=message):
        load(data, repo)


def test_a_document_that_is_too_large(repo: Repository, document: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planfile, "MAX_ENTRIES", 3)
    with pytest.raises(InstrumentError, match="`edits` has more than 3 entries"):
        load(json.dumps(document).encode(), repo)
    monkeypatch.setattr(planfile, "MAX_BYTES", 10)
    with pytest.raises(InstrumentError, match="larger than"):
        load(json.dumps(document).encode(), repo)


def test_a_span_outside_the_file_is_refused_when_it_is_rendered(repo: Repository, document: Any) -> None:
    document["edits"][3].update(start=500, end=600)
    made = load(json.dumps(document).encode(), repo)
    with pytest.raises(InstrumentError, match=r"train\.py: an edit lies outside the file"):
        changes(repo, made)
