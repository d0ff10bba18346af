"""A count of what sends metrics or builds a trainer, made without the engine: names and imports of one file, nothing more.

It is meant to be simple enough to be right: what it counts and the engine does not see is a gap in one of the two.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Functions that send, by the module that has them.
_MODULE_CALLS = {
    "wandb": {"log"},
    "mlflow": {"log_metric", "log_metrics"},
    "trackio": {"log"},
    "swanlab": {"log"},
    "ray.train": {"report"},
    "ray.tune": {"report"},
    "ray.air.session": {"report"},
}
#: What makes an object that sends: the call's last name, the modules it comes from, the methods that send.
_OBJECTS = [
    ("init", ("wandb",), {"log"}),
    ("init", ("trackio", "swanlab"), {"log"}),
    ("SummaryWriter", ("torch.utils.tensorboard", "tensorboardX", "torch.utils"), {"add_scalar", "add_scalars"}),
    ("Experiment", ("comet_ml",), {"log_metric", "log_metrics"}),
    ("Run", ("aim",), {"track"}),
    ("Accelerator", ("accelerate",), {"log"}),
]
#: Methods by which a LightningModule logs.
_SELF_LOGS = ("log", "log_dict")
#: Trainers by the package they are imported from, as their names are written.
_TRAINERS = {
    "transformers": re.compile(r"(?:Seq2Seq)?Trainer"),
    "trl": re.compile(r"\w+Trainer"),
    "setfit": re.compile(r"Trainer"),
    "sentence_transformers": re.compile(r"\w*Trainer"),
    "lightning": re.compile(r"Trainer"),
    "pytorch_lightning": re.compile(r"Trainer"),
    "xgboost": re.compile(r"train"),
    "lightgbm": re.compile(r"train"),
    "stable_baselines3": re.compile(r"A2C|PPO|DQN|SAC|TD3|DDPG"),
    "sb3_contrib": re.compile(r"ARS|TRPO|TQC|QRDQN|CrossQ|\w+PPO"),
}


_SUBMODULES = {"lightning.pytorch", "torch.utils.tensorboard", "ray.train", "ray.tune", "ray.air.session"}
#: A file with none of these words has no emitter.
_WORDS = (
    b"log",
    b"add_scalar",
    b"track",
    b"Trainer",
    b"report",
    b"xgboost",
    b"lightgbm",
    b"stable_baselines3",
    b"sb3_contrib",
)


@dataclass(frozen=True, slots=True)
class Emitter:
    """One place: `kind` is "send" or "build", `what` the callee as it is written."""

    path: str
    line: int
    kind: str
    what: str


def count(root: Path, paths: list[str]) -> list[Emitter]:
    """The emitters of Python files and notebooks below a folder, by path and line."""
    found: list[Emitter] = []
    for path in paths:
        try:
            data = (root / path).read_bytes()
        except OSError:
            continue
        if not any(word in data for word in _WORDS):
            continue
        if path.endswith(".py"):
            found += _in_file(path, data)
        elif path.endswith(".ipynb"):
            found += _in_notebook(path, data)
    return found


def _parsed(text: str | bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _in_file(path: str, data: bytes) -> Iterator[Emitter]:
    tree = _parsed(data)
    if tree is not None:
        for line, kind, what in _calls([tree]):
            yield Emitter(path, line, kind, what)


def _in_notebook(path: str, data: bytes) -> Iterator[Emitter]:
    """Cells one by one, lines of magics left out; the line is that of the call's text in the file."""
    try:
        cells = json.loads(data)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError):
        return
    trees = [
        tree
        for source in sources
        if not source.lstrip().startswith("%%")
        if (tree := _parsed("\n".join("pass" if re.match(r"\s*[%!]", line) else line for line in source.split("\n"))))
    ]
    for _, kind, what in _calls(trees):
        yield Emitter(path, 0, kind, what)


def _calls(trees: list[ast.Module]) -> Iterator[tuple[int, str, str]]:
    modules, senders, trainers = _imports(trees)
    trainers |= _subclasses(trees, modules, trainers)
    handles = _handles(trees, modules, senders)
    own = _module_logs(trees, modules)
    for tree in trees:
        owners = _owners(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            func = node.func
            if isinstance(func, ast.Attribute):
                receiver, method = _dotted(func.value), func.attr
                owner = owners.get(id(node), "") if receiver.startswith("self.") else ""
                known = handles.get(f"{owner}.{receiver}", handles.get(receiver.rpartition(".")[2], set()))
                if (
                    method in _MODULE_CALLS.get(_module(receiver, modules), ())
                    or (receiver.endswith(".run") and method == "log" and modules.get(receiver[:-4]) == "wandb")
                    or method in known
                ):
                    yield node.lineno, "send", f"{receiver}.{method}"
                elif receiver == "self" and id(node) in own:
                    yield node.lineno, "log", f"{receiver}.{method}"
                elif receiver.split(".")[0] in modules and _is_trainer(_module(receiver, modules), method):
                    if method == "train" and not _evaluates(node):
                        continue
                    yield node.lineno, "build", f"{receiver}.{method}"
            elif isinstance(func, ast.Name):
                if senders.get(func.id) == "send":
                    yield node.lineno, "send", func.id
                elif func.id in trainers:
                    yield node.lineno, "build", func.id


def _evaluates(call: ast.Call) -> bool:
    """Whether `xgboost.train` or `lightgbm.train` is given a set to evaluate; else there is no metric."""
    return any(keyword.arg in ("evals", "valid_sets", None) for keyword in call.keywords)


def _module(receiver: str, modules: dict[str, str]) -> str:
    """The module that a receiver stands for: `train` or `ray.train`, or nothing."""
    first, _, rest = receiver.partition(".")
    return f"{modules[first]}{'.' + rest if rest else ''}" if first in modules else ""


def _module_logs(trees: list[ast.Module], modules: dict[str, str]) -> set[int]:
    """Calls of self.log and self.log_dict in classes that have LightningModule as a base."""
    return {
        id(call)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(_dotted(base).rpartition(".")[2] == "LightningModule" for base in node.bases)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _SELF_LOGS
    }


def _subclasses(trees: list[ast.Module], modules: dict[str, str], trainers: set[str]) -> set[str]:
    """Classes of this file that have an imported trainer as a base."""
    found: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for base in map(_dotted, node.bases):
                    module, _, name = base.rpartition(".")
                    if base in trainers or (module and _is_trainer(_module(module, modules), name)):
                        found.add(node.name)
    return found


def _is_trainer(module: str, name: str) -> bool:
    pattern = _TRAINERS.get(module.split(".")[0])
    return pattern is not None and bool(pattern.fullmatch(name))


def _imports(trees: list[ast.Module]) -> tuple[dict[str, str], dict[str, str], set[str]]:
    """Modules by local name, functions that send or open by local name, and trainers' local names."""
    modules: dict[str, str] = {}
    functions: dict[str, str] = {}
    trainers: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    modules[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    local = alias.asname or alias.name
                    if alias.name in _MODULE_CALLS.get(node.module, ()):
                        functions[local] = "send"
                    elif any(
                        alias.name == name and (node.module in origins or name == "SummaryWriter")
                        for name, origins, _ in _OBJECTS
                    ):
                        functions[local] = f"open {alias.name}"
                    elif _is_trainer(node.module, alias.name):
                        trainers.add(local)
                    elif f"{node.module}.{alias.name}" in _SUBMODULES:
                        modules[local] = f"{node.module}.{alias.name}"
    return modules, functions, trainers


def _owners(tree: ast.Module) -> dict[int, str]:
    """The class around each node that is in one, by the node's id; of nested classes the inner one."""
    found: dict[int, str] = {}
    for node in ast.walk(tree):  # outer classes come first
        if isinstance(node, ast.ClassDef):
            found.update((id(inner), node.name) for inner in ast.walk(node))
    return found


def _handles(trees: list[ast.Module], modules: dict[str, str], functions: dict[str, str]) -> dict[str, set[str]]:
    """The last names of what objects that send are assigned to, with the methods that send.

    An attribute of `self` is kept with its class as well ("Logger.self.run"), where also what does not send is noted:
    another class of the file may have something else under that name.
    """
    handles: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
                name = node.arg if isinstance(node, ast.arg) else _dotted(node.target).rpartition(".")[2]
                methods = _annotated(node.annotation, modules, functions)
                if methods:
                    handles.setdefault(name, set()).update(methods)
    for tree in trees:
        owners = _owners(tree)
        for node in ast.walk(tree):
            pairs: list[tuple[ast.expr, ast.expr]] = []
            if isinstance(node, ast.Assign):
                pairs = [(target, node.value) for target in node.targets]
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                pairs = [(node.optional_vars, node.context_expr)]
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                pairs = [(node.target, node.value)]
            for target, value in pairs:
                methods, name = _opened(value, modules, functions), _dotted(target)
                if isinstance(value, ast.Name):  # self.writer = writer
                    methods = methods | handles.get(value.id, set())
                if isinstance(node, ast.AnnAssign):
                    methods = methods | _annotated(node.annotation, modules, functions)
                if name.startswith("self."):
                    handles.setdefault(f"{owners.get(id(node), '')}.{name}", set()).update(methods)
                if methods:
                    handles.setdefault(name.rpartition(".")[2], set()).update(methods)
    handles.pop("", None)
    return handles


def _annotated(annotation: ast.expr, modules: dict[str, str], functions: dict[str, str]) -> set[str]:
    """The methods that send of what an annotation names, also within Optional and unions."""
    methods: set[str] = set()
    for node in ast.walk(annotation):
        name = _dotted(node)
        module, _, last = name.rpartition(".")
        for opener, origins, sends in _OBJECTS:
            imported = functions.get(name) == f"open {opener}"
            if opener != "init" and (imported or (last == opener and _module(module, modules) in origins)):
                methods |= sends
        if modules.get(name.split(".")[0]) == "wandb" and last == "Run":
            methods |= {"log"}
    return methods


def _opened(value: ast.expr, modules: dict[str, str], functions: dict[str, str]) -> set[str]:
    if isinstance(value, ast.IfExp):  # run = Quiet() if dummy else wandb.init()
        return _opened(value.body, modules, functions) | _opened(value.orelse, modules, functions)
    if isinstance(value, ast.Name):  # self._wandb = wandb
        return _MODULE_CALLS.get(modules.get(value.id, ""), set())
    if not isinstance(value, ast.Call):
        return set()
    for name, origins, methods in _OBJECTS:
        if isinstance(value.func, ast.Name) and functions.get(value.func.id) == f"open {name}":
            return methods
        if isinstance(value.func, ast.Attribute) and value.func.attr == name:
            if modules.get(_dotted(value.func.value), _dotted(value.func.value)) in origins:
                return methods
    return set()


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
