"""Files that declare dependencies and environments, in random layouts: what they say stays, and Probe is added once.

`python -m tests.fuzz.declared FIRST LAST` plans and proves a small repository for each seed: a trainer with W&B and one
or more of pyproject.toml (PEP 621, Poetry, PDM, groups), requirements, environment.yml, setup.cfg, Pipfile, a `# /// script`
header, a Ray or compose YAML. Each changed file is read by the format's own parser before and after; with what speaks of
Probe taken out, both must be the same.
"""

from __future__ import annotations

import configparser
import random
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from instrument.errors import InstrumentError
from instrument.patch.diff import changes
from instrument.patch.proofs import prove
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomlkit as tomllib

_TRAINER = "import wandb\n\nwandb.init(project='p')\nfor i in range(3):\n    wandb.log({'loss': i})\n"
_OTHERS = ("torch>=2.1", "numpy", "transformers[torch] ~= 4.40", "einops==0.8.0", "tqdm!=4.0", "hydra-core<2")
_TRACKER = ("wandb", "wandb>=0.16", "wandb[media]", "wandb == 0.19.*", "Wandb")


class Layout:
    """Random choices of how one thing is written."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice

    def packages(self) -> list[str]:
        names = [*self.random.sample(_OTHERS, self.random.randint(0, 3)), self.pick(_TRACKER)]
        self.random.shuffle(names)
        return names

    def comment(self) -> str:
        return self.pick(["", "", "  # pinned", "  # wandb, see #12", " # ünïcode"])

    # -- TOML ------------------------------------------------------------------------------------------------------

    def quoted(self, text: str) -> str:
        return f"'{text}'" if self.random.random() < 0.3 else f'"{text}"'

    def array(self, items: list[str]) -> str:
        if self.random.random() < 0.3:
            gap = self.pick(["", " "])
            return "[" + gap + ", ".join(map(self.quoted, items)) + self.pick(["", ","]) + gap + "]"
        indent = self.pick(["    ", "  ", "\t", ""])
        lines = [f"{indent}{self.quoted(item)},{self.comment()}" for item in items]
        if self.random.random() < 0.3:
            lines[-1] = lines[-1].replace(",", "", 1) if "," not in items[-1] else lines[-1]
        if self.random.random() < 0.2:
            lines.insert(self.random.randrange(len(lines) + 1), f"{indent}# a comment of its own")
        return "[\n" + "\n".join(lines) + "\n]"

    def pyproject(self) -> str:
        kind = self.pick(["project", "project", "optional", "group", "poetry", "poetry-group", "pdm"])
        head = self.pick(["", "# build\n[build-system]\nrequires = ['setuptools']\n\n"])
        project = "[project]\nname = 'x'\nversion = '1'\n"
        packages = self.packages()
        if kind == "project":
            return head + project + f"dependencies{self.pick([' = ', '='])}{self.array(packages)}\n" + self._tail()
        if kind == "optional":
            return (
                head + project + f"\n[project.optional-dependencies]\ntrain = {self.array(packages)}\n" + self._tail()
            )
        if kind == "group":
            return head + project + f"\n[dependency-groups]\ntrain = {self.array(packages)}\n" + self._tail()
        if kind == "pdm":
            return head + project + f"[tool.pdm.dev-dependencies]\ntrain = {self.array(packages)}\n" + self._tail()
        table = "tool.poetry.dependencies" if kind == "poetry" else "tool.poetry.group.train.dependencies"
        lines = []
        for package in packages:
            name = re.split(r"[^\w-]", package)[0]
            value = self.pick(['"*"', '"^1.2"', '{ version = "^1", optional = true }', "'>=0.1'"])
            lines.append(f"{name}{self.pick([' = ', '='])}{value}{self.comment()}")
        base = "[tool.poetry]\nname = 'x'\nversion = '1'\n\n"
        python = 'python = ">=3.10"\n' if kind == "poetry" else ""
        return head + base + f"[{table}]\n{python}" + "\n".join(lines) + "\n" + self._tail()

    def _tail(self) -> str:
        return self.pick(["", "\n[tool.ruff]\nline-length = 100\n", "\n\n# end"])

    def pipfile(self) -> str:
        lines = [
            f"{re.split(r'[^a-zA-Z0-9_-]', p)[0]} = {self.pick(['*', '>=1'])!r}".replace("'", '"')
            for p in self.packages()
        ]
        return "[[source]]\nname = 'x'\n\n[packages]\n" + "\n".join(lines) + "\n\n[requires]\npython_version = '3.11'\n"

    def script_header(self) -> str:
        items = "".join(f"#   {self.quoted(p)},\n" for p in self.packages())
        return f"# /// script\n# requires-python = '>=3.10'\n# dependencies = [\n{items}# ]\n# ///\n" + _TRAINER

    # -- lines, INI, YAML ------------------------------------------------------------------------------------------

    def requirements(self) -> str:
        lines = [package + self.comment() for package in self.packages()]
        for extra in ("-r base.txt", "# a comment", "", "--extra-index-url x", "git+https://example.invalid/a.git"):
            if self.random.random() < 0.2:
                lines.insert(self.random.randrange(len(lines) + 1), extra)
        return "\n".join(lines) + self.pick(["\n", "", "\n\n"])

    def setup_cfg(self) -> str:
        indent = self.pick(["    ", "\t", "  "])
        lines = "".join(f"\n{indent}{package}" for package in self.packages())
        return f"[metadata]\nname = x\n\n[options]\npackages = find:\ninstall_requires ={lines}\n\n[flake8]\nmax = 1\n"

    def environment(self) -> str:
        indent = self.pick(["  ", "    "])
        pip = "".join(f"{indent}{indent}- {self.pick([p, self.quoted(p)])}{self.comment()}\n" for p in self.packages())
        return f"name: x\nchannels: [conda-forge]\ndependencies:\n{indent}- python=3.11\n{indent}- pip\n{indent}- pip:\n{pip}"

    def ray_env(self) -> str:
        value = self.pick(["${WANDB_API_KEY}", "$WANDB_API_KEY", '"{{ key }}"'])
        lines = ["env_vars:", f"  WANDB_API_KEY: {value}{self.comment()}"]
        if self.random.random() < 0.5:
            lines.append('  NCCL_DEBUG: "INFO"')
        pip = self.array(self.packages()).replace("\n", "") if self.random.random() < 0.3 else None
        block = (
            [f"pip: {pip}"]
            if pip and "#" not in pip and "\t" not in pip
            else ["pip:", *(f"  - {p!r}" for p in self.packages())]
        )
        parts = [lines, block, ["working_dir: ."]]
        self.random.shuffle(parts)
        return "\n".join(line for part in parts for line in part) + "\n"

    def compose(self) -> str:
        listed = self.random.random() < 0.5
        key = "      - WANDB_API_KEY" if listed else "      WANDB_API_KEY: ${WANDB_API_KEY}"
        other = "      - A=1" if listed else '      A: "1"'
        both = [key + self.comment(), other]
        self.random.shuffle(both)
        return (
            "services:\n  train:\n    image: x\n    environment:\n"
            + "\n".join(both)
            + "\n    command: python train.py\n"
        )


_TOML = frozenset(("pyproject.toml", "Pipfile"))
_MAKERS: dict[str, Callable[[Layout], str]] = {
    "pyproject.toml": Layout.pyproject,
    "Pipfile": Layout.pipfile,
    "main.py": Layout.script_header,
    "requirements.txt": Layout.requirements,
    "requirements/train.in": Layout.requirements,
    "setup.cfg": Layout.setup_cfg,
    "environment.yml": Layout.environment,
    "runtime_env.yaml": Layout.ray_env,
    "compose.yaml": Layout.compose,
}


def repository(seed: int) -> dict[str, bytes]:
    """The files of one repository."""
    layout = Layout(seed)
    names = layout.random.sample(sorted(_MAKERS), layout.random.randint(1, 3))
    newline = layout.pick(["\n", "\n", "\n", "\r\n"])
    texts = {"train.py": _TRAINER, **{name: _MAKERS[name](layout) for name in names}}
    return {name: text.replace("\n", newline).encode() for name, text in texts.items()}


def faults(files: dict[str, bytes], folder: Path) -> tuple[list[str], int]:
    """What is wrong with the plan for a repository, and how many of its declaring files it changes."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    try:
        repo = Repository(folder)
        plan = make_plan(repo)
        found = changes(repo, plan)
        prove(repo, plan, make_plan)
    except InstrumentError as error:
        return [f"refused: {error}"], 0
    except Exception:
        return [traceback.format_exc(limit=-4)], 0
    wrong, declared = [], 0
    for change in found:
        if change.path in files and change.path != "train.py":
            declared += 1
            before, after = meaning(change.path, files[change.path]), meaning(change.path, change.after)
            if before != after:
                wrong.append(f"{change.path}: {before!r} became {after!r}")
            if b"probe" not in change.after.lower():
                wrong.append(f"{change.path}: changed, and nothing of Probe is in it")
            if change.after.count(b"\r\n") not in (0, change.after.count(b"\n")):
                wrong.append(f"{change.path}: mixed newlines")
    return wrong, declared


def meaning(path: str, data: bytes) -> Any:
    """What a file says, by its format's own parser, without what speaks of Probe."""
    text = data.decode()
    if path in _TOML:
        return _without_probe(tomllib.loads(text))
    if path.endswith((".yml", ".yaml")):
        from ruamel.yaml import YAML

        return _without_probe(YAML(typ="safe").load(text))
    if path == "setup.cfg":
        parser = configparser.ConfigParser()
        parser.read_string(text)
        return {s: {k: _lines(v) for k, v in parser[s].items()} for s in parser.sections()}
    if path.endswith(".py"):
        header = text.replace("\r\n", "\n").split("# ///\n")[0].split("# /// script\n")[-1]
        return _without_probe(tomllib.loads(re.sub(r"(?m)^# ?", "", header)))
    return _lines(text)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines() if "probe" not in line.lower()]


def _without_probe(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_probe(v) for k, v in value.items() if "probe" not in str(k).lower()}
    if isinstance(value, list):
        return [
            _without_probe(item) for item in value if "probe" not in str(item).lower() or isinstance(item, (dict, list))
        ]
    return value


def main(first: int, last: int) -> int:
    """Do the seeds of a range and say what came of them. The exit code is 1 where there was a fault."""
    start, wrong, declared = time.perf_counter(), 0, 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory(prefix="declared-") as folder:
            found, count = faults(repository(seed), Path(folder))
        declared += count
        wrong += bool(found)
        for fault in found:
            print(f"{seed}: {fault[:600]}")
    print(
        f"{last - first} repositories, {declared} declaring files changed, {wrong} faults, {time.perf_counter() - start:.0f} s"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
