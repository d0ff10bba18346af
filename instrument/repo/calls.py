"""What calls give: instances, returns, results of foreign functions, and the few that pass their arguments on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from instrument.repo.annotations import PLAIN
from instrument.repo.module import Module
from instrument.repo.scopes import terminal
from instrument.repo.values import EMPTY, REPO, Box, Value, Values, boxes, constant, ordered, union

if TYPE_CHECKING:
    from instrument.repo.names import Program

#: A chain of more calls than this is growing in a loop (`node = node.next()`).
_MAX_CALLS = 4
#: Settings whose methods give the settings again, however many there are: `PPOConfig().environment(...).training(...)`.
_FLUENT = re.compile(r"(ray\.rllib\.(?:\w+\.)*\w+Config\(\))\.(?!build|to_dict|get_|copy|is_|serialize)\w+")

#: Calls that hand on what their first argument is or holds. Frameworks are here only where a value passes unchanged.
_TRANSPARENT = frozenset(
    "functools.partial functools.partialmethod copy.copy copy.deepcopy weakref.ref weakref.proxy "
    "contextlib.closing contextlib.nullcontext contextlib.aclosing asyncio.run asyncio.wait_for asyncio.shield "
    "asyncio.create_task asyncio.ensure_future ray.remote ray.get ray.put torch.compile torch.jit.script "
    "itertools.chain itertools.cycle itertools.islice tqdm.tqdm tqdm.auto.tqdm".split()
)
_LISTS = frozenset(
    "builtins.iter builtins.list builtins.tuple builtins.set builtins.frozenset builtins.sorted builtins.reversed "
    "collections.deque".split()
)
_DICTS = frozenset(
    "builtins.dict collections.OrderedDict collections.defaultdict types.MappingProxyType "
    "weakref.WeakValueDictionary".split()
)
_FIELDS = frozenset("dataclasses.field attr.ib attrs.field pydantic.Field".split())
#: What their functions give are numbers, arrays, texts: no name worth knowing, and endless chains of methods.
_DATA = ("numpy.", "math.", "random.", "time.", "os.", "re.", "json.", "itertools.", "tensordict.", "jax.numpy.")


class Calls:
    """The part of Program that evaluates calls."""

    program: Program

    def call(self, module: Module, node: ast.Call) -> Values:
        """What a call gives."""
        func, program = node.func, self.program
        values = program.expr(module, func)
        results: set[Value] = set()
        if isinstance(func, ast.Attribute):
            receiver = program.expr(module, func.value)
            held = boxes(receiver)
            if held:
                results |= self._container_method(module, func.attr, held, node)
            if func.attr in ("enter_context", "enter_async_context"):
                return program.enter(program.first(module, node))
            if func.attr == "options":
                # Ray's `Actor.options(...)` is the actor again.
                actors = frozenset(v for v in receiver if isinstance(v, str) and program.entities(v))
                if actors & values:
                    return actors
        elif values == {"builtins.super"}:
            return self._super(module, node)
        for value in ordered(values):
            results |= self.called(module, node, value)
        name = (terminal(func) or "").lower()
        if "import" in name or "lazy" in name:
            results |= self._lazily_imported(module, node)
        return frozenset(results)

    def _lazily_imported(self, module: Module, node: ast.Call) -> Values:
        """`LazyLoader("wandb", globals(), "wandb")`, `lazy_import("wandb")`, `w, found = optional_import("wandb")`."""
        given = [value for argument in node.args if isinstance(value := constant(argument), str)]
        if not given or not all(part.isidentifier() for part in given[-1].split(".")):
            return EMPTY
        found = self.program.imported(module, given[-1] if len(node.args) > 2 else given[0])
        attribute = next((constant(k.value) for k in node.keywords if k.arg in ("name", "attr", "attribute")), None)
        if isinstance(attribute, str):
            found = self.program.attribute(module, found, attribute)
        return found | {Box("tuple", items=(found, EMPTY))}

    def called(self, module: Module, node: ast.Call, value: Value) -> Values:
        """What a call gives when this is what is called."""
        program = self.program
        if isinstance(value, Box):
            return value.values if value.kind == "callable" else EMPTY
        if value.startswith(REPO):
            results: set[Value] = set()
            for owner, target in program.entities(value):
                if isinstance(target, ast.ClassDef):
                    results |= instances(program.defined(owner, target))
                else:
                    results |= program.returned(owner, target)
            return frozenset(results) or program.method(value, "__call__")
        if value in _TRANSPARENT:
            return program.first(module, node) or frozenset((value + "()",))
        if value == "ray.remote()":
            return program.first(module, node)
        if value.startswith(("builtins.", "importlib.", "typing.", "types.", "argparse.", "collections.", "weakref.")):
            special = self._standard(module, node, value)
            if special is not None:
                return special
        if value in _FIELDS:
            return self._field(module, node)
        if value.startswith(_DATA) or (value.startswith("torch.") and value.count(".") == 1 and value.islower()):
            return EMPTY
        fluent = _FLUENT.fullmatch(value)
        if fluent is not None:
            return frozenset((fluent[1],))
        return frozenset((value + "()",)) if value.count("()") < _MAX_CALLS else EMPTY

    def _standard(self, module: Module, node: ast.Call, value: str) -> Values | None:
        """Calls of the standard library whose result is made of their arguments. None for all others."""
        program, arguments = self.program, node.args
        if value in _LISTS:
            return boxes(program.first(module, node)) | {Box("bag")}
        if value in _DICTS:
            return boxes(program.first(module, node)) | {Box("keywords", module, node), Box("bag")}
        if value in ("types.SimpleNamespace", "argparse.Namespace"):
            return frozenset((value + "()", Box("namespace", module, node)))
        if value in ("builtins.enumerate", "builtins.zip", "builtins.map"):
            return frozenset((Box(value.removeprefix("builtins."), module, node),))
        if value == "builtins.filter" and len(arguments) == 2:
            return program.expr(module, arguments[1])
        if value == "builtins.next":
            default = program.expr(module, arguments[1]) if len(arguments) > 1 else EMPTY
            return program.iterate(program.first(module, node)) | default
        if value == "builtins.getattr" and len(arguments) >= 2:
            name = constant(arguments[1])
            found = program.attribute(module, program.first(module, node), name) if isinstance(name, str) else EMPTY
            return found | (program.expr(module, arguments[2]) if len(arguments) > 2 else EMPTY)
        if value == "builtins.type" and len(arguments) == 1:
            return frozenset(v[:-2] for v in program.first(module, node) if isinstance(v, str) and v.endswith("()"))
        if value == "typing.cast" and len(arguments) == 2:
            promised = program.annotation(module, module.scope_of(node), arguments[0])
            return promised | program.expr(module, arguments[1])
        if value in ("importlib.import_module", "builtins.__import__") and arguments:
            name = constant(arguments[0])
            if isinstance(name, str) and not name.startswith("."):
                return program.imported(module, name if value.startswith("importlib") else name.partition(".")[0])
        return None

    def _field(self, module: Module, node: ast.Call) -> Values:
        """`field(default=x)` and `field(default_factory=f)` of a dataclass."""
        results: set[Value] = set()
        for keyword in node.keywords:
            if keyword.arg == "default":
                results |= self.program.expr(module, keyword.value)
            elif keyword.arg in ("default_factory", "factory"):
                for value in ordered(self.program.expr(module, keyword.value)):
                    made = frozenset((Box("bag"),)) if value in _LISTS | _DICTS else None
                    results |= self.called(module, node, value) if made is None else made
        return frozenset(results)

    def _container_method(self, module: Module, name: str, held: Values, node: ast.Call) -> Values:
        program = self.program
        if name in ("get", "pop", "setdefault", "popleft", "popitem", "__getitem__"):
            key = constant(node.args[0]) if node.args else None
            default = program.expr(module, node.args[1]) if len(node.args) > 1 else EMPTY
            return program.item(held, key) | default
        if name in ("values", "items"):
            return frozenset((Box(name, module, node),))
        return held if name in ("copy", "__enter__") else EMPTY

    def _super(self, module: Module, node: ast.Call) -> Values:
        owner = module.enclosing_class(node)
        if owner is None:
            return EMPTY
        return instances(union(self.program.expr(module, base) for base in owner.bases))


def instances(classes: Iterable[Value]) -> Values:
    """Instances of classes."""
    return frozenset(f"{c}()" for c in classes if isinstance(c, str) and not c.startswith(PLAIN))
