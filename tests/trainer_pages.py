"""The diffs in `docs/`: below each line `<!-- change: PATH -->` stands what the tool does to that file or folder today.

`python -m tests.trainer_pages` writes them anew.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from instrument.patch.diff import changes, patch
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

ROOT = Path(__file__).resolve().parent.parent
_MARK = re.compile(r"(<!-- change: (\S+) -->\n)(?:\n```diff\n.*?\n```\n)?", re.S)


def pages() -> list[Path]:
    """The pages with such a line."""
    return sorted(path for path in (ROOT / "docs").rglob("*.md") if "<!-- change: " in path.read_text("utf-8"))


def rendered(text: str) -> str:
    """A page with its diffs as they are today."""
    return _MARK.sub(lambda found: f"{found[1]}\n```diff\n{change(found[2])}\n```\n", text)


def change(path: str) -> str:
    """What the tool changes in a file or folder of this repository, without the module that it adds."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = ROOT / path, Path(folder, "repo")
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            target.mkdir()
            shutil.copy(source, target)
        repo = Repository(target)
        edited = [one for one in changes(repo, make_plan(repo)) if one.before is not None]
        lines = patch(edited).decode().splitlines()
    return "\n".join(line for line in lines if not line.startswith(("diff --git", "index ")))


def main() -> None:
    """Write every page anew."""
    for path in pages():
        path.write_text(rendered(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
