"""The import as a script to read, change and keep: which runs, under which names, into which project."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from instrument.imports.hosted import Hosted
from instrument.imports.model import Finished
from instrument.imports.send import Target
from instrument.plan.render import environment


def render(root: Path, runs: Sequence[Finished], found: Sequence[Hosted], target: Target, script: Path) -> str:
    """The text of the script. It holds no absolute path: the folder is named from where the script lies."""
    listed = [one for one in runs if one.state != "empty"]
    folder = _from(root.resolve(), script)
    return (
        environment()
        .get_template("import_script.py.jinja")
        .render(runs=listed, hosted=found, target=target, folder=folder, quoted=_quoted, name=script.name)
    )


def _from(root: Path, script: Path) -> str:
    return Path(os.path.relpath(root, script.resolve().parent)).as_posix()


def _quoted(text: str | None) -> str:
    """A literal in double quotes, ASCII only; "None" for none."""
    return "None" if text is None else json.dumps(text)
