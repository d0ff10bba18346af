"""Finds the process of each emitting site: outwards from it, through callers, to what starts an interpreter.

Looks only at files that the rules have parsed, and at a call by its name before what it stands for is asked.
Ray 2.60 (`ray.remote` as decorator and as call), multiprocessing and torch.multiprocessing, Modal 1.x, submitit 1.5.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from instrument.repo.notebook import NotebookSource
from instrument.repo.processes import Coverage, Emitter, Process, ProcessKind, ProcessMap, Start
from instrument.repo.scopes import AnyFunction, Definition

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Outcome, Site
    from instrument.repo.names import Module

#: Files that may start a process: kept by the planner's scan.
LAUNCHING = (
    b"torchrun", b"deepspeed", b"ray job submit", b"accelerate launch", b"modal run", b"torch.distributed", b"subprocess",
    b"submit_job", b"os.system", b" python ", b"python3 ", b"python -m", b'"python', b"\npython ",
)  # fmt: skip
_EMITTING = frozenset(("emit", "build", "registry"))
_COVERAGE: dict[Outcome, Coverage] = {
    "covered": "covered", "already": "covered", "asked": "asked", "found": "not-covered", "refused": "not-covered",
}  # fmt: skip
#: How far callers are followed, and in how many files a name may stand for that.
_DEPTH, _COMMON = 6, 12
#: Rules say of some sites where frameworks run them.
_SAID: tuple[tuple[str, ProcessKind], ...] = (
    ("ray actor", "ray-actor"), ("ray worker", "ray-actor"), ("ray task", "ray-task"), ("rank", "rank"),
    ("last rank", "rank"), ("actor ", "ray-actor"),
)  # fmt: skip
#: The last name of a call that starts a process with a function, and what must be in the file's text for it.
_STARTERS: dict[str, tuple[ProcessKind, tuple[bytes, ...]]] = {
    "Process": ("spawned", (b"multiprocessing",)),
    "spawn": ("spawned", (b"multiprocessing", b"mp.spawn")),
    "start_processes": ("spawned", (b"multiprocessing",)),
    "Pool": ("spawned", (b"multiprocessing",)),
    "notebook_launcher": ("forked", (b"accelerate",)),
    "submit": ("submitit", (b"submitit",)),
    "map_array": ("submitit", (b"submitit",)),
    "remote": ("ray-task", (b"ray",)),
}
#: Methods of a pool of processes that hand it a function.
_POOL = frozenset(("map", "imap", "imap_unordered", "starmap", "apply", "apply_async", "map_async", "submit"))
_POOLS = (b"ProcessPoolExecutor", b"Pool(")
#: Files that start processes with functions of others: parsed for the map if there are no more of them than this.
STARTING = (
    b"submitit",
    b"multiprocessing",
    b"ProcessPoolExecutor",
    b"notebook_launcher",
    b"ray.remote",
    b"import modal",
)
_FEW = 40


def map_python(ctx: Context) -> ProcessMap:
    """The map of what is seen in Python: each emitting site in its process, and how that is started."""
    starting = ctx.paths(*STARTING) if any(site.kind in _EMITTING for site in ctx.plan.sites) else []
    if len(starting) <= _FEW:
        ctx.program.parsed([path for path in starting if ctx.repo.kind(path) == "own"])
    finder = _Finder(ctx)
    for site in ctx.plan.sites:
        coverage = _COVERAGE.get(site.outcome)
        if site.kind in _EMITTING and coverage is not None:
            line = _line(ctx, site)
            emitter = Emitter(path=site.path, line=line, what=site.what, rule=site.rule, coverage=coverage)
            for process in finder.of_site(site):
                if emitter not in process.emitters:
                    process.emitters.append(emitter)
    return finder.map


def _line(ctx: Context, site: Site) -> int:
    """The line in the file: of a notebook, not in its joined cells."""
    source = ctx.repo.source(site.path) if site.path.endswith(".ipynb") else None
    if isinstance(source, NotebookSource) and source.cells:
        return source.file_line(source.line_start(site.line))
    return site.line


class _Finder:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.map = ProcessMap()
        self._hosts: dict[ast.AST, list[Process]] = {}
        self._by_name: dict[str, list[tuple[Module, ast.Call]]] = {}

    @cached_property
    def _modules(self) -> dict[str, Module]:
        return {m.path: m for m in self.ctx.program.loaded if self.ctx.repo.kind(m.path) == "own"}

    def of_site(self, site: Site) -> list[Process]:
        module = self._modules.get(site.path)
        if module is None or site.node is None:
            return [self.main(site.path)]
        if module.parent(site.node) is None and site.node is not module.tree:
            return [self.main(site.path)]  # a node that a rule made
        found = self.around(module, site.node)
        said = next((kind for words, kind in _SAID if site.process.lower().startswith(words)), None)
        if said is None or any(process.kind == said for process in found):
            return found
        function = module.function(site.node)
        name = site.process if function is None else module.qualname(function) or site.process
        start = Start(path=site.path, line=site.line, how=site.process)
        process = self.map.add(said, name, f"{said} {site.path}:{name}", start)
        for parent in found:
            self.map.link(parent, process)
        return [process]

    def main(self, path: str) -> Process:
        """The process that runs a file, or imports it."""
        if path.endswith(".ipynb"):
            return self.map.add("notebook", path, path)
        module = self._modules.get(path)
        data = self.ctx.repo.read(path)
        if b"ray.init" in data and module is not None and self._opens_ray(module):
            return self.map.add("ray-driver", path, path)
        return self.map.add("script" if b"__main__" in data or not self._imported(path) else "caller", path, path)

    def _imported(self, path: str) -> bool:
        """Whether another file names this one's module, so that it is no script of its own."""
        name = path.rpartition("/")[2].removesuffix(".py")
        if name == "__init__":
            return True
        return any(other != path and self.ctx.program.mentions(other, name) for other in self._modules)

    def _opens_ray(self, module: Module) -> bool:
        calls = (call for call in module.calls() if isinstance(call.func, ast.Attribute) and call.func.attr == "init")
        return any("ray.init" in self.ctx.program.resolve(module, call.func) for call in calls)

    # -- outwards ----------------------------------------------------------------------------------------------------

    def around(self, module: Module, node: ast.AST, depth: int = _DEPTH) -> list[Process]:
        """The processes in which a node may run."""
        function = module.function(node)
        while isinstance(function, ast.Lambda):
            function = module.function(function)
        definition: AnyFunction | ast.ClassDef | None = function
        owner = module.parent(function) if function is not None else module.enclosing_class(node)
        if isinstance(owner, ast.ClassDef):
            started = [] if function is None else self._started(module, function)
            if started:
                return started
            definition = owner
        if definition is None or isinstance(definition, ast.Lambda):
            return [self.main(module.path)]
        if definition not in self._hosts:
            self._hosts[definition] = []  # a circle of callers adds nothing
            self._hosts[definition] = self._of_definition(module, definition, depth)
        return self._hosts[definition] or [self.main(module.path)]

    def _of_definition(self, module: Module, definition: Definition, depth: int) -> list[Process]:
        started = self._started(module, definition)
        if started:
            return started
        found: dict[str, Process] = {}
        if depth:
            for caller, call in self._calls_of(module, definition):
                for process in self.around(caller, call, depth - 1):
                    found.setdefault(process.id, process)
        if not found and module.function(definition) is not None:
            return self.around(module, definition, depth)
        return list(found.values())

    def _calls_of(self, module: Module, definition: Definition) -> Iterator[tuple[Module, ast.Call]]:
        """Calls of a function, constructions of a class and of its subclasses' instances by name."""
        for caller, call in self._named(definition.name):
            if caller is module and module.function(call) is definition:
                continue
            if _last(call.func) == definition.name:
                same = caller is module and isinstance(call.func, ast.Name)
                if same or any(node is definition for _, node in self.ctx.program.definitions(caller, call.func)):
                    yield caller, call
            elif _last(call.func) in ("Thread", "Timer", "run", "submit", "main"):
                if any(isinstance(word, ast.Name) and word.id == definition.name for word in _arguments(call)):
                    yield caller, call

    def _named(self, name: str) -> list[tuple[Module, ast.Call]]:
        """Calls of a name, or with it as an argument, in the files that were parsed; none where it is a common one."""
        if name not in self._by_name:
            paths = [path for path in self._modules if self.ctx.program.mentions(path, name)]
            self._by_name[name] = [] if len(paths) > _COMMON else [
                (self._modules[path], call)
                for path in paths
                for call in self._modules[path].calls()
                if _last(call.func) == name or any(_last(word) == name for word in _arguments(call))
            ]  # fmt: skip
        return self._by_name[name]

    # -- what starts a process ---------------------------------------------------------------------------------------

    def _started(self, module: Module, definition: Definition) -> list[Process]:
        """The processes that are started with a function or class, with their starters as parents."""
        found: list[Process] = []
        for decorator in definition.decorator_list:
            kind = self._decorated(module, decorator, definition)
            if kind is not None:
                start = Start(path=module.path, line=decorator.lineno, how=f"@{_dotted(decorator)}")
                found.append(self._process(kind, module, definition, start))
        if found or isinstance(module.parent(definition), ast.ClassDef):
            for process in found:
                self._parents(module, definition, process)
            return found
        for caller, call in self._named(definition.name):
            if caller is not module and any(getattr(stmt, "name", "") == definition.name for stmt in caller.tree.body):
                continue  # it has one of its own by that name
            kind = self._starts(caller, call, definition)
            if kind is None:
                continue
            how = _dotted(call.func)
            start = Start(path=caller.path, line=call.lineno, how=how)
            process = self._process(kind, module, definition, start)
            found.append(process)
            for parent in self.around(caller, call, 2):
                self.map.link(parent, process)
        return list({process.id: process for process in found}.values())

    def _process(self, kind: ProcessKind, module: Module, definition: Definition, start: Start) -> Process:
        return self.map.add(kind, definition.name, f"{kind} {module.path}:{module.qualname(definition)}", start)

    def _decorated(self, module: Module, decorator: ast.expr, definition: Definition) -> ProcessKind | None:
        bare = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = _last(bare)
        if last == "remote" and "ray.remote" in self.ctx.program.resolve(module, bare):
            return "ray-actor" if isinstance(definition, ast.ClassDef) else "ray-task"
        if last in ("function", "cls") and b"modal" in self.ctx.repo.read(module.path):
            names = self.ctx.program.resolve(module, bare)
            if any(name.startswith("modal.") for name in names):
                return "modal"
        return None

    def _parents(self, module: Module, definition: Definition, process: Process) -> None:
        """`Actor.remote(...)`, `Actor.options(...).remote(...)`, `task.remote(...)`, `f.spawn()` start it."""
        for caller, call in self._remote.get(definition.name, ()):
            for parent in self.around(caller, call, 2):
                self.map.link(parent, process)

    @cached_property
    def _remote(self) -> dict[str, list[tuple[Module, ast.Call]]]:
        found: defaultdict[str, list[tuple[Module, ast.Call]]] = defaultdict(list)
        for path, module in self._modules.items():
            if not self.ctx.program.mentions(path, ".remote(") and not self.ctx.program.mentions(path, "modal"):
                continue
            for call in module.calls():
                if isinstance(call.func, ast.Attribute) and call.func.attr in ("remote", "spawn", "map"):
                    inner: ast.expr = call.func.value
                    while isinstance(inner, ast.Call | ast.Attribute):
                        if isinstance(inner, ast.Attribute) and inner.attr != "options":
                            break
                        inner = inner.func if isinstance(inner, ast.Call) else inner.value
                    name = _last(inner)
                    if name:
                        found[name].append((module, call))
        return found

    def _starts(self, module: Module, call: ast.Call, definition: Definition) -> ProcessKind | None:
        """What a call starts with a function or class that is one of its arguments."""
        if not any(_last(word) == definition.name for word in _arguments(call)):
            return None
        func = call.func.func if isinstance(call.func, ast.Call) else call.func  # ray.remote(num_gpus=1)(Actor)
        kind, needles = _STARTERS.get(_last(func), (None, ()))
        data = self.ctx.repo.read(module.path)
        if _last(func) in _POOL and not (kind and any(needle in data for needle in needles)):
            kind, needles = "spawned", _POOLS
        if kind is None or not any(needle in self.ctx.repo.read(module.path) for needle in needles):
            return None
        if kind == "ray-task":
            if "ray.remote" not in self.ctx.program.resolve(module, func):
                return None
            return "ray-actor" if isinstance(definition, ast.ClassDef) else "ray-task"
        if kind == "spawned" and b'"fork"' in self.ctx.repo.read(module.path):
            return "forked"
        return kind


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is given; of an object that is made for it (`submit(Job())`) its class too."""
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield value
        if isinstance(value, ast.Call):
            yield value.func


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _dotted(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    text = ast.unparse(node)
    return text if len(text) <= 60 else _last(node)
