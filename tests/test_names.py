"""What the name resolver says of small programs of one file: each is asked about a callee in it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.programs import program, resolve

# Programs of one file, what is asked, what it stands for.
ONE_FILE = {
    "import": ("import wandb\nwandb.log({})", "wandb.log", {"wandb.log"}),
    "alias": ("import wandb as wb\nwb.log({})", "wb.log", {"wandb.log"}),
    "from": ("from wandb import log\nlog({})", "log", {"wandb.log"}),
    "from-alias": (
        "from torch.utils.tensorboard import SummaryWriter as SW\nw = SW()\nw.add_scalar('a', 1)",
        "w.add_scalar",
        {"torch.utils.tensorboard.SummaryWriter().add_scalar"},
    ),
    "submodule": ("import torch.utils.tensorboard\ntorch.utils.tensorboard.SummaryWriter()",
                  "torch.utils.tensorboard.SummaryWriter", {"torch.utils.tensorboard.SummaryWriter"}),
    "submodule-alias": ("import torch.utils.tensorboard as tb\ntb.SummaryWriter()", "tb.SummaryWriter",
                        {"torch.utils.tensorboard.SummaryWriter"}),
    "in-function": ("def f():\n    import wandb\n    wandb.log({})", "wandb.log", {"wandb.log"}),
    "try": ("try:\n    import wandb\nexcept ImportError:\n    wandb = None\nwandb.log({})", "wandb.log", {"wandb.log"}),
    "try-two": (
        "try:\n    from torch.utils.tensorboard import SummaryWriter\n"
        "except ImportError:\n    from tensorboardX import SummaryWriter\nSummaryWriter()",
        "SummaryWriter", {"torch.utils.tensorboard.SummaryWriter", "tensorboardX.SummaryWriter"},
    ),
    "import-module": ("import importlib\nwandb = importlib.import_module('wandb')\nwandb.log({})", "wandb.log",
                      {"wandb.log"}),
    "lazy-loader": ("from util import LazyLoader\nwandb = LazyLoader('wandb', globals(), 'wandb')\nwandb.log({})",
                    "wandb.log", {"wandb.log", "util.LazyLoader().log"}),
    "lazy-import": ("wandb = lazy_import('wandb')\nwandb.log({})", "wandb.log", {"wandb.log"}),
    "optional-import": ("SW, ok = optional_import('torch.utils.tensorboard', name='SummaryWriter')\nSW()", "SW",
                        {"torch.utils.tensorboard.SummaryWriter", "torch.utils.tensorboard.SummaryWriter[]"}),
    "star": ("from wandb import *\nlog({})\nprint(1)", "log", {"wandb.log"}),
    "star-leaves-builtins": ("from wandb import *\nlog({})\nprint(1)", "print", {"builtins.print"}),
    "builtin": ("print(1)", "print", {"builtins.print"}),
    "shadowed-builtin": ("import rich\nprint = rich.print\nprint(1)", "print", {"rich.print"}),
    "unknown": ("mystery.log({})", "mystery.log", set()),
    "none": ("run = None\nrun.log({})", "run.log", set()),
    "variable": ("import wandb\nrun = wandb.init()\nrun.log({})", "run.log", {"wandb.init().log"}),
    "branches": (
        "import wandb, trackio\nif x:\n    run = wandb.init()\nelse:\n    run = trackio.init()\nrun.log({})",
        "run.log", {"wandb.init().log", "trackio.init().log"},
    ),
    "conditional": ("import wandb\nrun = wandb.init() if main else None\nrun.log({})", "run.log", {"wandb.init().log"}),
    "or": ("import wandb\nrun = wandb.run or wandb.init()\nrun.log({})", "run.log",
           {"wandb.run.log", "wandb.init().log"}),
    "walrus": ("import wandb\nif (run := wandb.init()):\n    run.log({})", "run.log", {"wandb.init().log"}),
    "walrus-in-comprehension": ("import wandb\n[(run := wandb.init()) for _ in range(1)]\nrun.log({})", "run.log",
                                {"wandb.init().log"}),
    "with": ("import wandb\nwith wandb.init() as run:\n    run.log({})", "run.log", {"wandb.init().log"}),
    "async-with": ("import wandb\nasync def f():\n    async with wandb.init() as run:\n        run.log({})", "run.log",
                   {"wandb.init().log"}),
    "closing": ("import wandb, contextlib\nwith contextlib.closing(wandb.init()) as run:\n    run.log({})", "run.log",
                {"wandb.init().log"}),
    "exit-stack": (
        "import wandb, contextlib\nwith contextlib.ExitStack() as stack:\n"
        "    run = stack.enter_context(wandb.init())\n    run.log({})",
        "run.log", {"wandb.init().log"},
    ),
    "module-run": ("import wandb\nwandb.run.log({})", "wandb.run.log", {"wandb.run.log"}),
    "chain": ("import wandb\nwandb.init().log({})", "wandb.init().log", {"wandb.init().log"}),
    "bound-method": ("import wandb\nlog = wandb.init().log\nlog({})", "log", {"wandb.init().log"}),
    "tuple": ("import wandb\nrun, n = wandb.init(), 3\nrun.log({})", "run.log", {"wandb.init().log"}),
    "nested-tuple": ("import wandb\n(a, (run, b)) = 1, (wandb.init(), 2)\nrun.log({})", "run.log", {"wandb.init().log"}),
    "starred": ("import wandb\n*rest, run = 1, 2, wandb.init()\nrun.log({})", "run.log", {"wandb.init().log"}),
    "chained-assignment": ("import wandb\na = run = wandb.init()\na.log({})", "a.log", {"wandb.init().log"}),
    "await": ("import ray\nasync def f():\n    x = await ray.thing()\n    x.log()", "x.log", {"ray.thing().log"}),
    "return": ("import wandb\ndef make():\n    return wandb.init()\nmake().log({})", "make().log", {"wandb.init().log"}),
    "return-tuple": ("import wandb\ndef make():\n    return wandb.init(), 1\nrun, n = make()\nrun.log({})", "run.log",
                     {"wandb.init().log"}),
    "return-annotation": ("import wandb\ndef make() -> wandb.Run: ...\nmake().log({})", "make().log", {"wandb.Run().log"}),
    "argument": ("import wandb\ndef f(run):\n    run.log({})\nf(wandb.init())", "run.log", {"wandb.init().log"}),
    "keyword-argument": ("import wandb\ndef f(*, run=None):\n    run.log({})\nf(run=wandb.init())", "run.log",
                         {"wandb.init().log"}),
    "default": ("import wandb\ndef f(log=wandb.log):\n    log({})", "log", {"wandb.log"}),
    "star-argument": ("import wandb\ndef f(a, run):\n    run.log({})\nargs = (1, wandb.init())\nf(*args)", "run.log",
                      {"wandb.init().log"}),
    "double-star-argument": ("import wandb\ndef f(run):\n    run.log({})\nkw = dict(run=wandb.init())\nf(**kw)", "run.log",
                             {"wandb.init().log"}),
    "varargs": ("import wandb\ndef f(*runs):\n    for run in runs:\n        run.log({})\nf(wandb.init())", "run.log",
                {"wandb.init().log"}),
    "kwargs": ("import wandb\ndef f(**kw):\n    kw['run'].log({})\nf(run=wandb.init(), other=print)", "kw['run'].log",
               {"wandb.init().log"}),
    "kwargs-passed-on": ("import wandb\ndef g(run):\n    run.log({})\ndef f(**kw):\n    g(**kw)\nf(run=wandb.init())",
                         "run.log", {"wandb.init().log"}),
    "annotation": ("import wandb\ndef f(run: wandb.Run):\n    run.log({})", "run.log", {"wandb.Run().log"}),
    "string-annotation": ("import wandb\ndef f(run: 'wandb.Run'):\n    run.log({})", "run.log", {"wandb.Run().log"}),
    "optional": ("import wandb\nfrom typing import Optional\ndef f(run: Optional[wandb.Run]):\n    run.log({})", "run.log",
                 {"wandb.Run().log"}),
    "union": ("import wandb\ndef f(run: wandb.Run | None):\n    run.log({})", "run.log", {"wandb.Run().log"}),
    "annotation-alias": ("import wandb\nfrom typing import Optional\nRun = Optional[wandb.Run]\n"
                         "def f(run: Run):\n    run.log({})", "run.log", {"wandb.Run().log"}),
    "list-annotation": ("import wandb\ndef f(runs: list[wandb.Run]):\n    for run in runs:\n        run.log({})",
                        "run.log", {"wandb.Run().log"}),
    "dict-annotation": ("import wandb\ndef f(runs: dict[str, wandb.Run]):\n    runs['a'].log({})", "runs['a'].log",
                        {"wandb.Run().log"}),
    "class-annotation": ("import wandb\ndef f(kind: type[wandb.Run]):\n    kind().log({})", "kind().log",
                         {"wandb.Run().log"}),
    "variable-annotation": ("import wandb\nrun: wandb.Run\nrun.log({})", "run.log", {"wandb.Run().log"}),
    "plain-annotation": ("import numpy\ndef f(step: int):\n    step.log({})\nf(numpy.array())", "step.log", set()),
    "cast": ("import wandb\nfrom typing import cast\nrun = cast(wandb.Run, x)\nrun.log({})", "run.log", {"wandb.Run().log"}),
    "isinstance": ("import wandb\ndef f(x):\n    if isinstance(x, wandb.Run) and x.ok:\n        x.log({})", "x.log",
                   {"wandb.Run().log"}),
    "isinstance-else": ("import wandb\ndef f(x):\n    if isinstance(x, wandb.Run):\n        pass\n"
                        "    else:\n        x.log({})", "x.log", set()),
    "isinstance-assert": ("import wandb\ndef f(x):\n    assert isinstance(x, wandb.Run)\n    x.log({})", "x.log",
                          {"wandb.Run().log"}),
    "isinstance-exit": ("import wandb\ndef f(x):\n    if not isinstance(x, wandb.Run):\n        return\n"
                        "    x.log({})", "x.log", {"wandb.Run().log"}),
    "isinstance-before": ("import wandb\ndef f(x):\n    x.log({})\n    assert isinstance(x, wandb.Run)", "x.log", set()),
    "isinstance-conditional": ("import wandb\ndef f(x):\n    return x.log({}) if isinstance(x, wandb.Run) else x", "x.log",
                               {"wandb.Run().log"}),
    "dict-item": ("import wandb\nd = {'run': wandb.init(), 'n': print}\nd['run'].log({})", "d['run'].log",
                  {"wandb.init().log"}),
    "dict-assigned": ("import wandb\nd = {}\nd['run'] = wandb.init()\nd['x'] = print\nd['run'].log({})", "d['run'].log",
                      {"wandb.init().log"}),
    "dict-get": ("import wandb\nd = dict(run=wandb.init())\nd.get('run').log({})", "d.get('run').log", {"wandb.init().log"}),
    "dict-loop": ("import wandb\nd = {'a': wandb.init()}\nfor k, run in d.items():\n    run.log({})", "run.log",
                  {"wandb.init().log"}),
    "dict-values": ("import wandb\nd = {'a': wandb.init()}\nfor run in d.values():\n    run.log({})", "run.log",
                    {"wandb.init().log"}),
    "dict-of-functions": ("import wandb, trackio\nlog = {'w': wandb.log, 't': trackio.log}[kind]\nlog({})", "log",
                          {"wandb.log", "trackio.log"}),
    "list-loop": ("from torch.utils.tensorboard import SummaryWriter\na, b = SummaryWriter('a'), SummaryWriter('b')\n"
                  "for w in [a, b]:\n    w.add_scalar('x', 1)", "w.add_scalar",
                  {"torch.utils.tensorboard.SummaryWriter().add_scalar"}),
    "list-append": ("import wandb\nruns = []\nruns.append(wandb.init())\nfor run in runs:\n    run.log({})", "run.log",
                    {"wandb.init().log"}),
    "list-extend": ("import wandb\nruns = list()\nruns.extend([wandb.init()])\nruns += [wandb.init()]\n"
                    "runs[0].log({})", "runs[0].log", {"wandb.init().log"}),
    "list-comprehension": ("import wandb\nruns = [wandb.init() for _ in range(3)]\nruns[1].log({})", "runs[1].log",
                           {"wandb.init().log"}),
    "enumerate": ("import wandb\nfor i, run in enumerate([wandb.init()]):\n    run.log({})", "run.log",
                  {"wandb.init().log"}),
    "zip": ("import wandb\nfor i, run in zip(range(1), [wandb.init()]):\n    run.log({})", "run.log", {"wandb.init().log"}),
    "comprehension-target": ("import wandb\nruns = [wandb.init()]\n[r.log({}) for r in runs]", "r.log", {"wandb.init().log"}),
    "next": ("import wandb\nrun = next(iter([wandb.init()]), None)\nrun.log({})", "run.log", {"wandb.init().log"}),
    "spread": ("import wandb\na = [wandb.init()]\nb = [*a, 1]\nfor run in b:\n    run.log({})", "run.log",
               {"wandb.init().log"}),
    "foreign-element": ("import lightning\nt = lightning.Trainer()\nt.loggers[0].log_metrics({})",
                        "t.loggers[0].log_metrics", {"lightning.Trainer().loggers[].log_metrics"}),
    "generator": ("import wandb\ndef runs():\n    yield wandb.init()\nfor run in runs():\n    run.log({})", "run.log",
                  {"wandb.init().log"}),
    "yield-from": ("import wandb\ndef a():\n    yield wandb.init()\ndef b():\n    yield from a()\n"
                   "for run in b():\n    run.log({})", "run.log", {"wandb.init().log"}),
    "contextmanager": ("import wandb, contextlib\n@contextlib.contextmanager\ndef opened():\n    run = wandb.init()\n"
                       "    yield run\nwith opened() as run:\n    run.log({})", "run.log", {"wandb.init().log"}),
    "closure": ("import wandb\ndef f():\n    run = wandb.init()\n    def g():\n        run.log({})\n    g()", "run.log",
                {"wandb.init().log"}),
    "nonlocal": ("import wandb\ndef f():\n    run = None\n    def g():\n        nonlocal run\n        run = wandb.init()\n"
                 "    run.log({})", "run.log", {"wandb.init().log"}),
    "global": ("import wandb\nrun = None\ndef setup():\n    global run\n    run = wandb.init()\ndef f():\n"
               "    run.log({})", "run.log", {"wandb.init().log"}),
    "later-global": ("import wandb\ndef f():\n    run.log({})\nrun = wandb.init()", "run.log", {"wandb.init().log"}),
    "local-shadows": ("import wandb, trackio\nrun = wandb.init()\ndef f():\n    run = trackio.init()\n    run.log({})",
                      "run.log", {"trackio.init().log"}),
    "parameter-shadows": ("import wandb\nrun = wandb.init()\ndef f(run):\n    run.log({})", "run.log", set()),
    "lambda": ("import wandb\nlog = lambda m: wandb.init().log(m)\nlog({})", "wandb.init().log", {"wandb.init().log"}),
    "lambda-result": ("import wandb\nmake = lambda: wandb.init()\nmake().log({})", "make().log", {"wandb.init().log"}),
    "lambda-argument": ("import wandb\nf = lambda run: run.log({})\nf(wandb.init())", "run.log", {"wandb.init().log"}),
    "partial": ("import wandb, functools\nlog = functools.partial(wandb.log, commit=False)\nlog({})", "log", {"wandb.log"}),
    "partial-argument": ("import wandb\nfrom functools import partial\ndef f(run, x):\n    run.log({})\n"
                         "g = partial(f, wandb.init())", "run.log", {"wandb.init().log"}),
    "thread": ("import wandb, threading\ndef f(run):\n    run.log({})\n"
               "threading.Thread(target=f, args=(wandb.init(),)).start()", "run.log", {"wandb.init().log"}),
    "spawn": ("import wandb\nimport torch.multiprocessing as mp\ndef f(rank, run):\n    run.log({})\n"
              "mp.spawn(f, args=(wandb.init(),), nprocs=2)", "run.log", {"wandb.init().log"}),
    "getattr": ("import wandb\ngetattr(wandb, 'log')({})\ngetattr(wandb.init(), 'log')({})",
                "getattr(wandb, 'log')", {"wandb.log"}),
    "match-subject": ("import wandb\nmatch wandb.init():\n    case run:\n        run.log({})", "run.log",
                      {"wandb.init().log"}),
    "match-class": ("import wandb\nmatch x:\n    case wandb.Run() as run:\n        run.log({})", "run.log",
                    {"wandb.Run().log"}),
    "self-loop": ("import a\nx = a.f()\nwhile x:\n    x = x.next()\nx.log()", "x.log", {"a.f().log", "a.f().next().log"}),
    "self-list": ("x = []\nx = [*x, x]\nfor y in x:\n    y.log()", "y.log", set()),
    "mutual": ("def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\nf(1).log()", "f(1).log", set()),
    "type-checking": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import wandb\n"
                      "def f(run: 'wandb.Run'):\n    run.log({})", "run.log", {"wandb.Run().log"}),
    "namespace": ("import wandb\nfrom types import SimpleNamespace\nns = SimpleNamespace(run=wandb.init())\n"
                  "ns.run.log({})", "ns.run.log", {"types.SimpleNamespace().run.log", "wandb.init().log"}),
    "stored": ("import wandb, argparse\nargs = argparse.ArgumentParser().parse_args()\nargs.run = wandb.init()\n"
               "def f(args):\n    args.run.log({})\nf(args)", "args.run.log",
               {"argparse.ArgumentParser().parse_args().run.log", "wandb.init().log"}),
    "stored-on-unknown": ("import wandb\ndef f(args):\n    args.run = wandb.init()\n    args.run.log({})", "args.run.log",
                          {"wandb.init().log"}),
    "try-star": ("import wandb\ntry:\n    run = wandb.init()\nexcept* ValueError as e:\n    e.log()\nrun.log({})",
                 "run.log", {"wandb.init().log"}),
    "deleted": ("import wandb\nrun = wandb.init()\nrun.log({})\ndel run", "run.log", {"wandb.init().log"}),
    "property-of-foreign": ("import accelerate\na = accelerate.Accelerator()\na.get_tracker('wandb').log({})",
                            "a.get_tracker('wandb').log", {"accelerate.Accelerator().get_tracker().log"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_FILE)
def test_one_file(tmp_path: Path, name: str) -> None:
    code, ask, expected = ONE_FILE[name]
    if "except*" in code and sys.version_info < (3, 11):
        pytest.skip("new in Python 3.11")
    assert resolve(tmp_path, code, ask) == expected


# -- odd code --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "x = x\nx.log()", "class A(A): ...\nA().log()", "class A(B): ...\nclass B(A): ...\nA().log()",
        "def f(x=f): x.log()\nf(f)", "import main\nmain.main.x.log()", "from main import *\nx.log()",
        "from . import x\nx.log()", "from .... import x\nx.log()", "d = {}\nd.update(d)\nd['a'].log()",
        "global x\nx.log()", "def f(a: 'not python ('):\n    a.log()", "def f(a: 'f'):\n    a.log()",
        "x = [x for x in x]\nx[0].log()", "x = zip(x, x)\nx[0].log()", "x = x()\nx.log()", "x = x.y[0].y\nx.log()",
        "def f(*a, **k): return f(*a, **k)\nf(1, 2, *[3], **{}).log()", "super().log()", "lambda: (yield)\nx.log()",
        "class A:\n    def f(): self.log()\n    def g(*self): self.log()", "f'{x!r:{y}}'.log()", "type(x)(y).log()",
        "match x:\n    case {'a': [a, *b], **c}: a.log()\n    case [*_]: pass",
    ],
)  # fmt: skip
def test_odd_code_is_no_error(tmp_path: Path, code: str) -> None:
    prog = program(tmp_path, {"main.py": code})
    module = prog.module("main.py")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.expr):
            prog.resolve(module, node)
            prog.elements(module, node)


def test_deep_nesting(tmp_path: Path) -> None:
    chain = "x" + ".a()" * 80
    links = "\n".join(f"v{i + 1} = f{i}(v{i})\ndef f{i}(p):\n    return p" for i in range(12))
    code = f"import wandb\nv0 = wandb.init()\n{links}\nv12.log()\n{chain}\n"
    assert resolve(tmp_path, code, "v12.log") == {"wandb.init().log"}


def test_answers_are_the_same_in_any_order(tmp_path: Path) -> None:
    files = {
        "a.py": "import wandb\nfrom b import B\nclass A(B):\n    def __init__(self, other=None):\n        super().__init__(self)\n"
        "        self.run = other or wandb.init()\n    def go(self):\n        self.peer.run.log({})\n        return self.peer\n",
        "b.py": "class B:\n    def __init__(self, peer):\n        self.peer = peer\n    def go(self):\n        return self.peer.go()\n",
        "main.py": "from a import A\nx = A(A().go().run)\nx.go().run.log({})\n",
    }
    answers = []
    for backwards in (False, True):
        prog = program(tmp_path, files)
        modules = prog.modules(b"")
        calls = [(module, call) for module in modules for call in module.calls()]
        found = {}
        for module, call in reversed(calls) if backwards else calls:
            found[module.path, module.code(call.func)] = prog.resolve(module, call.func)
        answers.append(found)
    assert answers[0] == answers[1]
    assert {"wandb.init().log"} in answers[0].values()
