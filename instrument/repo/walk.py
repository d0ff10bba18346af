"""One walk of a file's tree: fills its scopes and its index."""

from __future__ import annotations

import ast
from collections.abc import Callable

from instrument.repo.scopes import (
    AnyFunction,
    Binding,
    Comprehension,
    Function,
    Index,
    Scope,
    ScopeKind,
    Step,
    arguments_of,
    terminal,
)
from instrument.repo.tree import children_of

#: Calls that call, or make something that calls, a function with arguments that they are given beside it.
APPLIERS = frozenset(
    "partial partialmethod Thread Timer Process spawn start_processes submit apply_async run_in_executor "
    "to_thread call_soon call_later map starmap notebook_launcher".split()
)

#: The attributes of a type of node that hold nodes, last one first.
_REVERSED: dict[type[ast.AST], tuple[str, ...]] = {}

_Pushed = list[tuple[ast.AST, ast.AST | None, Scope]]


class Walker:
    """Fills an Index and the scopes of one tree. Iterative: nesting depth costs no recursion."""

    def __init__(self, tree: ast.AST, scope: Scope, index: Index) -> None:
        self.index = index
        self.stack: _Pushed = [(tree, None, scope)]

    def run(self) -> None:
        stack, handlers, reversed_children = self.stack, _HANDLERS, _REVERSED
        parents, scopes = self.index.parents, self.index.scopes
        name_, constant, attribute = ast.Name, ast.Constant, ast.Attribute
        pop, push = stack.pop, stack.append
        while stack:
            node, parent, scope = pop()
            parents[node] = parent
            kind = type(node)
            # The three that most nodes are of, first.
            if kind is name_:
                scopes[node] = scope
                scope.used.add(node.id)  # type: ignore[attr-defined]
                continue
            if kind is constant:
                continue
            if kind is attribute:
                push((node.value, node, scope))  # type: ignore[attr-defined]
                continue
            handler = handlers.get(kind)
            if handler is not None and handler(self, node, scope):
                continue
            fields = reversed_children.get(kind)
            if fields is None:
                fields = _REVERSED[kind] = children_of(kind)[::-1]
            for name in fields:
                value = getattr(node, name, None)
                if value is None:
                    continue
                if type(value) is list:
                    for item in value[::-1]:
                        if item is not None:
                            push((item, node, scope))
                elif isinstance(value, ast.AST):
                    push((value, node, scope))

    def push(self, nodes: list[ast.AST], parent: ast.AST, scope: Scope) -> None:
        for node in reversed(nodes):
            self.stack.append((node, parent, scope))

    # -- binding -----------------------------------------------------------------------------------------------------

    def bind(self, scope: Scope, name: str, binding: Binding) -> None:
        target = scope
        if name in scope.globals:
            *_, target = scope.chain()
        target.names.setdefault(name, []).append(binding)
        scope.used.add(name)

    def instance_of(self, expression: ast.expr, scope: Scope) -> Scope | None:
        """The class scope whose instance (or class) `self` is, if the expression is a method's own first parameter."""
        if not isinstance(expression, ast.Name):
            return None
        for outer in scope.chain():
            if outer.self_name == expression.id and outer.parent is not None:
                return outer.parent
            if outer.kind == "function" and expression.id in outer.names:
                return None
        return None

    def assign(self, target: ast.expr, binding: Binding) -> None:
        """Bind a target, taking tuples apart."""
        scope = binding.scope
        if isinstance(target, ast.Name):
            self.bind(scope, target.id, binding)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, binding)
        elif isinstance(target, ast.Tuple | ast.List):
            size, after = len(target.elts), False
            for position, element in enumerate(target.elts):
                step: Step = position - size if after else position
                if isinstance(element, ast.Starred):
                    step, after = "rest", True
                self.assign(
                    element, Binding(binding.kind, binding.node, scope, (*binding.steps, step), key=binding.key)
                )
        elif isinstance(target, ast.Attribute):
            owner = self.instance_of(target.value, scope)
            if owner is not None:
                owner.self_attributes.setdefault(target.attr, []).append(binding)
            else:
                self.index.attributes[target.attr].append((target.value, binding))
        elif isinstance(target, ast.Subscript):
            key = None if isinstance(target.slice, ast.Slice) else target.slice
            self.put(target.value, Binding("item", binding.node, scope, binding.steps, key=key))

    def put(self, container: ast.expr, binding: Binding) -> None:
        """Note that something was put into a container."""
        if isinstance(container, ast.Name):
            self.index.name_items[container.id].append((binding.scope, binding))
        elif isinstance(container, ast.Attribute):
            owner = self.instance_of(container.value, binding.scope)
            if owner is not None:
                owner.self_items.setdefault(container.attr, []).append(binding)
            else:
                self.index.attribute_items[container.attr].append((container.value, binding))

    def open(self, kind: ScopeKind, node: ast.AST, scope: Scope, name: str) -> Scope:
        inner = Scope(kind, node, scope, f"{scope.qualname}.{name}" if scope.qualname else name)
        scope.children.append(inner)
        self.index.inner[node] = inner
        return inner

    # -- one method a node type; True says that the children are taken care of ---------------------------------------

    def call(self, node: ast.Call, scope: Scope) -> bool:
        index, func = self.index, node.func
        index.scopes[node] = scope
        index.calls.append(node)
        name = terminal(func)
        if name is not None:
            index.calls_by_name[name].append(node)
        elif isinstance(func, ast.Call) and terminal(func.func) == "type":
            index.calls_by_name["type"].append(node)  # `type(self)(...)`
        if isinstance(func, ast.Attribute):
            if func.attr in _MUTATORS:
                self.mutation(node, func, scope)
            elif func.attr in ("remote", "bind"):
                # Ray: `Actor.remote(...)`, `Actor.options(...).remote(...)`, `ray.remote(Actor).remote(...)`
                inner = func.value
                while isinstance(inner, ast.Call):
                    inner = inner.args[0] if terminal(inner.func) == "remote" and inner.args else inner.func
                    if isinstance(inner, ast.Attribute) and inner.attr == "options":
                        inner = inner.value
                actor = terminal(inner)
                if actor is not None and actor != name:
                    index.calls_by_name[actor].append(node)
        elif name == "isinstance" and len(node.args) == 2:
            asked = terminal(node.args[0])
            if asked is not None:
                index.narrowed[asked].append(node)
        elif name == "setattr" and len(node.args) == 3 and isinstance(node.args[1], ast.Constant):
            target = ast.Attribute(node.args[0], str(node.args[1].value), ast.Store())
            self.assign(target, Binding("value", node.args[2], scope))
        if name in APPLIERS or any(keyword.arg == "args" for keyword in node.keywords):
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                passed = terminal(value)
                if passed is not None:
                    index.passed[passed].append(node)
        return False

    def mutation(self, node: ast.Call, func: ast.Attribute, scope: Scope) -> None:
        given = node.args
        if func.attr in ("append", "add", "appendleft") and len(given) == 1:
            self.put(func.value, Binding("item", given[0], scope))
        elif func.attr == "insert" and len(given) == 2:
            self.put(func.value, Binding("item", given[1], scope))
        elif func.attr == "setdefault" and len(given) == 2:
            self.put(func.value, Binding("item", given[1], scope, key=given[0]))
        elif func.attr == "extend" and len(given) == 1:
            self.put(func.value, Binding("item", given[0], scope, ("iter",)))
        elif func.attr == "update":
            for argument in given[:1]:
                self.put(func.value, Binding("merge", argument, scope))
            for keyword in node.keywords:
                key = ast.Constant(keyword.arg) if keyword.arg else None
                self.put(func.value, Binding("item" if key else "merge", keyword.value, scope, key=key))

    def assignment(self, node: ast.Assign, scope: Scope) -> bool:
        for target in node.targets:
            self.assign(target, Binding("value", node.value, scope))
        return False

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> bool:
        if node.value is not None:
            self.assign(node.target, Binding("value", node.value, scope))
        self.assign(node.target, Binding("annotation", node.annotation, scope))
        return False

    def augmented(self, node: ast.AugAssign, scope: Scope) -> bool:
        if not isinstance(node.target, ast.Subscript):
            self.assign(node.target, Binding("value", node.value, scope))
        return False

    def loop(self, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
        self.assign(node.target, Binding("value", node.iter, scope, ("iter",)))
        return False

    def entered(self, node: ast.withitem, scope: Scope) -> bool:
        if node.optional_vars is not None:
            self.assign(node.optional_vars, Binding("value", node.context_expr, scope, ("enter",)))
        return False

    def walrus(self, node: ast.NamedExpr, scope: Scope) -> bool:
        home = next((s for s in scope.chain() if s.kind != "comprehension"), scope)
        # The value is read where it stands: its names carry their own scopes.
        self.assign(node.target, Binding("value", node.value, home))
        return False

    def imported(self, node: ast.Import, scope: Scope) -> bool:
        for alias in node.names:
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            self.bind(scope, alias.asname or dotted, Binding("module", node, scope, dotted=dotted, name=alias.name))
        return False

    def imported_from(self, node: ast.ImportFrom, scope: Scope) -> bool:
        for alias in node.names:
            binding = Binding("from", node, scope, dotted=node.module or "", level=node.level, name=alias.name)
            if alias.name == "*":
                self.index.stars.append(binding)
            else:
                self.bind(scope, alias.asname or alias.name, binding)
                if alias.asname:
                    self.index.aliases[alias.name].add(alias.asname)
        return False

    def function(self, node: Function, scope: Scope) -> bool:
        self.bind(scope, node.name, Binding("def", node, scope))
        inner = self.open("function", node, scope, node.name)
        self.index.definitions.append((inner.qualname, node))
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        static = any(terminal(decorator) == "staticmethod" for decorator in node.decorator_list)
        if scope.kind == "class" and first is not None and not static:
            inner.self_name = first.arg
        self.parameters(node, inner)
        self.push([*node.body], node, inner)
        around: list[ast.AST] = [*node.decorator_list, node.args, *getattr(node, "type_params", ())]
        self.push([*around, node.returns] if node.returns else around, node, scope)
        return True

    def parameters(self, node: AnyFunction, inner: Scope) -> None:
        for argument in arguments_of(node):
            self.bind(inner, argument.arg, Binding("param", node, inner, name=argument.arg))

    def function_literal(self, node: ast.Lambda, scope: Scope) -> bool:
        inner = self.open("function", node, scope, f"<lambda {node.lineno}:{node.col_offset}>")
        self.index.definitions.append((inner.qualname, node))
        self.parameters(node, inner)
        inner.returns.append(node.body)
        self.push([node.body], node, inner)
        self.push([node.args], node, scope)
        return True

    def class_(self, node: ast.ClassDef, scope: Scope) -> bool:
        self.bind(scope, node.name, Binding("def", node, scope))
        inner = self.open("class", node, scope, node.name)
        self.index.definitions.append((inner.qualname, node))
        for base in node.bases:
            named = terminal(base.value if isinstance(base, ast.Subscript) else base)
            if named is not None:
                self.index.classes_by_base[named].append(node)
        self.push([*node.body], node, inner)
        self.push([*node.decorator_list, *getattr(node, "type_params", ()), *node.bases, *node.keywords], node, scope)
        return True

    def comprehension(self, node: Comprehension, scope: Scope) -> bool:
        inner = self.open("comprehension", node, scope, "<comprehension>")
        results: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for position, part in enumerate(node.generators):
            self.index.parents[part] = node
            self.assign(part.target, Binding("value", part.iter, inner, ("iter",)))
            self.push([part.target, *part.ifs], part, inner)
            self.push([part.iter], part, inner if position else scope)
        self.push(results, node, inner)
        return True

    def declared_global(self, node: ast.Global, scope: Scope) -> bool:
        scope.globals.update(node.names)
        scope.used.update(node.names)
        return True

    def declared_nonlocal(self, node: ast.Nonlocal, scope: Scope) -> bool:
        scope.nonlocals.update(node.names)
        scope.used.update(node.names)
        return True

    def caught(self, node: ast.ExceptHandler, scope: Scope) -> bool:
        if node.name:
            self.bind(scope, node.name, Binding("opaque", node, scope))
        return False

    def captured(self, node: ast.MatchAs | ast.MatchStar, scope: Scope) -> bool:
        if node.name is None:
            return False
        binding = Binding("opaque", node, scope)
        if isinstance(node, ast.MatchAs):
            if isinstance(node.pattern, ast.MatchClass):
                binding = Binding("annotation", node.pattern.cls, scope)
            else:
                case = self.index.parents.get(node)
                match = self.index.parents.get(case) if isinstance(case, ast.match_case) else None
                if isinstance(match, ast.Match):
                    binding = Binding("value", match.subject, scope)
        self.bind(scope, node.name, binding)
        return False

    def captured_mapping(self, node: ast.MatchMapping, scope: Scope) -> bool:
        if node.rest:
            self.bind(scope, node.rest, Binding("opaque", node, scope))
        return False

    def returned(self, node: ast.Return, scope: Scope) -> bool:
        if node.value is not None:
            scope.returns.append(node.value)
        return False

    def yielded(self, node: ast.Yield | ast.YieldFrom, scope: Scope) -> bool:
        home = next((s for s in scope.chain() if s.kind != "comprehension"), scope)
        home.generator = True
        if node.value is not None:
            (home.delegates if isinstance(node, ast.YieldFrom) else home.yields).append(node.value)
        return False


_MUTATORS = frozenset("append add appendleft insert setdefault extend update".split())

_HANDLERS: dict[type[ast.AST], Callable[..., bool]] = {
    ast.Call: Walker.call,
    ast.Assign: Walker.assignment,
    ast.AnnAssign: Walker.annotated,
    ast.AugAssign: Walker.augmented,
    ast.For: Walker.loop,
    ast.AsyncFor: Walker.loop,
    ast.withitem: Walker.entered,
    ast.NamedExpr: Walker.walrus,
    ast.Import: Walker.imported,
    ast.ImportFrom: Walker.imported_from,
    ast.FunctionDef: Walker.function,
    ast.AsyncFunctionDef: Walker.function,
    ast.Lambda: Walker.function_literal,
    ast.ClassDef: Walker.class_,
    ast.ListComp: Walker.comprehension,
    ast.SetComp: Walker.comprehension,
    ast.GeneratorExp: Walker.comprehension,
    ast.DictComp: Walker.comprehension,
    ast.Global: Walker.declared_global,
    ast.Nonlocal: Walker.declared_nonlocal,
    ast.ExceptHandler: Walker.caught,
    ast.MatchAs: Walker.captured,
    ast.MatchStar: Walker.captured,
    ast.MatchMapping: Walker.captured_mapping,
    ast.Return: Walker.returned,
    ast.Yield: Walker.yielded,
    ast.YieldFrom: Walker.yielded,
}


def collect(tree: ast.Module) -> tuple[Scope, Index]:
    """Walk a file's tree once. Returns its module scope and everything that was noted on the way."""
    scope, index = Scope("module", tree, None), Index()
    index.inner[tree] = scope
    Walker(tree, scope, index).run()
    for inner in scope.subtree():
        for name in inner.nonlocals:
            bound = inner.names.pop(name, [])
            for outer in list(inner.chain())[1:]:
                if outer.kind == "function" and (name in outer.names or outer.parent is scope):
                    outer.names.setdefault(name, []).extend(bound)
                    break
    index.calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return scope, index


def adopt(expression: ast.expr, parent: ast.AST, scope: Scope, index: Index) -> None:
    """Give an expression that was parsed later (a string annotation) its place in the file."""
    walker = Walker(expression, scope, Index(parents=index.parents, scopes=index.scopes, inner=index.inner))
    walker.run()
    index.parents[expression] = parent
