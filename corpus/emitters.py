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
}
#: What makes an object that sends: the call's last name, the modules it comes from, the methods that send.
_OBJECTS = [
    ("init", ("wandb",), {"log"}),
    ("init", ("trackio", "swanlab"), {"log"}),
    ("SummaryWriter", ("torch.utils.tensorboard", "tensorboardX", "torch.utils"), {"add_scalar", "add_scalars"}),
    ("Experiment", ("comet_ml",), {"log_metric", "log_metrics"}),
    ("Run", ("aim",), {"track"}),
]
#: Trainers by the package they are imported from, as their names are written.
_TRAINERS = {
    "transformers": re.compile(r"(?:Seq2Seq)?Trainer"),
    "trl": re.compile(r"\w+Trainer"),
    "setfit": re.compile(r"Trainer"),
    "sentence_transformers": re.compile(r"\w*Trainer"),
    "lightning": re.compile(r"Trainer"),
    "pytorch_lightning": re.compile(r"Trainer"),
}


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
        if not any(word in data for word in (b"log", b"add_scalar", b"track", b"Trainer")):
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
    handles = _handles(trees, modules, senders)
    for tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            func = node.func
            if isinstance(func, ast.Attribute):
                receiver, method = _dotted(func.value), func.attr
                last = receiver.rpartition(".")[2]
                if (
                    method in _MODULE_CALLS.get(modules.get(receiver, ""), ())
                    or (receiver.endswith(".run") and method == "log" and modules.get(receiver[:-4]) == "wandb")
                    or method in handles.get(last, ())
                ):
                    yield node.lineno, "send", f"{receiver}.{method}"
                elif receiver in modules and _is_trainer(modules[receiver], method):
                    yield node.lineno, "build", f"{receiver}.{method}"
            elif isinstance(func, ast.Name):
                if senders.get(func.id) == "send":
                    yield node.lineno, "send", func.id
                elif func.id in trainers:
                    yield node.lineno, "build", func.id


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
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    local = alias.asname or alias.name
                    if alias.name in _MODULE_CALLS.get(node.module, ()):
                        functions[local] = "send"
                    elif any(alias.name == name and node.module in origins for name, origins, _ in _OBJECTS):
                        functions[local] = f"open {alias.name}"
                    elif _is_trainer(node.module, alias.name):
                        trainers.add(local)
                    elif node.module in ("lightning", "torch.utils") and alias.name in ("pytorch", "tensorboard"):
                        modules[local] = f"{node.module}.{alias.name}"
    return modules, functions, trainers


def _handles(trees: list[ast.Module], modules: dict[str, str], functions: dict[str, str]) -> dict[str, set[str]]:
    """The last names of what objects that send are assigned to, with the methods that send."""
    handles: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            pairs: list[tuple[ast.expr, ast.expr]] = []
            if isinstance(node, ast.Assign):
                pairs = [(target, node.value) for target in node.targets]
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                pairs = [(node.optional_vars, node.context_expr)]
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                pairs = [(node.target, node.value)]
            for target, value in pairs:
                methods = _opened(value, modules, functions)
                if methods:
                    handles.setdefault(_dotted(target).rpartition(".")[2], set()).update(methods)
    handles.pop("", None)
    return handles


def _opened(value: ast.expr, modules: dict[str, str], functions: dict[str, str]) -> set[str]:
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
