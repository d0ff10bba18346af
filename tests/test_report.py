"""The reports: what they say, and that nothing from a hostile repository can do more than be shown."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from instrument.errors import InstrumentError
from instrument.plan.edits import Edit, NewFile
from instrument.plan.model import Note, Plan, Site
from instrument.repo.scan import Repository
from instrument.report import json as json_report
from instrument.report import markdown, sarif, terminal
from instrument.report.summary import Summary
from instrument.report.text import shortened, shown

CODE = "import wandb\nwandb.init()\nwandb.log({'a': 1})\n"
#: A path with an escape sequence, a newline, HTML, a backtick, a pipe and a right-to-left override.
HOSTILE = "a\x1b[2Jb\n::error::<img src=x>`|\u202e[bold].py"


def _plan(root: Path, path: str = "train.py", **changes: object) -> Summary:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(CODE)
    repo = Repository(root)
    plan = Plan(
        root=str(root),
        shapes={"wandb": "a form"},
        edits=[
            Edit(path=path, start=13, end=13, text="import probe\n", reason="import Probe", rule="wandb"),
            Edit(
                path=path, start=26, end=26, text="probe.init()\n", reason="open a run", rule="wandb",
                applicability="review",
            ),
        ],
        new_files=[NewFile(path="probe_tracking.py", text="x = 1\ny = 2\n", reason="the guards", rule="module")],
        sites=[
            Site(rule="wandb", kind="open", path=path, line=2, what="wandb.init", outcome="covered"),
            Site(
                rule="wandb", kind="emit", path=path, line=3, what="wandb.log", outcome="refused",
                why="no step is known",
            ),
        ],
        notes=[
            Note(level="question", code="guard-off", message="is it on?", path=path, line=2, next="--guard own"),
            Note(level="info", code="skipped-vendored", message="not touched", path="third_party/x.py"),
        ],
        passed_over=[("register", "there is no registry here")],
        files_seen=3,
        files_parsed=1,
    )  # fmt: skip
    for name, value in changes.items():
        setattr(plan, name, value)
    return Summary(plan, repo)


def _terminal(summary: Summary, *, width: int | None = None, verbose: bool = False, applied: bool = False) -> str:
    stream = io.StringIO()
    if width:
        stream.isatty = lambda: True  # type: ignore[method-assign]
    screen = terminal.Screen(stream, color="never")
    if width:
        screen.console.width = width
    terminal.write_plan(screen, summary, verbose=verbose, applied=applied)
    return stream.getvalue()


def test_terminal_says_everything_a_person_must_know(tmp_path: Path) -> None:
    text = _terminal(_plan(tmp_path))
    for part in (
        "a form", "train.py", "2 edits", "review", "new, 2 lines", "1 recorded by Probe with this change",
        "1 can't be done safely",
        "train.py:3 wandb.log", "no step is known", "train.py:2: is it on? [guard-off]", "--guard own",
        "register: there is no registry here", "third_party/x.py (vendored", "instrument apply",
    ):  # fmt: skip
        assert part in text, part


def test_terminal_verbose_gives_each_edit_its_line_and_reason(tmp_path: Path) -> None:
    text = _terminal(_plan(tmp_path), verbose=True)
    assert "2: import Probe (wandb)" in text
    assert "3: open a run (wandb) [review]" in text


def test_after_apply_the_next_steps_are_verify_token_and_undo(tmp_path: Path) -> None:
    text = _terminal(_plan(tmp_path), applied=True)
    assert "Changed 2 files" in text
    for step in ("instrument verify", "PROBE_TOKEN", "instrument undo"):
        assert step in text
    assert "instrument apply" not in text


def test_done_before_and_nothing_found_are_told_apart(tmp_path: Path) -> None:
    site = Site(rule="wandb", kind="emit", path="train.py", line=3, what="wandb.log", outcome="already")
    done = _plan(tmp_path, edits=[], new_files=[], sites=[site], notes=[])
    assert "already instrumented, nothing to do" in _terminal(done)
    nothing = _plan(tmp_path, edits=[], new_files=[], sites=[], notes=[], shapes={})
    text = _terminal(nothing)
    assert "nothing to do" in text and "already" not in text and "no trainer or tracker" in text


def test_refused_is_not_clean(tmp_path: Path) -> None:
    assert _plan(tmp_path, edits=[], new_files=[]).blocked
    assert not _plan(tmp_path).blocked
    assert not _plan(tmp_path, edits=[], new_files=[], sites=[], notes=[]).blocked


@pytest.mark.parametrize("width", [60, 80, 200])
def test_terminal_keeps_to_the_width_but_never_breaks_a_path(tmp_path: Path, width: int) -> None:
    long = "packages/training/" + "very_long_name_" * 4 + "train.py"
    note = Note(level="warning", code="long", message="words " * 60, path=long, line=3)
    text = _terminal(_plan(tmp_path, path=long, notes=[note]), width=width)
    assert f"{long}:3:" in text
    assert all(len(line) <= width for line in text.split("\n") if long not in line and str(tmp_path) not in line)


def test_piped_output_is_not_wrapped(tmp_path: Path) -> None:
    note = Note(level="warning", code="long", message="words " * 60)
    assert "words " * 59 + "words" in _terminal(_plan(tmp_path, notes=[note]))


def test_many_skipped_files_are_told_by_folder(tmp_path: Path) -> None:
    notes = [
        Note(level="info", code="skipped-vendored", message="", path=f"lib/third_party/pkg/m{i}.py") for i in range(30)
    ]
    summary = _plan(tmp_path, notes=notes)
    assert "lib/third_party/ (30 vendored or installed code)" in _terminal(summary)
    assert "lib/third_party/pkg/m29.py" in _terminal(summary, verbose=True)


def _hostile(root: Path) -> Summary:
    note = Note(level="refusal", code="odd", message=HOSTILE, path=HOSTILE, line=1, next=HOSTILE)
    site = Site(rule="wandb", kind="emit", path=HOSTILE, line=1, what=HOSTILE, outcome="refused", why=HOSTILE)
    summary = _plan(
        root, notes=[note, Note(level="info", code="skipped-tests", message="", path=HOSTILE)], sites=[site]
    )
    summary.plan.shapes = {HOSTILE: HOSTILE}
    (root / "ok.py").write_text(CODE)
    summary.plan.edits = [Edit(path="ok.py", start=0, end=0, text=HOSTILE, reason=HOSTILE, rule=HOSTILE)]
    summary.plan.new_files = [NewFile(path=HOSTILE, text=HOSTILE, reason=HOSTILE, rule=HOSTILE)]
    return summary


def test_a_hostile_repository_can_only_be_shown(tmp_path: Path) -> None:
    summary = _hostile(tmp_path)
    patch = f"+{HOSTILE}\n+```\n".encode()
    outputs = {
        "terminal": _terminal(summary, verbose=True),
        "markdown": markdown.page(summary, patch),
        "json": json.dumps(json_report.document("diff", "found", summary)),
        "sarif": sarif.log(summary).decode(),
        "github": "\n".join(sarif.annotations_of(summary)),
    }
    for name, text in outputs.items():
        assert "\x1b" not in text, name
        assert "\u202e" not in text, name
    assert not any(line.startswith("::error::") for line in outputs["github"].split("\n"))
    assert not any(line.startswith("::error::") for line in outputs["terminal"].split("\n"))
    prose = outputs["markdown"].split("````diff")[0]
    assert "<img" not in prose.replace("`", "").replace("&lt;img", "") or "`" in prose
    assert "[bold]" in outputs["terminal"]  # never taken as markup


def test_patch_for_reading_is_escaped_line_by_line() -> None:
    stream = io.StringIO()
    terminal.Screen(stream, color="never").patch(b"+a\x1b[31m\tb\r\n-[red]c\xff\n")
    assert [line.expandtabs() for line in stream.getvalue().split("\n")] == ["+a\\x1b[31m      b", "-[red]c\\xff", ""]


def test_colour_only_where_it_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def output(color: terminal.Color) -> str:
        stream = io.StringIO()
        terminal.write_plan(terminal.Screen(stream, color=color), _plan(tmp_path))
        return stream.getvalue()

    assert "\x1b[" not in output("auto")
    assert "\x1b[" in output("always")
    assert "\x1b[" not in output("never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in output("auto")


def test_json_is_stable_and_complete(tmp_path: Path) -> None:
    one = json_report.document("detect", "found", _plan(tmp_path), whole=True)
    two = json_report.document("detect", "found", _plan(tmp_path), whole=True)
    assert json.dumps(one) == json.dumps(two)
    assert one["schema"] == "instrument.report/1" and one["plan"]["schema"] == "instrument.plan/1"
    assert [edit["line"] for edit in one["plan"]["edits"]] == [2, 3]
    assert one["left_alone"] == [{"path": "third_party/x.py", "kind": "vendored", "files": 1}]
    assert [note["code"] for note in one["notes"]] == ["guard-off"]
    assert one["counts"] == {"covered": 1, "refused": 1} and one["places"][1]["at"] == ["train.py:3"]


def test_json_is_a_digest_unless_the_plan_is_asked_for(tmp_path: Path) -> None:
    place = Site(rule="wandb", kind="emit", path="train.py", line=3, what="wandb.log", outcome="covered")
    few, many = (json_report.document("detect", "found", _plan(tmp_path, sites=[place] * n)) for n in (10, 1000))
    assert "plan" not in many and [group["count"] for group in many["places"]] == [1000]
    assert len(json.dumps(many)) - len(json.dumps(few)) < 10


def test_sarif_has_the_edit_as_a_fix(tmp_path: Path) -> None:
    run = json.loads(sarif.log(_plan(tmp_path)))["runs"][0]
    missing = [result for result in run["results"] if result["ruleId"] == "not-recorded"]
    assert len(missing) == 1
    replacements = missing[0]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacements[0]["deletedRegion"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 1}
    assert replacements[0]["insertedContent"]["text"] == "import probe\n"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= {"not-recorded", "guard-off"}
    assert all(result["level"] in ("none", "note", "warning", "error") for result in run["results"])


def test_github_annotations_name_file_and_line(tmp_path: Path) -> None:
    lines = sarif.annotations_of(_plan(tmp_path))
    assert lines[0].startswith("::warning file=train.py,line=2,title=probe-instrument::import Probe; open a run")
    assert any(line.startswith("::notice file=train.py,line=2") for line in lines)


def test_markdown_lists_every_edit_with_its_reason(tmp_path: Path) -> None:
    text = markdown.page(_plan(tmp_path), b"--- a\n+++ b\n+```\n")
    assert "| `train.py` | 2 | import Probe |" in text
    assert "| `train.py` | 3 | open a run | yes |" in text
    assert "- `third_party/x.py` (vendored or installed code)" in text
    assert "````diff" in text  # a fence longer than any in the patch


def test_an_error_says_where_and_what_to_do() -> None:
    stream = io.StringIO()
    error = InstrumentError("does not parse: oops", path="a\x1b.py", line=3, hint="fix it")
    terminal.Screen(stream, color="never").error(error)
    assert stream.getvalue() == "instrument: a\\x1b.py:3: does not parse: oops\n  fix it\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é", "plain é"),
        ("a\nb\tc\x00\x7f\x9b", "a\\nb\\tc\\x00\\x7f\\x9b"),
        ("\u202e\u2066\u200b\u2028\ufeff", "\\u202e\\u2066\\u200b\\u2028\\ufeff"),
        ("\udcff\ud800", "\\xff\\ud800"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_shown(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_shortened() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcdefgh", 5) == "ab…gh"
    assert all(len(shortened("x" * 50, width)) == width for width in range(3, 50))
