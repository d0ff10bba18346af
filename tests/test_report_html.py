"""The page of `instrument diff --html`: one file, safe against what the target is called and holds."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from instrument.patch.diff import FileChange
from instrument.report.html import side_by_side
from tests import cases

HOSTILE = "</script><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def page(folder: Path) -> Tags:
    target = folder.parent / "page.html"
    code, said = cases.instrument("diff", str(folder), "--html", str(target), "--patch", f"{target}.patch", "--quiet")
    assert code == 0, said
    parser = Tags()
    parser.feed(target.read_text("utf-8"))
    return parser


def test_it_tells_processes_edits_reasons_and_what_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "train.py").write_text(
        "import ray\nimport wandb\n\n\n@ray.remote\nclass Learner:\n    def __init__(self):\n        wandb.init(project='p')\n\n"
        "    def update(self, step):\n        wandb.log({'loss': 1.0}, step=step)\n\n\n"
        "if __name__ == '__main__':\n    ray.init()\n    learner = Learner.remote()\n    ray.get(learner.update.remote(0))\n"
    )
    found = page(folder)
    for words in (
        "Ray actor",
        "train.py:11",
        "recorded",
        "probe.log({'loss': 1.0}, step=step)",
        "Strategies passed over",
    ):
        assert words in found.text, words


def test_names_and_code_of_the_target_are_text(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    name = "train <b>\x1b[31m.py"
    (folder / name).write_text(f"import wandb\nwandb.init()\nx = '{HOSTILE}\\x1b'  # \x1b[31m\nwandb.log({{'a': x}})\n")
    found = page(folder)
    assert not {"script", "img", "b\x1b[31m.py"} & set(found.tags)
    assert not [a for a, _ in found.attributes if a.startswith("on") or a in ("src", "href")]
    assert HOSTILE in found.text and "\x1b" not in found.text


def test_nothing_to_do(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "a.py").write_text("print('hello')\n")
    assert "Nothing to do." in page(tmp_path / "r").text


def test_lines_that_are_replaced_stand_beside_those_that_replace_them() -> None:
    before, after = b"a\nb\nc\nd\n", b"a\nB\nB2\nc\nd\n"
    rows = [(row.kind, row.old, row.new) for row in side_by_side(FileChange(path="x", before=before, after=after))]
    assert rows[1:4] == [
        ("same", (1, "a"), (1, "a")), ("changed", (2, "b"), (2, "B")), ("changed", None, (3, "B2")),
    ]  # fmt: skip


def test_the_page_is_written_where_it_was_asked_or_the_error_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import wandb\nwandb.init()\n")
    done = subprocess.run(
        [sys.executable, "-m", "instrument", "diff", str(tmp_path), "--html", str(tmp_path / "no" / "page.html"), "-q"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "page.html" in done.stderr and "Traceback" not in done.stderr
