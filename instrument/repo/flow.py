"""What flows between functions and classes: arguments into parameters, returns out, attributes along inheritance."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.repo.annotations import is_plain
from instrument.repo.calls import instances
from instrument.repo.module import Module
from instrument.repo.scopes import AnyFunction, Binding, Function, terminal
from instrument.repo.values import EMPTY, REPO, Box, Value, Values, boxes, ordered
from instrument.repo.walk import APPLIERS

if TYPE_CHECKING:
    from instrument.repo.names import Program

#: Calls of one name that are looked at, and call sites whose arguments are: the nearest ones.
_MAX_CANDIDATES = 80
_MAX_SITES = 24
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
_DATACLASSES = frozenset("dataclass define frozen mutable s attrs pydantic_dataclass".split())
_FIELD_BASES = frozenset("typing.NamedTuple pydantic.BaseModel msgspec.Struct flax.struct.PyTreeNode".split())

ClassOf = tuple[Module, ast.ClassDef]


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of a function: `skip` parameters (self) are filled by Python, the others by these arguments."""

    module: Module
    call: ast.Call
    positional: tuple[ast.expr, ...]
    keywords: tuple[ast.keyword, ...]
    skip: int
    #: Whether `call` calls the function itself; else it hands the arguments on, as `Thread(target=f, args=...)` does.
    direct: bool = True


class Everywhere:
    """The indices of all modules parsed so far, together."""

    def __init__(self) -> None:
        self.calls: defaultdict[str, list[tuple[Module, ast.Call]]] = defaultdict(list)
        self.passed: defaultdict[str, list[tuple[Module, ast.Call]]] = defaultdict(list)
        self.classes_by_base: defaultdict[str, list[ClassOf]] = defaultdict(list)
        self.attributes: defaultdict[str, list[tuple[Module, ast.expr, Binding]]] = defaultdict(list)
        #: What a file puts into a container that it imports, by the container's own name: with the import.
        self.items: defaultdict[str, list[tuple[Module, Binding, Binding]]] = defaultdict(list)

    def add(self, module: Module) -> None:
        """Take a module's indices up, names that it imports under another name under both."""
        index = module.index
        renamed = {alias: name for name, aliases in index.aliases.items() for alias in aliases}
        for table, all_of_them in ((index.calls_by_name, self.calls), (index.passed, self.passed)):
            for name, calls in table.items():
                pairs = [(module, call) for call in calls]
                all_of_them[name] += pairs
                if name in renamed:
                    all_of_them[renamed[name]] += pairs
        for name, classes in index.classes_by_base.items():
            members = [(module, node) for node in classes]
            self.classes_by_base[name] += members
            if name in renamed:
                self.classes_by_base[renamed[name]] += members
        for name, stores in index.attributes.items():
            self.attributes[name] += [(module, receiver, binding) for receiver, binding in stores]
        for name, items in index.name_items.items():
            for taken in module.scope.names.get(name, ()):
                if taken.kind == "from":
                    self.items[taken.name] += [(module, taken, binding) for _, binding in items]


class Flow:
    """The part of Program that connects definitions to their uses."""

    program: Program

    def start_flow(self) -> None:
        self.everywhere = Everywhere()
        self._spreads: dict[ast.expr, ast.keyword] = {}
        self._packed: dict[ast.Call, ast.Call] = {}
        self._mro: dict[tuple[ast.ClassDef, Values], list[ClassOf]] = {}

    # -- returns -----------------------------------------------------------------------------------------------------

    def returned(self, module: Module, function: ast.AST) -> Values:
        """What a call of a function gives: its returns, or a generator, and what its annotation promises."""
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return EMPTY
        return self.program.memo.get(("returns", function), self._returned, module, function, hop=1)

    def _returned(self, module: Module, function: AnyFunction) -> Values:
        program, scope = self.program, module.index.inner[function]
        results: set[Value] = set()
        if scope.generator:
            results.add(Box("yields", module, function))
        if not isinstance(function, ast.Lambda) and is_plain(function.returns):
            return frozenset(results)
        for value in scope.returns:
            results |= program.expr(module, value)
        if isinstance(function, ast.Lambda) or function.returns is None:
            return frozenset(results)
        return frozenset(results) | program.annotation(module, module.scope_of(function, inner=False), function.returns)

    def returns(self, module: Module, function: AnyFunction) -> frozenset[str]:
        """Every qualified name that a function may return."""
        try:
            values = self.program.expanded(self.returned(module, function))
        except RecursionError:
            return frozenset()
        return frozenset(value for value in values if isinstance(value, str))

    # -- parameters --------------------------------------------------------------------------------------------------

    def parameter(self, module: Module, function: AnyFunction, name: str) -> Values:
        """All values of a parameter: the instance, its annotation, its default, and the arguments of all callers."""
        program = self.program
        inner = module.index.inner[function]
        owner = inner.parent.node if inner.parent else None
        if inner.self_name == name and isinstance(owner, ast.ClassDef):
            classes = program.defined(module, owner)
            assert not isinstance(function, ast.Lambda)
            static = _decorated(function, "classmethod") or function.name in ("__new__", "__init_subclass__")
            return classes if static else instances(classes)
        given = function.args
        listed = [*given.posonlyargs, *given.args]
        results: set[Value] = set()
        argument = next((a for a in [*listed, *given.kwonlyargs] if a.arg == name), None)
        outside = module.scope_of(function, inner=False)
        if argument is not None:
            results |= program.annotation(module, outside, argument.annotation)
            position = listed.index(argument) if argument in listed else None
            if position is not None:
                behind = position - (len(listed) - len(given.defaults))
                default = given.defaults[behind] if behind >= 0 else None
            else:
                default = given.kw_defaults[given.kwonlyargs.index(argument)]
            results |= program.expr(module, default)
            if not (is_plain(argument.annotation) or _is_plain_default(default)):
                for site in self.nearest(module, function):
                    results |= self.argument(site, position, name)
        elif given.vararg is not None and given.vararg.arg == name:
            promised = program.annotation(module, outside, given.vararg.annotation)
            if promised:
                results.add(Box("bag", values=promised))
            for site in self.nearest(module, function):
                start = max(0, len(listed) - site.skip)
                results.add(Box("rest", site.module, self._positional(site), start=start))
        elif given.kwarg is not None and given.kwarg.arg == name:
            for site in self.nearest(module, function):
                results.add(Box("keywords", site.module, site.call))
        return frozenset(results)

    def _positional(self, site: CallSite) -> ast.Call:
        """A call with the site's positional arguments, always the same node for one call."""
        if list(site.positional) == site.call.args:
            return site.call
        if site.call not in self._packed:
            self._packed[site.call] = ast.Call(site.call.func, [*site.positional], [])
        return self._packed[site.call]

    def argument(self, site: CallSite, position: int | None, name: str) -> Values:
        """The values that a call gives to a parameter."""
        program, module = self.program, site.module
        results: set[Value] = set()
        if position is not None and position >= site.skip:
            wanted = position - site.skip
            for index, value in enumerate(site.positional):
                if isinstance(value, ast.Starred):
                    inside = program.expr(module, value.value)
                    last = index == len(site.positional) - 1
                    results |= program.item(inside, wanted - index if last else None)
                    break
                if index == wanted:
                    results |= program.expr(module, value)
                    break
        for keyword in site.keywords:
            if keyword.arg == name:
                results |= program.expr(module, keyword.value)
            elif keyword.arg is None:
                results |= program.item(boxes(program.expr(module, keyword.value)), name)
        return frozenset(results)

    def field(self, module: Module, owner: ast.ClassDef, name: str) -> Values:
        """What callers of a dataclass (or the like) give for a field."""
        program = self.program
        if not _dataclass(owner) and not program.lineage(module, owner) & _FIELD_BASES:
            return EMPTY
        fields = [s.target.id for s in owner.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        position = fields.index(name) if name in fields else None
        results: set[Value] = set()
        for site in self.class_sites(module, owner, None):
            results |= self.argument(site, position, name)
        return frozenset(results)

    # -- call sites --------------------------------------------------------------------------------------------------

    def call_sites(self, module: Module, function: AnyFunction | ast.ClassDef) -> list[tuple[Module, ast.Call]]:
        """Every call of a function, method or class in this repository, as far as it can be told, in order of path.

        `f(x)`, `obj.f(x)`, `Cls(x)` for a class or its `__init__`, and Ray's `f.remote(x)`; among very many calls of
        one name the nearest are looked at.
        """
        try:
            if isinstance(function, ast.ClassDef):
                found = list(self.class_sites(module, function, None))
            else:
                found = self.sites(module, function)
        except RecursionError:
            return []
        calls = {site.call: site.module for site in found if site.direct}
        return [(m, c) for c, m in sorted(calls.items(), key=lambda i: (i[1].path, i[0].lineno, i[0].col_offset))]

    def sites(self, module: Module, function: AnyFunction) -> list[CallSite]:
        """The call sites of a function, with their arguments."""
        # Kept with the values: which calls these are can depend on values that are still being computed.
        found = self.program.memo.get(("sites", function), self._all_sites, module, function, hop=1)
        return sorted(found, key=lambda site: (site.module.path, site.call.lineno, site.call.col_offset, site.skip))

    def nearest(self, module: Module, function: AnyFunction) -> list[CallSite]:
        """The call sites that say what is given for parameters: all of them, or the nearest of very many."""
        found = self.sites(module, function)
        if len(found) > _MAX_SITES:
            found = sorted(found, key=lambda site: _distance(module, site.module))[:_MAX_SITES]
        return found

    def _all_sites(self, module: Module, function: AnyFunction) -> frozenset[CallSite]:
        return frozenset(self._find_sites(module, function))

    def _names(self, module: Module, function: AnyFunction) -> set[str]:
        if not isinstance(function, ast.Lambda):
            return {function.name}
        parent = module.parent(function)
        if isinstance(parent, ast.Assign):
            return {name for target in parent.targets if (name := terminal(target)) is not None}
        return set()

    def _candidates(self, module: Module, name: str, *, passed: bool = False) -> list[tuple[Module, ast.Call]]:
        self.program.load_mentioning(name, module)
        found = (self.everywhere.passed if passed else self.everywhere.calls).get(name, [])
        if len(found) <= _MAX_CANDIDATES:
            return found[:]
        return sorted(found, key=lambda pair: _distance(module, pair[0]))[:_MAX_CANDIDATES]

    def _find_sites(self, module: Module, function: AnyFunction) -> Iterator[CallSite]:
        program = self.program
        own = f"{REPO}{module.dotted}.{module.qualname(function)}"
        method = module.index.inner[function].self_name is not None
        for name in sorted(self._names(module, function)):
            constructor = method and name in _CONSTRUCTORS
            for caller, call in self._explicit(module, function) if constructor else self._candidates(module, name):
                if own in program.expr(caller, call.func):
                    skip = 1 if method and not self._unbound(caller, call.func, function) else 0
                    yield CallSite(caller, call, tuple(call.args), tuple(call.keywords), skip)
            for caller, call in self._candidates(module, name, passed=True):
                yield from self._handed_on(caller, call, own, 1 if method else 0)
        if method and not isinstance(function, ast.Lambda) and function.name in _CONSTRUCTORS:
            owner = module.enclosing_class(function)
            if owner is not None:
                yield from self.class_sites(module, owner, function)

    def _explicit(self, module: Module, function: AnyFunction) -> list[tuple[Module, ast.Call]]:
        """`super().__init__(...)` and `Base.__init__(self, ...)` in the subclasses of a constructor's class."""
        owner = module.enclosing_class(function)
        if owner is None or isinstance(function, ast.Lambda):
            return []
        found = []
        for other, member in self.subclasses(module, owner):
            for call in other.index.calls_by_name.get(function.name, ()):
                if other.enclosing_class(call) is member:
                    found.append((other, call))
        return found[:_MAX_CANDIDATES]

    def _unbound(self, module: Module, func: ast.expr, function: AnyFunction) -> bool:
        """Whether a method is called on its class (`Base.__init__(self, x)`)."""
        if not isinstance(func, ast.Attribute) or _decorated(function, "classmethod"):
            return False
        receiver = self.program.expr(module, func.value)
        return any(
            isinstance(value, str) and any(isinstance(node, ast.ClassDef) for _, node in self.program.entities(value))
            for value in ordered(receiver)
        )

    def class_sites(self, module: Module, owner: ast.ClassDef, constructor: Function | None) -> Iterator[CallSite]:
        """Calls of a class (or of a subclass that does not replace the constructor)."""
        program = self.program
        own = f"{REPO}{module.dotted}.{module.qualname(owner)}"
        family = [(module, owner), *self.subclasses(module, owner)]
        seen: set[ast.Call] = set()
        for name in sorted({member.name for _, member in family} | {"cls", "type", "__class__"}):
            for caller, call in self._candidates(module, name):
                values = program.expr(caller, call.func)
                if call in seen or not values or (own not in values and own not in program.expanded(values)):
                    continue
                seen.add(call)
                if constructor is None or self._constructs(values, constructor):
                    skip = 0 if constructor is None else 1
                    yield CallSite(caller, call, tuple(call.args), tuple(call.keywords), skip)

    def _constructs(self, values: Values, constructor: Function) -> bool:
        """Whether calling one of these classes runs this constructor."""
        for value in ordered(values):
            for owner, node in self.program.entities(value) if isinstance(value, str) else ():
                if isinstance(node, ast.ClassDef):
                    for base_module, base in self.mro(owner, node):
                        bound = base_module.index.inner[base].names.get(constructor.name)
                        if bound:
                            if any(binding.node is constructor for binding in bound):
                                return True
                            break
        return False

    def _handed_on(self, module: Module, call: ast.Call, own: str, skip: int) -> Iterator[CallSite]:
        """`partial(f, x)`, `Thread(target=f, args=(x,))`, `spawn(f, args=(x,))`, `pool.submit(f, x)` as calls of f."""
        program = self.program
        given = {k.arg: k.value for k in call.keywords if k.arg}
        values = [*call.args, *given.values()]
        position = next(
            (i for i, v in enumerate(values) if terminal(v) is not None and own in program.expr(module, v)), None
        )
        if position is None:
            return
        name = terminal(call.func) or ""
        packed = given.get("args")
        if packed is None and name in _PACKING and position + 1 < len(call.args):
            packed = call.args[position + 1]
        if isinstance(packed, ast.Tuple | ast.List):
            first = 1 if name in ("spawn", "start_processes") else 0
            named = given.get("kwargs")
            keywords = (self._spread(named),) if named is not None else ()
            yield CallSite(module, call, tuple(packed.elts), keywords, skip + first, direct=False)
        elif position < len(call.args) and name in APPLIERS:
            yield CallSite(module, call, tuple(call.args[position + 1 :]), tuple(call.keywords), skip, direct=False)

    def _spread(self, mapping: ast.expr) -> ast.keyword:
        """`**mapping`, always the same node for one mapping."""
        if mapping not in self._spreads:
            self._spreads[mapping] = ast.keyword(None, mapping)
        return self._spreads[mapping]

    # -- inheritance -------------------------------------------------------------------------------------------------

    def mro(self, module: Module, node: ast.ClassDef) -> list[ClassOf]:
        """A class and its bases in this repository, nearest first."""
        program = self.program
        names = program.lineage(module, node)
        known = self._mro.get((node, names))
        if known is not None:
            return known
        found: dict[ast.ClassDef, Module] = {node: module}
        stack = [(module, node)]
        while stack:
            owner, current = stack.pop(0)
            for base in current.bases:
                for value in sorted(v for v in program.expr(owner, base) if isinstance(v, str)):
                    for base_module, definition in program.entities(value):
                        if isinstance(definition, ast.ClassDef) and definition not in found:
                            found[definition] = base_module
                            stack.append((base_module, definition))
        result = [(owner, current) for current, owner in found.items()]
        self._mro[node, names] = result
        return result

    def subclasses(self, module: Module, node: ast.ClassDef) -> list[ClassOf]:
        """All classes of this repository that derive from one, at any depth, in the files that could be seen."""
        program = self.program
        found: dict[ast.ClassDef, Module] = {}
        stack: list[ClassOf] = [(module, node)]
        while stack:
            owner, current = stack.pop()
            own = f"{REPO}{owner.dotted}.{owner.qualname(current)}"
            for other, candidate in self.everywhere.classes_by_base.get(current.name, [])[:]:
                if candidate is not node and candidate not in found and own in program.lineage(other, candidate):
                    found[candidate] = other
                    stack.append((other, candidate))
        return [(owner, current) for current, owner in found.items()]


#: Of those, the ones that take the arguments in a tuple.
_PACKING = frozenset("Thread Process spawn start_processes apply_async notebook_launcher".split())


def _distance(module: Module, other: Module) -> int:
    if module is other:
        return 0
    return 1 if module.path.rpartition("/")[0] == other.path.rpartition("/")[0] else 2


def _is_plain_default(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and default.value is not None


def _decorated(function: AnyFunction, name: str) -> bool:
    return not isinstance(function, ast.Lambda) and any(terminal(d) == name for d in function.decorator_list)


def _dataclass(owner: ast.ClassDef) -> bool:
    decorators = [d.func if isinstance(d, ast.Call) else d for d in owner.decorator_list]
    return any((terminal(d) or "") in _DATACLASSES for d in decorators)
