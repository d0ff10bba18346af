"""W&B projects that a repository names in code, configuration or launch scripts. Nothing asks W&B about them here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from instrument.imports.find import files

_SUFFIXES = frozenset(
    (".py", ".ipynb", ".yaml", ".yml", ".toml", ".json", ".sh", ".sbatch", ".slurm", ".env", ".cfg", ".ini")
)
_NAME = r"""["']?([A-Za-z0-9][\w.-]*)["']?"""
#: `wandb.init(project="p", entity="e")`, `WandbLogger(project="p")`
_CALL = re.compile(r"""\b(?:wandb\.init|WandbLogger|WandbLoggerCallback)\(((?:[^()]|\([^()]*\))*)\)""")
_KEYWORD = re.compile(r"""\b(project|entity)\s*=\s*["']([\w.-]+)["']""")
#: `WANDB_PROJECT=p`, `wandb_project: p`, `--wandb-project p`, `os.environ["WANDB_PROJECT"] = "p"`
_SETTING = re.compile(
    rf"""(?i:\bWANDB_(PROJECT|ENTITY)|--wandb[_-](project|entity)|\bwandb_(project|entity))(?:["']\]?)?\s*[=:\s]\s*{_NAME}"""
)
_LARGEST = 2_000_000


@dataclass(slots=True)
class Hosted:
    """A project at W&B."""

    project: str
    entity: str | None = None
    #: "file:line" of each place that names it.
    at: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.entity or 'ENTITY'}/{self.project}"


def projects(root: Path) -> list[Hosted]:
    """The projects that files below a folder name, in the order they are found."""
    root = root.resolve()
    base = root if root.is_dir() else root.parent
    found: dict[tuple[str, str | None], Hosted] = {}
    for path in files(root):
        if path.suffix not in _SUFFIXES and not path.name.startswith(("Dockerfile", "Makefile")):
            continue
        if "wandb" in path.relative_to(base).parts[:-1]:
            continue  # what W&B itself wrote into its run folders
        try:
            if path.stat().st_size > _LARGEST:
                continue
            text = path.read_text("utf-8")
        except (OSError, ValueError):
            continue
        if "wandb" not in text.lower():
            continue
        for project, entity, offset in _in(text):
            one = found.setdefault((project, entity), Hosted(project, entity))
            place = f"{path.relative_to(base).as_posix()}:{text.count(chr(10), 0, offset) + 1}"
            if place not in one.at:
                one.at.append(place)
    return list(found.values())


def _in(text: str) -> list[tuple[str, str | None, int]]:
    said: list[tuple[str, str | None, int]] = []
    for call in _CALL.finditer(text):
        given = dict(_KEYWORD.findall(call[1]))
        if "project" in given:
            said.append((given["project"], given.get("entity"), call.start()))
    entity, named = None, []
    for match in _SETTING.finditer(text):
        what = next(group for group in match.groups()[:3] if group).lower()
        value = match[4]
        if value.lower() in ("null", "none", "true", "false", "str", "default", "type", "optional"):
            continue
        if what == "entity":
            entity = entity or value
        else:
            named.append((value, match.start()))
    said += [(project, entity, offset) for project, offset in named]
    return said
