"""Whether code trains: it steps an optimizer, takes gradients, updates parameters; or its names and metrics say so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from instrument.plan.loops.units import Code, Loop, Unit, inside
from instrument.plan.loops.values import name_of
from instrument.plan.loops.words import is_metric, tokens

if TYPE_CHECKING:
    from instrument.repo.names import Module

_OPTIMIZER = re.compile(
    r"opt\w*|.*optim\w*|.*(?:_opt|Opt)\d?|scaler|grad_scaler|solver|engine|model_engine|sgd|adam\w*|tx", re.IGNORECASE
)
#: Calls that only training makes, by their last name.
_TRAINING = frozenset(
    "backward manual_backward apply_gradients apply_updates partial_fit train_on_batch minimize value_and_grad "
    "training_step optimizer_step backward_step".split()
)  # fmt: skip
#: Calls that train when they are made on one of these.
_OF_AGENTS = frozenset("learn update train optimize replay train_step optimize_model update_q_table remember".split())
_RATES = re.compile(r"(?:\w*_)?(?:lr|learning_rate|learningrate|step_size|eta|alpha)", re.IGNORECASE)
_GRADIENTS = re.compile(
    r"(?:\w*_)?(?:d[wb]\d?|grads?|gradients?|d_?[wbWB]\w{0,2}|grad_\w+|\w*grad\w*|delta_\w+|nabla_\w+)", re.IGNORECASE
)
_NAMED = frozenset(
    "train trains trainer training fit fitting learn learner learning pretrain pretraining finetune finetuning".split()
)
_NOT_TRAINING = frozenset(
    "eval evaluate evaluation test infer inference predict prediction serve server demo generate sample preprocess "
    "prepare download convert export benchmark bench plot visualize viz data dataset tokenize play".split()
)  # fmt: skip
EPOCHS = frozenset(
    "epoch epochs step steps iter iters iteration iterations it episode episodes ep update updates round rounds batch "
    "generation generations".split()
)  # fmt: skip
TRIALS = frozenset(
    "fold folds kfold trial trials seed seeds run runs rep reps repeat repeats exp experiment experiments lr lrs config "
    "configs cfg hparam hparams setting settings model models dataset datasets optimizer optimizers alpha lambda "
    "replication".split()
)  # fmt: skip


#: Files of these check something else: what they train is thrown away.
CHECKS = frozenset("check checks test tests testing bench benchmark benchmarks profile".split())
#: How many calls an update of parameters may be away from the loop.
_DEEP = 3


class Evidence:
    """What each unit and loop of a program shows of training."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._units: dict[Unit, bool] = {}
        #: Units that update parameters themselves, whatever they call.
        self.direct = {unit for unit in code.units if updated(unit.module, unit.node.body)}

    def trains(self, unit: Unit, depth: int = 0) -> bool:
        """Whether a unit, or one that it calls, updates parameters."""
        if unit not in self._units:
            self._units[unit] = False  # while it is being found out
            if depth < _DEEP:
                self._units[unit] = self._in(unit.module, unit.node.body, depth)
        return self._units[unit]

    def _in(self, module: Module, nodes: list[ast.stmt], depth: int = 0) -> bool:
        if self.updates(module, nodes):
            return True
        if any(self.trains(unit, depth + 1) for unit in self._code.nested_in(nodes)):
            return True
        return any(self.trains(unit, depth + 1) for _, unit in self._code.called_in(module, nodes))

    def loop_trains(self, unit: Unit, loop: Loop) -> bool:
        """Whether each turn of a loop, or a function called in it, updates parameters."""
        return self._in(unit.module, [*loop.body, *_drawn(self._code, unit, loop)])

    def updates(self, module: Module, nodes: Iterable[ast.AST]) -> bool:
        """Whether some statements update parameters themselves."""
        return bool(updated(module, nodes))

    def seems_to_train(self, unit: Unit, loop: Loop, metrics: Iterable[tuple[str, ast.expr]]) -> bool:
        """Whether names and metrics say that a loop trains, where no update of parameters is seen.

        `metrics` are the keys and expressions of the loop's metrics; one of them must change with the loop.
        """
        values = [node for key, node in metrics if is_metric(key, sure=True) or is_metric(name_of(node), sure=True)]
        changing = [node for node in values if _changes(loop, node)]
        if not changing:
            return False
        named = self._names(unit, loop)
        called = any(
            isinstance(node, ast.Call) and {*tokens(name_of(node.func))} & {"train", "fit", "learn", "step", "update"}
            for node in inside(loop.body)
        )
        return named > 0 and named + called + bool(EPOCHS & set(loop_words(loop))) >= 2

    def is_named(self, unit: Unit, loop: Loop) -> bool:
        """Whether a loop is called a training: by its function, class, file or counter."""
        return self._names(unit, loop) > 0

    @staticmethod
    def _names(unit: Unit, loop: Loop) -> int:
        stem = unit.module.path.rpartition("/")[2].rpartition(".")[0]
        own = set(tokens(unit.name))
        if _NOT_TRAINING & {*own, *tokens(stem)} and not _NAMED & own:
            return 0
        owner = tokens(unit.owner.name) if unit.owner is not None else []
        of_training = sum(bool(_NAMED & set(words)) for words in (own, tokens(stem), owner))
        return of_training + bool({"epoch", "epochs"} & set(loop_words(loop)))

    def is_trial(self, unit: Unit, loop: Loop) -> bool:
        """Whether each turn of a loop is a training of its own: folds, seeds, settings, a model made anew.

        False for a loop over epochs, steps or episodes, whatever is made in it.
        """
        words = set(loop_words(loop))
        if EPOCHS & words:
            return False
        if TRIALS & words:
            return True
        state = trained_in(unit.module, loop.body)
        for call, callee in self._code.called_in(unit.module, loop.body):
            if self.trains(callee):
                if isinstance(call.func, ast.Attribute):
                    state.add(_root(call.func.value))
                if callee.owner is None and self.is_self_contained(callee):
                    return True
                state.update(_root(a) for a in call.args if isinstance(a, (ast.Name, ast.Attribute)))
        made = {name for name, value in _bound(loop.body) if _makes(value)}
        state.discard("self")
        return bool(made & _followed(loop.body, state) & _models_of(loop.body, state))

    def is_self_contained(self, unit: Unit) -> bool:
        """Whether a unit makes what it trains: calling it again is another training."""
        if not any(self.loop_trains(unit, loop) for loop in unit.loops()):
            return False
        state = trained_in(unit.module, unit.node.body)
        if not state:
            # Updates are made by what it calls: the models that it makes and hands on, or calls a method of.
            for call, callee in self._code.called_in(unit.module, unit.node.body):
                if self.trains(callee):
                    state.update(_root(a) for a in call.args if isinstance(a, (ast.Name, ast.Attribute)))
                    if isinstance(call.func, ast.Attribute):
                        state.add(_root(call.func.value))
        before = [stmt for stmt in unit.node.body if not isinstance(stmt, (ast.For, ast.While))]
        bound = list(_bound(before))
        made = {name for name, value in bound if _makes(value)}
        given = set(unit.parameters)
        origins = _followed(before, state)
        return bool(made & origins) and not (origins & given & _models_of(before, state))


def _drawn(code: Code, unit: Unit, loop: Loop) -> list[ast.stmt]:
    """The bodies of generators that a loop draws from: they run turn by turn with it."""
    if isinstance(loop, ast.While):
        return []
    bodies: list[ast.stmt] = []
    for _, callee in code.called_in(unit.module, [loop.iter]):
        if callee.is_generator:
            bodies += callee.node.body
    return bodies


def updated(module: Module, nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """The nodes that update parameters: calls that only training makes, `w -= lr * grad`, `Q[s] += alpha * error`."""
    found: list[ast.AST] = []
    steps: list[ast.AST] = []
    for node in inside(nodes):
        if isinstance(node, ast.Call):
            if _training_call(node):
                found.append(node)
            elif isinstance(node.func, ast.Attribute) and node.func.attr in _OF_AGENTS | {"step"}:
                steps.append(node)
        elif isinstance(node, (ast.AugAssign, ast.Assign)) and _is_update(node):
            found.append(node)
    if not found:
        called = {
            (name_of(n.func.value).lower(), n.func.attr)
            for n in steps
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
        }
        of_env = any("env" in receiver and method == "step" for receiver, method in called)
        agent = [n for n in steps if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _OF_AGENTS
                 and re.search(r"agent|learner|policy|dqn|ppo|algo|brain", name_of(n.func.value).lower())]  # fmt: skip
        if of_env and agent:
            found += agent
    return found


def _training_call(call: ast.Call) -> bool:
    func = call.func
    if not isinstance(func, ast.Attribute):
        return isinstance(func, ast.Name) and func.id in ("value_and_grad",)
    if func.attr in _TRAINING:
        return not (func.attr == "minimize" and name_of(func.value) in ("optimize", "scipy", "so", "opt"))
    if func.attr == "step":
        receiver = func.value
        name = name_of(receiver) if not isinstance(receiver, ast.Subscript) else name_of(receiver.value)
        return bool(_OPTIMIZER.fullmatch(name))
    if func.attr == "update":
        return name_of(func.value).lower() in ("booster", "bst", "optimizer", "optim", "opt", "tx")
    if func.attr == "gradient":
        return "tape" in name_of(func.value).lower()
    return func.attr == "grad" and isinstance(func.value, ast.Name) and func.value.id in ("jax", "autograd")


def _is_update(node: ast.AugAssign | ast.Assign) -> bool:
    if isinstance(node, ast.AugAssign):
        if not isinstance(node.op, (ast.Sub, ast.Add)):
            return False
        if isinstance(node.op, ast.Sub) and any(_GRADIENTS.fullmatch(word) for word in _identifiers(node.value)):
            return True
        return any(
            isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult) and _has_rate(part) for part in ast.walk(node.value)
        ) and (isinstance(node.op, ast.Sub) or isinstance(node.target, ast.Subscript) or bool(
            [word for word in _identifiers(node.value) if _GRADIENTS.fullmatch(word) or word in ("error", "err", "delta", "td_error")]
        ))  # fmt: skip
    if (
        len(node.targets) != 1
        or not isinstance(node.value, ast.BinOp)
        or not isinstance(node.value.op, (ast.Sub, ast.Add))
    ):
        return False
    target = ast.unparse(node.targets[0])
    itself = ast.unparse(node.value.left) == target
    rate = any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult) and _has_rate(part)
        for part in ast.walk(node.value.right)
    )
    if itself and isinstance(node.value.op, ast.Sub):
        return rate or any(_GRADIENTS.fullmatch(word) for word in _identifiers(node.value.right))
    if itself:
        return rate and isinstance(node.targets[0], ast.Subscript)
    # Q[s, a] = (1 - alpha) * Q[s, a] + alpha * target
    return rate and isinstance(node.targets[0], ast.Subscript)


def _has_rate(product: ast.BinOp) -> bool:
    return any(_RATES.fullmatch(word) for side in (product.left, product.right) for word in _identifiers(side))


def _identifiers(node: ast.AST) -> list[str]:
    return [
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))
    ]


def loop_words(loop: Loop) -> list[str]:
    """The words in what a loop counts by: its targets and what it goes over, or its condition."""
    nodes: list[ast.AST] = [loop.test] if isinstance(loop, ast.While) else [loop.target]
    if isinstance(loop, ast.While):
        if isinstance(loop.test, ast.Constant):  # `while True:` counts by what it adds to in each turn
            nodes += [stmt.target for stmt in loop.body if isinstance(stmt, ast.AugAssign)]
    else:
        source = loop.iter
        # `range(args.epochs)`, `tqdm(range(n_steps), desc="epochs")`: the words of the target come first.
        nodes.append(source)
    return [word for node in nodes for name in _identifiers(node) for word in tokens(name)]


def trained_in(module: Module, nodes: Iterable[ast.AST]) -> set[str]:
    """The names of what is trained in some statements: optimizers that step, arrays that are updated."""
    names: set[str] = set()
    for node in updated(module, nodes):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("step", "apply_gradients", "partial_fit", "train_on_batch", "minimize", "update"):
                names.add(_root(node.func.value))
        elif isinstance(node, ast.AugAssign):
            names.add(_root(node.target))
        elif isinstance(node, ast.Assign):
            names.add(_root(node.targets[0]))
    return names


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _bound(nodes: Iterable[ast.AST]) -> Iterable[tuple[str, ast.expr]]:
    for node in inside(nodes):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name in [target] if not isinstance(target, ast.Tuple) else target.elts:
                    if isinstance(name, ast.Name):
                        yield name.id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _makes(value: ast.expr) -> bool:
    """Whether a value is made anew: a class called, an array of zeros or of random numbers."""
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in (
            "to",
            "cuda",
            "cpu",
            "double",
            "float",
            "eval",
            "train",
        ):
            return _makes(value.func.value)
        last = name_of(value.func) if not isinstance(value.func, ast.Attribute) else value.func.attr
        return last[:1].isupper() or bool(
            {"zeros", "ones", "randn", "rand", "normal", "uniform", "random", "empty", "init", "build", "make", "create",
             "get", "clone", "deepcopy", "model"}
            & set(tokens(last))
        )  # fmt: skip
    return (
        isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    )


def _followed(nodes: Iterable[ast.AST], names: set[str]) -> set[str]:
    """The names, and those that the named things were made of (`SGD(model.parameters())`)."""
    bound: dict[str, list[ast.expr]] = {}
    for name, value in _bound(nodes):
        bound.setdefault(name, []).append(value)
    found, queue = set(names), list(names)
    while queue:
        for value in bound.get(queue.pop(), ()):
            for node in ast.walk(value):
                if isinstance(node, ast.Name) and node.id not in found:
                    found.add(node.id)
                    queue.append(node.id)
    return found


def _models_of(nodes: Iterable[ast.AST], state: set[str]) -> set[str]:
    """Of the trained names and what they were made of, the ones that hold parameters: an optimizer's model."""
    bound = dict(_bound(nodes))
    models: set[str] = set()
    for name in state:
        value = bound.get(name)
        inner = {
            _root(node)
            for node in (ast.walk(value) if value is not None else ())
            if isinstance(node, ast.Attribute) and node.attr in ("parameters", "named_parameters", "trainable_variables", "weights")
        }  # fmt: skip
        models |= inner or {name}
    return models


def _changes(loop: Loop, node: ast.expr) -> bool:
    """Whether an expression has another value in each turn of a loop: something in it is bound there, or it calls."""
    bound = {n.id for n in inside(loop.body) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    if not isinstance(loop, ast.While):
        bound |= {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    parts = list(ast.walk(node))
    return any(isinstance(n, ast.Name) and n.id in bound for n in parts) or any(
        isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self" for n in parts
    )
