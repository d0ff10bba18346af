"""What an expression may stand for: symbolic evaluation of names, attributes, calls and items, without running anything.

Values are qualified names (`wandb.init()`, `repo:pkg.mod.Class()`) and containers. The evaluation is a union over
everything that could flow into a name, insensitive to order and branches. Cycles are solved to a fixed point, and work
a question is bounded: past the bound the answer is what was found so far.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instrument.errors import SourceError
from instrument.repo.module import BUILTINS, Module
from instrument.repo.scopes import AnyFunction, Binding, Scope, Step, terminal

if TYPE_CHECKING:
    from instrument.repo.names import Program

REPO = "repo:"


@dataclass(frozen=True, slots=True)
class Box:
    """A container (or another value that is not a name), as something from which values are taken.

    kind literal: a display, comprehension or generator at `node`; item: one entry that was put in (`binding`); bag:
    the same `values` whatever is asked; tuple: `items` by position; type: the class itself of an annotation; callable:
    gives `values` when called; keywords: the keyword arguments of the call at `node`; rest: its positional ones from
    `start` on.
    """

    kind: str
    module: Module | None = None
    node: ast.AST | None = None
    binding: Binding | None = None
    values: frozenset[Any] = frozenset()
    items: tuple[frozenset[Any], ...] = ()
    start: int = 0


Value = str | Box
Values = frozenset[Value]
EMPTY: Values = frozenset()

_MAX_DEPTH = 90
_MAX_STEPS = 20_000
_MAX_ROUNDS = 6
#: Longer chains than this are growing in a loop (`node = node.next`).
_MAX_PARTS = 14
_FREE = 1 << 30


class Memo:
    """Values by key, with fixed points for keys that depend on themselves.

    A key that is asked for while it is being computed gives its last approximation; the outermost key of such a cycle
    is computed again until nothing changes, then all keys of the cycle become final together.
    """

    def __init__(self) -> None:
        self._final: dict[Any, Values] = {}
        self._active: dict[Any, int] = {}
        self._approximate: dict[Any, Values] = {}
        self._round: dict[Any, int] = {}
        self._pending: list[Any] = []
        self._low = _FREE
        self._steps = 0

    def get(self, key: Any, compute: Callable[..., Values], *arguments: Any) -> Values:
        """The value of a key, computed by `compute(*arguments)` when it is not known."""
        known = self._final.get(key)
        if known is not None:
            return known
        depth = self._active.get(key)
        if depth is not None:
            self._low = min(self._low, depth)
            return self._approximate.get(key, EMPTY)
        if key in self._round:
            self._low = min(self._low, self._round[key])
            return self._approximate[key]
        depth = len(self._active)
        if depth == 0:
            self._steps = 0
        self._steps += 1
        if depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            self._low = -1
            return EMPTY
        return self._compute(key, depth, compute, arguments)

    def _compute(self, key: Any, depth: int, compute: Callable[..., Values], arguments: tuple[Any, ...]) -> Values:
        saved, first = self._low, len(self._pending)
        self._active[key] = depth
        value, low = EMPTY, _FREE
        try:
            for _ in range(_MAX_ROUNDS):
                self._low = _FREE
                value = compute(*arguments)
                low = self._low
                if low > depth:
                    break
                changed = value != self._approximate.get(key, EMPTY)
                self._approximate[key] = value
                if low < depth or not changed:
                    break
                for member in self._pending[first:]:
                    self._round.pop(member, None)
                del self._pending[first:]
        finally:
            del self._active[key]
            self._low = saved
            if not self._active:
                self._round.clear()
        if low >= depth or depth == 0:
            self._final[key] = value
            if low >= depth:
                for member in self._pending[first:]:
                    self._final[member] = self._approximate[member]
            for member in self._pending[first:]:
                self._round.pop(member, None)
                self._approximate.pop(member, None)
            self._approximate.pop(key, None)
            del self._pending[first:]
        else:
            self._approximate[key] = value
            self._round[key] = low
            self._pending.append(key)
            self._low = min(saved, low)
        return value

    def reset(self) -> None:
        """Forget what is under way, after an error came through."""
        self._active.clear()
        self._approximate.clear()
        self._round.clear()
        self._pending.clear()
        self._low = _FREE


#: Calls that hand on what their first argument is or holds. Names of frameworks are here only where a value passes
#: through them unchanged.
_TRANSPARENT = frozenset(
    "functools.partial functools.partialmethod contextlib.closing contextlib.nullcontext contextlib.aclosing copy.copy "
    "copy.deepcopy ray.remote ray.get ray.put asyncio.run asyncio.wait_for asyncio.shield builtins.iter builtins.list "
    "builtins.tuple builtins.set builtins.frozenset builtins.sorted builtins.reversed collections.deque "
    "torch.compile torch.jit.script weakref.ref weakref.proxy tqdm.tqdm tqdm.auto.tqdm tqdm.trange "
    "more_itertools.always_iterable itertools.chain itertools.cycle itertools.islice".split()
)
_FROM_DICT = frozenset("builtins.dict collections.OrderedDict collections.defaultdict types.MappingProxyType".split())
_WRAPPERS = frozenset(
    "Optional Union Annotated ClassVar Final Required NotRequired ReadOnly InitVar Awaitable Coroutine "
    "ContextManager AbstractContextManager AsyncContextManager AbstractAsyncContextManager".split()
)
_LISTS = frozenset(
    "list List tuple Tuple set Set frozenset FrozenSet Sequence MutableSequence Iterable Iterator Collection deque Deque "
    "Generator AsyncIterator AsyncIterable AsyncGenerator".split()
)
_DICTS = frozenset("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict".split())
_PROPERTIES = frozenset("property cached_property functools_cached_property abstractproperty lazy_property".split())
_SEQUENCES = (ast.List, ast.Tuple, ast.Set)


class Resolver:
    """The evaluation itself; `Program` adds files, definitions and call sites."""

    program: Program
    memo: Memo

    def expr(self, module: Module, node: ast.AST | None) -> Values:
        """All values of an expression."""
        if node is None or isinstance(node, ast.Constant | ast.JoinedStr | ast.Compare | ast.UnaryOp):
            return EMPTY
        return self.memo.get(node, self._expr, module, node)

    def _expr(self, module: Module, node: ast.AST) -> Values:
        if isinstance(node, ast.Name):
            scope = module.index.scopes.get(node) or module.scope_of(node)
            return self.name(module, scope, node.id) | self.narrowed(module, node)
        if isinstance(node, ast.Attribute):
            receiver = self.expr(module, node.value)
            found = self.attribute(module, receiver, node.attr) if receiver else self._unknown(module, node)
            return found | self.narrowed(module, node)
        if isinstance(node, ast.Call):
            return self.call(module, node)
        if isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Slice):
                return self.expr(module, node.value)
            return self.item(self.expr(module, node.value), _constant(node.slice))
        if isinstance(node, ast.Await | ast.Starred | ast.NamedExpr):
            return self.expr(module, node.value)
        if isinstance(node, ast.IfExp):
            return self.expr(module, node.body) | self.expr(module, node.orelse)
        if isinstance(node, ast.BoolOp):
            return self._union(self.expr(module, value) for value in node.values)
        if isinstance(node, ast.BinOp):
            if not isinstance(node.op, ast.Add | ast.BitOr):
                return EMPTY
            both = self.expr(module, node.left) | self.expr(module, node.right)
            return frozenset(value for value in both if isinstance(value, Box))
        if isinstance(node, ast.Lambda):
            return frozenset((f"{REPO}{module.dotted}.{module.qualname(node)}",))
        if isinstance(node, (*_SEQUENCES, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return frozenset((Box("literal", module, node),))
        return EMPTY

    @staticmethod
    def _union(parts: Iterable[Values]) -> Values:
        return frozenset().union(*parts)

    # -- names ---------------------------------------------------------------------------------------------------------

    def name(self, module: Module, scope: Scope, name: str) -> Values:
        """All values of a name that is read in a scope."""
        found = module.lookup(scope, name)
        if found is not None:
            home, bindings = found
            return self.memo.get((home, name), self._bound, module, home, name, bindings)
        stars = [star for star in module.index.stars if module.lookup(star.scope, name) is None]
        if stars:
            values = self._union(self._from(module, star, name, star=True) for star in stars)
            if values:
                return values
        return frozenset((f"builtins.{name}",)) if name in BUILTINS else EMPTY

    def _bound(self, module: Module, home: Scope, name: str, bindings: list[Binding]) -> Values:
        values = self._union(self.binding(module, binding) for binding in bindings)
        if any(isinstance(value, Box) for value in values):
            put = [
                Box("item", module, binding=binding)
                for scope, binding in module.index.name_items.get(name, ())
                if (found := module.lookup(scope, name)) is not None and found[0] is home
            ]
            values |= frozenset(put)
        return values

    def binding(self, module: Module, binding: Binding) -> Values:
        """All values that one binding gives."""
        kind = binding.kind
        if kind == "value":
            return self.steps(module, self.expr(module, binding.node), binding.steps)
        if kind == "module":
            return self._imported(module, binding.dotted)
        if kind == "from":
            return self._from(module, binding, binding.name)
        if kind == "annotation":
            return self.steps(module, self.annotation(module, binding.scope, binding.node), binding.steps)
        if kind == "def":
            return self.defined(module, binding.node)
        if kind == "param":
            assert isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            return self.memo.get(
                (binding.node, binding.name), self.program.parameter, module, binding.node, binding.name
            )
        return EMPTY

    def steps(self, module: Module, values: Values, steps: Iterable[Step]) -> Values:
        """Take values out of values, as unpacking, loops and `with` do."""
        for step in steps:
            if not values:
                break
            if step == "iter":
                values = self.iterate(values)
            elif step == "enter":
                values = self.enter(module, values)
            elif step != "rest":
                values = self.item(values, step)
        return values

    def defined(self, module: Module, node: ast.AST) -> Values:
        """The names of a function, or of a class and all its bases."""
        own = f"{REPO}{module.dotted}.{module.qualname(node)}"
        if isinstance(node, ast.ClassDef):
            return self.memo.get(("class", node), self._class_names, module, node, own)
        return frozenset((own,))

    def _class_names(self, module: Module, node: ast.ClassDef, own: str) -> Values:
        bases = self._union(self.expr(module, base) for base in node.bases)
        return frozenset((own, *(b for b in bases if isinstance(b, str) and not b.endswith(")") and b != "builtins.object")))

    # -- imports -------------------------------------------------------------------------------------------------------

    def _imported(self, module: Module, dotted: str) -> Values:
        found = self.program.finder.find(dotted, module.path)
        if found is None:
            return frozenset((dotted,))
        name = self.program.module_name(found)
        # A plain folder loses against an installed package of the same name, so both are possible.
        return frozenset((name, dotted)) if self.program.is_folder(found) else frozenset((name,))

    def _from(self, module: Module, binding: Binding, name: str, *, star: bool = False) -> Values:
        finder = self.program.finder
        if binding.level:
            place = finder.relative(module.path, binding.level, binding.dotted)
            if place is None:
                return EMPTY
            folder, dotted = place
            if dotted:
                found = finder.below(folder, dotted.split("."))
            else:
                found = folder + "/__init__.py" if finder.is_package(folder) else folder
            if found is None:
                base = f"{folder.replace('/', '.')}.{dotted}".strip(".")
                return EMPTY if star else frozenset((f"{REPO}{base}.{name}",))
        else:
            found = finder.find(binding.dotted, module.path)
            if found is None:
                return frozenset((f"{binding.dotted}.{name}",))
        if self.program.is_folder(found):
            inside = finder.below(found, [name])
            if inside is not None:
                return frozenset((self.program.module_name(inside),))
            return EMPTY if star or binding.level else frozenset((f"{binding.dotted}.{name}",))
        if star and name.startswith("_"):
            return EMPTY
        return self.member(found, name, strict=star)

    def member(self, path: str, name: str, *, strict: bool = False) -> Values:
        """What `name` is in the module at a path; with `strict` nothing where the module does not bind it."""
        return self.memo.get((path, name, strict), self._member, path, name, strict)

    def _member(self, path: str, name: str, strict: bool) -> Values:
        unknown = EMPTY if strict else frozenset((f"{self.program.module_name(path)}.{name}",))
        values = EMPTY
        if self.program.mentions(path, name) or self.program.mentions(path, "*"):
            try:
                module = self.program.module(path)
            except SourceError:
                return unknown
            if name in module.scope.names:
                values = self.name(module, module.scope, name)
                unknown = EMPTY
            elif module.index.stars:
                values = self._union(self._from(module, star, name, star=True) for star in module.index.stars)
        if not values and path.endswith("/__init__.py"):
            inside = self.program.finder.below(path[: -len("/__init__.py")], [name])
            if inside is not None:
                return frozenset((self.program.module_name(inside),))
        return values or unknown

    # -- attributes ----------------------------------------------------------------------------------------------------

    def attribute(self, module: Module, values: Values, name: str) -> Values:
        """All values of an attribute of any of these values."""
        results: set[Value] = set()
        for value in self.program.most_derived(values):
            if isinstance(value, Box):
                if value.kind == "namespace" and isinstance(value.node, ast.Call) and value.module is not None:
                    for keyword in value.node.keywords:
                        if keyword.arg == name:
                            results |= self.expr(value.module, keyword.value)
                continue
            if value.startswith(REPO):
                results |= self.memo.get((value, name), self._repo_attribute, value, name)
            elif value.count(".") + value.count("(") < _MAX_PARTS:
                results.add(f"{value}.{name}")
        return frozenset(results) | self._stored(module, values, name)

    def _repo_attribute(self, value: str, name: str) -> Values:
        program = self.program
        results: set[Value] = set()
        for owner, node in program.entities(value):
            if isinstance(node, ast.ClassDef):
                results |= self.class_attribute(owner, node, name, instance=False)
            elif name in ("remote", "options", "bind", "__wrapped__", "__call__"):
                results.add(value)
        if value.endswith("()"):
            for owner, node in program.entities(value[:-2]):
                if isinstance(node, ast.ClassDef):
                    results |= self.class_attribute(owner, node, name, instance=True)
        path = program.path_of(value)
        if path is not None and program.is_folder(path):
            inside = program.finder.below(path, [name])
            if inside is not None:
                results.add(program.module_name(inside))
        elif path is not None:
            results |= self.member(path, name)
        return frozenset(results)

    def class_attribute(self, module: Module, node: ast.ClassDef, name: str, *, instance: bool) -> Values:
        """An attribute of a class or its instance: what the class, its bases and its subclasses put there."""
        results: set[Value] = set()
        if name == "__class__":
            return self.defined(module, node)
        shadowed = False
        bases = self.program.mro(module, node)
        family = bases + self.program.subclasses(module, node)
        for position, (owner, member) in enumerate(family):
            scope = owner.index.inner[member]
            below = position >= len(bases)
            for binding in scope.self_attributes.get(name, ()):
                results |= self.binding(owner, binding)
            bindings = scope.names.get(name, ())
            if bindings and (below or not shadowed):
                for binding in bindings:
                    if binding.kind == "def" and instance and _is_property(binding.node):
                        results |= self.program.returned(owner, binding.node)
                    else:
                        results |= self.binding(owner, binding)
                    if binding.kind == "annotation":
                        results |= self.program.field(owner, member, name)
                shadowed = shadowed or any(binding.kind != "annotation" for binding in bindings)
        if any(isinstance(value, Box) for value in results):
            for owner, member in family:
                for binding in owner.index.inner[member].self_items.get(name, ()):
                    results.add(Box("item", owner, binding=binding))
        if not results and not instance and name in ("remote", "options", "bind"):
            return self.defined(module, node)
        return frozenset(results)

    def _stored(self, module: Module, values: Values, name: str) -> Values:
        """What is stored by `receiver.name = ...` on any of these values, in the files where that could be."""
        results: set[Value] = set()
        for owner, receiver, binding in self.program.stores(module, name, values):
            if self.expr(owner, receiver) & values:
                results |= self.binding(owner, binding)
        if any(isinstance(value, Box) for value in results):
            for receiver, binding in module.index.attribute_items.get(name, ()):
                if self.expr(module, receiver) & values:
                    results.add(Box("item", module, binding=binding))
        return frozenset(results)

    def _unknown(self, module: Module, node: ast.Attribute) -> Values:
        """`args.run` where nothing is known of `args`: what is stored on the same name's `run`."""
        name = node.value
        stores = module.index.attributes.get(node.attr)
        if not stores or not isinstance(name, ast.Name):
            return EMPTY
        home = module.lookup(module.scope_of(name), name.id)
        return self._union(
            self.binding(module, binding)
            for receiver, binding in stores
            if isinstance(receiver, ast.Name) and receiver.id == name.id and home is not None
            and (other := module.lookup(module.scope_of(receiver), name.id)) is not None and other[0] is home[0]
        )

    def narrowed(self, module: Module, node: ast.Name | ast.Attribute) -> Values:
        """What `if isinstance(x, T):` around a use of `x` says of it."""
        name = terminal(node)
        asked = module.index.narrowed.get(name) if name else None
        if not asked:
            return EMPTY
        results: set[Value] = set()
        child: ast.AST = node
        parent = module.parent(child)
        wanted = ast.dump(node)
        while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            if (isinstance(parent, ast.If) and child is not parent.test and child not in parent.orelse) or (
                isinstance(parent, ast.IfExp) and child is parent.body
            ) or (isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And)):
                tested = parent.values if isinstance(parent, ast.BoolOp) else [parent.test]
                for test in tested:
                    for call in asked:
                        if child is not test and _holds(test, call) and ast.dump(call.args[0]) == wanted:
                            for kind in self._types(module, call.args[1]):
                                results |= self._instances(self.expr(module, kind))
            child, parent = parent, module.parent(parent)
        return frozenset(results)

    @staticmethod
    def _types(module: Module, node: ast.expr) -> list[ast.expr]:
        return node.elts if isinstance(node, ast.Tuple) else [node]

    # -- items, loops, with ------------------------------------------------------------------------------------------

    def item(self, values: Values, key: object) -> Values:
        """What `value[key]` may be; `key` is a constant, or None where it is not known."""
        results: set[Value] = set()
        for value in values:
            if isinstance(value, Box):
                results |= self._box_item(value, key)
            elif value.startswith(REPO):
                results |= self._method(value, "__getitem__")
            elif value.count("[") < 3 and not value.startswith("builtins."):
                results.add(value + "[]")
        return frozenset(results)

    def _box_item(self, box: Box, key: object) -> Values:
        module, node, binding = box.module, box.node, box.binding
        if box.kind == "bag":
            return box.values
        if box.kind == "tuple":
            if isinstance(key, int) and -len(box.items) <= key < len(box.items):
                return box.items[key]
            return self._union(box.items)
        if module is None:
            return EMPTY
        if binding is not None:
            if binding.kind == "merge":
                return self.item(self.expr(module, binding.node), key)
            put = _constant(binding.key) if binding.key is not None else None
            if key is not None and put is not None and put != key:
                return EMPTY
            return self.steps(module, self.expr(module, binding.node), binding.steps)
        if isinstance(node, _SEQUENCES):
            elements = node.elts
            if isinstance(key, int) and not any(isinstance(e, ast.Starred) for e in elements):
                return self.expr(module, elements[key]) if -len(elements) <= key < len(elements) else EMPTY
            return self.iterate(frozenset((box,)))
        if isinstance(node, ast.Dict):
            results: set[Value] = set()
            for entry, value in zip(node.keys, node.values):
                if entry is None:
                    results |= self.item(self.expr(module, value), key)
                else:
                    named = _constant(entry)
                    if key is None or named is None or named == key:
                        results |= self.expr(module, value)
            return frozenset(results)
        if isinstance(node, ast.DictComp):
            return self.expr(module, node.value)
        if isinstance(node, ast.Call):
            if box.kind == "rest":
                if isinstance(key, int) and key >= 0 and box.start + key < len(node.args):
                    return self.expr(module, node.args[box.start + key])
                return self.iterate(frozenset((box,)))
            return self._union(
                self.expr(module, k.value) if k.arg else self.item(self.expr(module, k.value), key)
                for k in node.keywords
                if k.arg is None or key is None or k.arg == key
            )
        return self.iterate(frozenset((box,)))

    def iterate(self, values: Values) -> Values:
        """What a loop over these values gives."""
        results: set[Value] = set()
        for value in values:
            if isinstance(value, str):
                if value.startswith(REPO):
                    made = self._method(value, "__iter__") | self._method(value, "__next__")
                    results |= self.iterate(frozenset(v for v in made if isinstance(v, Box)))
                elif value.count("[") < 3 and not value.startswith("builtins."):
                    results.add(value + "[]")
                continue
            module, node, binding = value.module, value.node, value.binding
            if value.kind == "bag":
                results |= value.values
            elif value.kind == "tuple":
                results |= self._union(value.items)
            elif module is None:
                continue
            elif binding is not None:
                if binding.key is None and binding.kind == "item":
                    results |= self.steps(module, self.expr(module, binding.node), binding.steps)
            elif value.kind == "generator":
                scope = module.index.inner[node] if node is not None else module.scope
                results |= self._union(self.expr(module, given) for given in scope.yields)
                results |= self._union(self.iterate(self.expr(module, given)) for given in scope.delegates)
            elif isinstance(node, _SEQUENCES):
                results |= self._elements(module, node.elts)
            elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
                results |= self.expr(module, node.elt)
            elif isinstance(node, ast.Call) and value.kind == "rest":
                results |= self._elements(module, node.args[value.start :])
        return frozenset(results)

    def _elements(self, module: Module, elements: Iterable[ast.expr]) -> Values:
        return self._union(
            self.iterate(self.expr(module, e.value)) if isinstance(e, ast.Starred) else self.expr(module, e)
            for e in elements
        )

    def enter(self, module: Module, values: Values) -> Values:
        """What `with value as name` binds: what `__enter__` returns, or the value itself."""
        results: set[Value] = set()
        for value in values:
            if isinstance(value, Box):
                results |= self.iterate(frozenset((value,))) if value.kind == "generator" else frozenset((value,))
            elif value.startswith(REPO):
                results |= self._method(value, "__enter__") or self._method(value, "__aenter__") or frozenset((value,))
            else:
                results.add(value)
        return frozenset(results)

    def _method(self, value: str, name: str) -> Values:
        """What calling a method of an in-repository instance gives."""
        if not value.endswith("()"):
            return EMPTY
        found = self.memo.get((value, name), self._repo_attribute, value, name)
        return self._union(
            self.program.returned(owner, node)
            for method in found
            if isinstance(method, str)
            for owner, node in self.program.entities(method)
        )

    # -- calls ---------------------------------------------------------------------------------------------------------

    def call(self, module: Module, node: ast.Call) -> Values:
        """What a call gives."""
        func = node.func
        if isinstance(func, ast.Attribute):
            receiver = self.expr(module, func.value)
            boxes = frozenset(value for value in receiver if isinstance(value, Box))
            results = set(self._container_method(module, func.attr, boxes, node)) if boxes else set()
            if func.attr == "enter_context" or func.attr == "enter_async_context":
                return self.enter(module, self._first(module, node))
            if func.attr == "options":
                # Ray's `Actor.options(...)` is the actor again.
                classes = frozenset(v for v in receiver if isinstance(v, str) and self.program.entities(v))
                if classes and classes & self.expr(module, func):
                    return classes
        elif isinstance(func, ast.Name) and func.id == "super" and self.expr(module, func) == {"builtins.super"}:
            return self._super(module, node)
        else:
            results = set()
        for value in self.expr(module, func):
            results |= self._called(module, node, value)
        return frozenset(results)

    def _called(self, module: Module, node: ast.Call, value: Value) -> Values:
        if isinstance(value, Box):
            return value.values if value.kind == "callable" else EMPTY
        if value.startswith(REPO):
            results: set[Value] = set()
            for owner, target in self.program.entities(value):
                if isinstance(target, ast.ClassDef):
                    results |= self._instances(self.defined(owner, target))
                else:
                    results |= self.program.returned(owner, target)
            if not results and value.endswith("()"):
                results |= self._method(value, "__call__")
            return frozenset(results)
        if value in _TRANSPARENT:
            return self._first(module, node) or frozenset((value + "()",))
        if value == "ray.remote()":
            return self._first(module, node)
        special = self._special(module, node, value)
        if special is not None:
            return special
        return frozenset((value + "()",)) if value.count("(") < _MAX_PARTS // 2 else EMPTY

    def _first(self, module: Module, node: ast.Call) -> Values:
        if not node.args:
            return EMPTY
        first = node.args[0]
        return self.iterate(self.expr(module, first.value)) if isinstance(first, ast.Starred) else self.expr(module, first)

    def _special(self, module: Module, node: ast.Call, value: str) -> Values | None:
        """Calls whose result is made of their arguments. None for all others."""
        arguments = node.args
        if value in _FROM_DICT:
            return self._first(module, node) | {Box("keywords", module, node), Box("bag")}
        if value in ("types.SimpleNamespace", "argparse.Namespace"):
            return frozenset((value + "()", Box("namespace", module, node)))
        if value == "builtins.getattr" and len(arguments) >= 2:
            name = _constant(arguments[1])
            found = self.attribute(module, self.expr(module, arguments[0]), name) if isinstance(name, str) else EMPTY
            return found | (self.expr(module, arguments[2]) if len(arguments) > 2 else EMPTY)
        if value == "builtins.next":
            return self.iterate(self._first(module, node)) | (self.expr(module, arguments[1]) if arguments[1:] else EMPTY)
        if value == "builtins.enumerate":
            return frozenset((_bag(frozenset((_tuple(EMPTY, self.iterate(self._first(module, node))),))),))
        if value == "builtins.zip":
            columns = [self.iterate(self.expr(module, argument)) for argument in arguments]
            return frozenset((_bag(frozenset((_tuple(*columns),))),))
        if value in ("builtins.filter", "builtins.map") and len(arguments) == 2:
            if value == "builtins.filter":
                return self.expr(module, arguments[1])
            made = self._union(self._called(module, node, function) for function in self.expr(module, arguments[0]))
            return frozenset((_bag(made),))
        if value == "builtins.type" and len(arguments) == 1:
            return frozenset(v[:-2] for v in self._first(module, node) if isinstance(v, str) and v.endswith("()"))
        if value == "typing.cast" and len(arguments) == 2:
            scope = module.scope_of(node)
            return self.annotation(module, scope, arguments[0]) | self.expr(module, arguments[1])
        if value in ("importlib.import_module", "builtins.__import__") and arguments:
            name = _constant(arguments[0])
            if isinstance(name, str) and not name.startswith("."):
                return self._imported(module, name if value.startswith("importlib") else name.partition(".")[0])
        return None

    def _container_method(self, module: Module, name: str, boxes: Values, node: ast.Call) -> Values:
        if name in ("get", "pop", "setdefault", "popleft", "__getitem__"):
            key = _constant(node.args[0]) if node.args else -1
            extra = self.expr(module, node.args[1]) if len(node.args) > 1 else EMPTY
            return self.item(boxes, key) | extra
        if name == "values":
            return frozenset((_bag(self.item(boxes, None)),))
        if name == "items":
            return frozenset((_bag(frozenset((_tuple(EMPTY, self.item(boxes, None)),))),))
        return boxes if name in ("copy", "__enter__") else EMPTY

    def _super(self, module: Module, node: ast.Call) -> Values:
        owner: ast.AST | None = module.enclosing_class(node)
        if owner is None:
            return EMPTY
        assert isinstance(owner, ast.ClassDef)
        return self._instances(self._union(self.expr(module, base) for base in owner.bases))

    @staticmethod
    def _instances(classes: Iterable[Value]) -> Values:
        return frozenset(f"{c}()" for c in classes if isinstance(c, str) and not c.startswith("builtins."))

    # -- annotations ---------------------------------------------------------------------------------------------------

    def annotation(self, module: Module, scope: Scope, node: ast.AST | None) -> Values:
        """The values that an annotation promises: instances of the types it names."""
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, str):
                return EMPTY
            parsed = self.program.parsed(module, scope, node)
            return self.annotation(module, scope, parsed)
        if isinstance(node, ast.BinOp):
            return self.annotation(module, scope, node.left) | self.annotation(module, scope, node.right)
        if isinstance(node, ast.Subscript):
            return self._generic(module, scope, node)
        if not isinstance(node, ast.Name | ast.Attribute):
            return EMPTY
        values = self.expr(module, node)
        alias = self._alias(module, node)
        if alias is not None:
            values |= self.memo.get(("alias", alias), self.annotation, module, module.scope, alias)
            return frozenset(v for v in values if isinstance(v, Box) or v.endswith("()"))
        return frozenset(f"{v}()" for v in values if isinstance(v, str) and _is_type(v))

    @staticmethod
    def _alias(module: Module, node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Name):
            for binding in module.scope.names.get(node.id, ()):
                if binding.kind == "value" and isinstance(binding.node, ast.Subscript | ast.BinOp):
                    return binding.node
        return None

    def _generic(self, module: Module, scope: Scope, node: ast.Subscript) -> Values:
        head = terminal(node.value) or ""
        inside = node.slice
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        if head in ("Literal", "TypeVar"):
            return EMPTY
        if head == "Annotated":
            parts = parts[:1]
        if head in _WRAPPERS:
            return self._union(self.annotation(module, scope, part) for part in parts)
        if head in ("type", "Type"):
            return frozenset(v[:-2] for v in self.annotation(module, scope, inside) if isinstance(v, str))
        if head == "Callable":
            made = self.annotation(module, scope, parts[-1])
            return frozenset((Box("callable", values=made),)) if made else EMPTY
        if head in _LISTS or head in _DICTS:
            if head in ("tuple", "Tuple") and not any(isinstance(p, ast.Constant) for p in parts):
                return frozenset((_tuple(*(self.annotation(module, scope, part) for part in parts)),))
            chosen = parts[-1:] if head in _DICTS else parts
            made = self._union(self.annotation(module, scope, part) for part in chosen)
            return frozenset((_bag(made),)) if made else EMPTY
        return self.annotation(module, scope, node.value)


def _bag(values: Values) -> Box:
    return Box("bag", values=values)


def _tuple(*items: Values) -> Box:
    return Box("tuple", items=items)


def _constant(node: ast.AST | None) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, int) else None
    return None


def _is_type(name: str) -> bool:
    return not name.startswith(("builtins.", "typing.", "typing_extensions.", "collections.abc.")) and not name.endswith(")")


def _is_property(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any((terminal(d.func if isinstance(d, ast.Call) else d) or "") in _PROPERTIES for d in decorators)


def _holds(test: ast.expr, call: ast.Call) -> bool:
    """Whether a condition implies a call in it: the call itself, or one side of an `and`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_holds(value, call) for value in test.values)
    return test is call


__all__ = ["EMPTY", "REPO", "AnyFunction", "Box", "Memo", "Resolver", "Value", "Values"]
