"""The process map: which interpreter each emitting place runs in, and what starts it (evidence; edits nothing).

Runs after all other rules, on what they found. Launchers that name a file or module of this repository: python,
torchrun, accelerate launch, deepspeed, ray job submit, srun/sbatch, docker, modal run in shell text; Dockerfile CMD,
compose, Kubernetes, SkyPilot; subprocess, os.system and Ray's JobSubmissionClient in Python.
"""

from __future__ import annotations

import ast
import posixpath
import re
from typing import TYPE_CHECKING

from instrument.errors import SourceError
from instrument.launch._common import readable, scripts
from instrument.launch._job_environment import assignments
from instrument.launch._make import is_makefile, recipes
from instrument.launch._ray_job import is_submission
from instrument.launch._shell import EXPANSION, Command, read_script
from instrument.plan.process_map import LAUNCHING, map_python
from instrument.plan.rules import Rule
from instrument.repo.processes import Process, ProcessKind, ProcessMap, Start

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module

#: Words that make ranks of what follows.
_RANKS = frozenset(("torchrun", "deepspeed", "torch.distributed.run", "torch.distributed.launch", "horovodrun"))
_PYTHON = re.compile(r"python[\d.]*|uv|pythonw")
_SLURM = re.compile(r"^#SBATCH\b", re.MULTILINE)
_OF_OS = frozenset(("system", "execvp", "execv"))
_STARTING = frozenset(("run", "Popen", "call", "check_call", "check_output", "system", "submit_job", "execvp", "execv"))
#: A command in a container or task file: the words up to a file or module.
_IN_TEXT = re.compile(
    r"\b(torchrun|deepspeed|accelerate[\s\",]+launch|python[\d.]*)\b([^\n#;|&]{0,200}?)([\w./-]+\.py|-m[\s\",']+[\w.]+)"
)
#: How many launchers are looked at: the map is evidence, it must not cost what the plan costs.
_MAX_SCRIPTS = 150


def plan(ctx: Context) -> None:
    """Fill `plan.processes`."""
    found = map_python(ctx)
    if found:
        files = {id: process for id, process in found.processes.items() if process.id == process.name}
        _Launchers(ctx, found, files).look()
    found.keep_emitting()
    found.settle()
    ctx.plan.processes = found


class _Launchers:
    """Joins what starts a file to the process that runs it."""

    def __init__(self, ctx: Context, found: ProcessMap, files: dict[str, Process]) -> None:
        self.ctx, self.map, self.files = ctx, found, files
        self.modules = {
            path.removesuffix(".py").removesuffix("/__main__").removeprefix("src/").replace("/", "."): path
            for path in files
        }
        self.names = {
            name.encode()
            for path in files
            if path.endswith(".py")
            for name in (posixpath.basename(path), path.removesuffix(".py").rpartition("/")[2])
            if name not in ("__init__", "__main__", "__init__.py", "__main__.py", "main", "train")
        } | {b"train.py", b"main.py", b".train", b".main", b"__main__"}
        self.names |= {  # Modal's functions are started by their file
            posixpath.basename(process.id.removeprefix("modal ").rpartition(":")[0]).encode()
            for process in found.processes.values()
            if process.kind == "modal"
        }

    def look(self) -> None:
        seen = 0
        for path in self.ctx.repo.having(*LAUNCHING):
            if seen >= _MAX_SCRIPTS:
                break
            data = self.ctx.repo.read(path)
            if not any(name in data for name in self.names):
                continue
            base = posixpath.basename(path)
            if path.endswith((".py", ".ipynb")):
                self._python(path, data)
            elif base.startswith(("Dockerfile", "Containerfile")) or base.endswith((".Dockerfile", ".dockerfile")):
                seen += self._text(path, "container")
            elif path.endswith((".yaml", ".yml")):
                seen += self._text(path, _yaml_kind(base, data))
        texts = [(path, script) for path, script in scripts(self.ctx, *LAUNCHING)]
        for path in self.ctx.repo.having(*LAUNCHING):
            source = readable(self.ctx, path) if is_makefile(path) else None
            if source is not None:
                texts.append((path, read_script(recipes(source.text))))
        for path, script in texts[:_MAX_SCRIPTS]:
            if any(name in self.ctx.repo.read(path) for name in self.names):
                slurm = bool(_SLURM.search(script.text))
                for command in script.commands:
                    self._command(path, command, slurm)

    # -- shell text --------------------------------------------------------------------------------------------------

    def _command(self, path: str, command: Command, slurm: bool) -> None:
        values = command.values
        if not values or command.name in ("echo", "printf", "cat", "grep", "git", "pip", "pip3"):
            return
        if values[0].rsplit("/", 1)[-1] == "modal":
            self._modal(path, command)
        target = self._target(path, values)
        if target is None:
            return
        line = self.ctx.repo.source(path).line_of(command.start)
        bases = [value.rsplit("/", 1)[-1] for value in values]
        outer: list[tuple[ProcessKind, str]] = []
        if slurm or bases[0] in ("srun", "sbatch"):
            outer.append(("slurm", "sbatch" if slurm else bases[0]))
        if any(base in ("docker", "podman", "apptainer", "singularity") for base in bases):
            outer.append(("container", next(b for b in bases if b in ("docker", "podman", "apptainer", "singularity"))))
        if is_submission(command):
            outer.append(("ray-job", "ray job submit"))
        ranks = next((base for base in bases if base in _RANKS), "")
        if "accelerate" in bases and "launch" in bases:
            ranks = "accelerate launch"
        modal = bases[0] == "modal" and "run" in bases
        plain = next((base for base in bases if _PYTHON.fullmatch(base)), "")
        if outer or ranks or modal or plain:
            self._join(
                path, line, target, outer, ranks or ("modal run" if modal else plain or outer[-1][1]), bool(ranks)
            )

    def _modal(self, path: str, command: Command) -> None:
        """`modal run app.py::train`: the functions of that file are started with it."""
        for word in command.values[1:]:
            file, _, function = word.partition("::")
            for process in self.map.processes.values() if file.endswith(".py") else ():
                at, _, name = process.id.removeprefix("modal ").rpartition(":")
                if process.kind == "modal" and at.endswith(file) and function.split(".")[0] in ("", name):
                    line = self.ctx.repo.source(path).line_of(command.start)
                    start = Start(path=path, line=line, how=" ".join(command.values[:2]))
                    if start not in process.starts:
                        process.starts.append(start)

    def _target(self, path: str, values: tuple[str, ...]) -> Process | None:
        """The file that a command starts: of those in question the first that it names."""
        folder = posixpath.dirname(path)
        for i, value in enumerate(values):
            word = value.strip("\"'")
            if i and values[i - 1] == "-m" and word in self.modules:
                return self.files[self.modules[word]]
            file = word.partition("::")[0]
            if file.endswith(".py"):
                found = self._file(file, folder)
                if found is not None:
                    return found
            elif " " in word and i:  # a command as one word: bash -c "python train.py"
                found = self._target(path, tuple(word.split()))
                if found is not None:
                    return found
        return None

    def _file(self, word: str, folder: str) -> Process | None:
        name = posixpath.normpath(word.rpartition(EXPANSION)[2].lstrip("/") or ".")
        for place in (posixpath.normpath(posixpath.join(folder, name)), name):
            if place in self.files:
                return self.files[place]
        ends = [path for path in self.files if path.endswith("/" + name.lstrip("./"))]
        absolute = word.startswith(("/", EXPANSION))
        return self.files[ends[0]] if len(ends) == 1 or (ends and absolute) else None

    def _join(
        self, path: str, line: int, target: Process, outer: list[tuple[ProcessKind, str]], how: str, ranks: bool
    ) -> None:  # fmt: skip
        above: Process | None = None
        for kind, words in outer:
            name = target.name if kind == "ray-job" else path
            here = self.map.add(kind, name, f"{kind} {name}", Start(path=path, line=line, how=words))
            if above is not None:
                self.map.link(above, here)
            above = here
        if target.kind in ("caller", "script"):
            target.kind = "rank" if ranks else "script"
        start = Start(path=path, line=line, how=how)
        if start not in target.starts:
            target.starts.append(start)
        if above is not None:
            self.map.link(above, target)

    # -- containers, task files --------------------------------------------------------------------------------------

    def _text(self, path: str, kind: ProcessKind | None) -> bool:
        if kind is None or readable(self.ctx, path) is None:
            return False
        source = self.ctx.repo.source(path)
        # A list of words, one a line, reads as one line.
        text = re.sub(r"\n[ \t]*-[ \t]+(?=[\"'\w/.-])", lambda m: " " * len(m[0]), source.text)
        for match in _IN_TEXT.finditer(text):
            words = tuple(re.sub(r"[\"',\[\]]", " ", match[0]).split())
            target = self._target(path, words)
            if target is not None:
                how = " ".join(words[:2]) if words[0] == "accelerate" else words[0]
                words_of = {"container": "container", "kubernetes": "Kubernetes", "sky": "sky launch"}[kind]
                ranks = words[0] in _RANKS or words[0] == "accelerate"
                self._join(path, source.line_of(match.start()), target, [(kind, words_of)], how, ranks)
        return True

    # -- Python ------------------------------------------------------------------------------------------------------

    def _python(self, path: str, data: bytes) -> None:
        if not any(word in data for word in (b"subprocess", b"submit_job", b"os.system", b"Popen", b"os.exec")):
            return
        if self.ctx.repo.kind(path) != "own":
            return
        try:
            modules = self.ctx.program.parsed([path])
        except SourceError:
            return
        for call in (call for module in modules for call in module.calls()):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name not in _STARTING:
                continue
            words = _words(call) + [word for value in _by_name(modules, call) for word in _words(value)]
            target = self._target(path, tuple(words))
            if target is None or target.id == path:
                continue
            parent = self.map.processes.get(path) or self.map.add("script", path, path)
            job = name == "submit_job"
            bases = {word.rsplit("/", 1)[-1] for word in words}
            how = "submit_job" if job else f"os.{name}" if name in _OF_OS else f"subprocess {name}"
            outer: list[tuple[ProcessKind, str]] = [("ray-job", "submit_job")] if job else []
            self._join(path, call.lineno, target, outer, how, bool(bases & _RANKS))
            if target.kind == "script" and not job:
                target.kind = "subprocess"
            self.map.link(parent, self.map.processes[f"ray-job {target.name}"] if job else target)


def _words(node: ast.AST) -> list[str]:
    return [
        word for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
        for word in inner.value.split()
    ]  # fmt: skip


def _by_name(modules: list[Module], call: ast.Call) -> list[ast.expr]:
    """What the command is where it is named: `subprocess.run(cmd)`."""
    command = call.args[0] if call.args else None
    if not isinstance(command, ast.Name):
        return []
    made = [value for module in modules for value in assignments(module.function(call) or module.tree, command.id)]
    return made[:3]


def _yaml_kind(base: str, data: bytes) -> ProcessKind | None:
    if "compose" in base and b"services:" in data:
        return "container"
    if b"apiVersion:" in data and b"kind:" in data:
        return "kubernetes"
    return "sky" if b"\nrun:" in data and (b"resources:" in data or b"setup:" in data) else None


RULE = Rule(name="process_map", title="Process map", needles=(), plan=plan, order=900)
