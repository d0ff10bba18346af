"""What the name resolver says of small programs: each test writes a repository and asks about marked expressions."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from instrument.repo.names import Module, Program
from instrument.repo.scan import Repository


def program(root: Path, files: dict[str, str], needles: tuple[bytes, ...] = (b"",)) -> Program:
    """A Program over these files, all of them scanned."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")
    repo = Repository(root)
    repo.scan(needles)
    return Program(repo)


def callee(module: Module, code: str) -> ast.expr:
    """The callee written like this, of the only call that has it (the last one, if there are several)."""
    found = [call.func for call in module.calls() if module.code(call.func) == code]
    assert found, f"no call of {code} in {module.path}"
    return found[-1]


def resolve(root: Path, code: str, ask: str, path: str = "main.py", **more: str) -> set[str]:
    """What `ask` (a callee) stands for in one file of code. `more` are further files, `__` for a slash."""
    files = {path: code} | {f"{name.replace('__', '/')}.py": text for name, text in more.items()}
    prog = program(root, files)
    module = prog.module(path)
    return set(prog.resolve(module, callee(module, ask)))


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
    assert resolve(tmp_path, code, ask) == expected


CLASSES = {
    "self": ("class T:\n    def __init__(self):\n        self.run = wandb.init()\n    def fit(self):\n"
             "        self.run.log({})", "self.run.log", {"wandb.init().log"}),
    "constructor-argument": ("class T:\n    def __init__(self, run):\n        self.run = run\n    def fit(self):\n"
                             "        self.run.log({})\nT(wandb.init())", "self.run.log", {"wandb.init().log"}),
    "constructor-keyword": ("class T:\n    def __init__(self, n, *, run=None):\n        self.run = run\n"
                            "    def fit(self):\n        self.run.log({})\nT(1, run=wandb.init())", "self.run.log",
                            {"wandb.init().log"}),
    "outside": ("class T:\n    def __init__(self):\n        self.run = wandb.init()\nt = T()\nt.run.log({})", "t.run.log",
                {"wandb.init().log"}),
    "stored-outside": ("class T:\n    pass\nt = T()\nt.run = wandb.init()\ndef f(t):\n    t.run.log({})\nf(t)", "t.run.log",
                       {"wandb.init().log"}),
    "setattr": ("class T:\n    def __init__(self):\n        setattr(self, 'run', wandb.init())\n    def fit(self):\n"
                "        self.run.log({})", "self.run.log", {"wandb.init().log"}),
    "base": ("class B:\n    def __init__(self):\n        self.run = wandb.init()\nclass T(B):\n    def fit(self):\n"
             "        self.run.log({})", "self.run.log", {"wandb.init().log"}),
    "subclass": ("class B:\n    def fit(self):\n        self.run.log({})\nclass T(B):\n    def __init__(self):\n"
                 "        self.run = wandb.init()", "self.run.log", {"wandb.init().log"}),
    "siblings-apart": ("import trackio\nclass B:\n    pass\nclass S(B):\n    def __init__(self):\n"
                       "        self.run = trackio.init()\nclass T(B):\n    def __init__(self):\n"
                       "        self.run = wandb.init()\n    def fit(self):\n        self.run.log({})", "self.run.log",
                       {"wandb.init().log"}),
    "super-init": ("class B:\n    def __init__(self, run):\n        self.run = run\nclass T(B):\n"
                   "    def __init__(self, n, run):\n        super().__init__(run)\n    def fit(self):\n"
                   "        self.run.log({})\nT(1, wandb.init())", "self.run.log", {"wandb.init().log"}),
    "base-init": ("class B:\n    def __init__(self, run):\n        self.run = run\nclass T(B):\n"
                  "    def __init__(self, n, run):\n        B.__init__(self, run)\n    def fit(self):\n"
                  "        self.run.log({})\nT(1, wandb.init())", "self.run.log", {"wandb.init().log"}),
    "inherited-init": ("class B:\n    def __init__(self, run):\n        self.run = run\nclass T(B):\n"
                       "    def fit(self):\n        self.run.log({})\nT(wandb.init())", "self.run.log",
                       {"wandb.init().log"}),
    "class-attribute": ("class T:\n    run = wandb.init()\n    def fit(self):\n        self.run.log({})", "self.run.log",
                        {"wandb.init().log"}),
    "class-scope-hidden": ("class T:\n    run = wandb.init()\n    def fit(self):\n        run.log({})", "run.log", set()),
    "class-scope-visible": ("class T:\n    run = wandb.init()\n    run.log({})", "run.log", {"wandb.init().log"}),
    "property": ("class T:\n    @property\n    def run(self):\n        return wandb.run\n    def fit(self):\n"
                 "        self.run.log({})", "self.run.log", {"wandb.run.log"}),
    "cached-property": ("import functools\nclass T:\n    @functools.cached_property\n    def run(self):\n"
                        "        return wandb.init()\nT().run.log({})", "T().run.log", {"wandb.init().log"}),
    "method": ("class T:\n    def run(self):\n        return wandb.init()\nT().run().log({})", "T().run().log",
               {"wandb.init().log"}),
    "method-argument": ("class T:\n    def fit(self, run):\n        run.log({})\nT().fit(wandb.init())", "run.log",
                        {"wandb.init().log"}),
    "unbound-method": ("class T:\n    def fit(self, run):\n        run.log({})\nT.fit(T(), wandb.init())", "run.log",
                       {"wandb.init().log"}),
    "static-method": ("class T:\n    @staticmethod\n    def fit(run):\n        run.log({})\nT.fit(wandb.init())", "run.log",
                      {"wandb.init().log"}),
    "class-method": ("class T:\n    @classmethod\n    def make(cls, run):\n        run.log({})\nT.make(wandb.init())",
                     "run.log", {"wandb.init().log"}),
    "cls": ("class T:\n    def __init__(self, run):\n        self.run = run\n    @classmethod\n    def make(cls):\n"
            "        return cls(wandb.init())\nT.make().run.log({})", "T.make().run.log", {"wandb.init().log"}),
    "return-self": ("class T:\n    def a(self):\n        return self\n    def b(self):\n        self.run = wandb.init()\n"
                    "        return self\nt = T().a().b()\nt.run.log({})", "t.run.log", {"wandb.init().log"}),
    "enter-self": ("class T:\n    def __enter__(self):\n        self.run = wandb.init()\n        return self.run\n"
                   "with T() as run:\n    run.log({})", "run.log", {"wandb.init().log"}),
    "call": ("class T:\n    def __call__(self):\n        return wandb.init()\nT()().log({})", "T()().log",
             {"wandb.init().log"}),
    "getitem": ("class T:\n    def __getitem__(self, key):\n        return wandb.init()\nT()['a'].log({})", "T()['a'].log",
                {"wandb.init().log"}),
    "iter": ("class T:\n    def __iter__(self):\n        yield wandb.init()\nfor run in T():\n    run.log({})", "run.log",
             {"wandb.init().log"}),
    "dataclass": ("from dataclasses import dataclass\n@dataclass\nclass T:\n    n: int\n    run: object = None\n"
                  "    def fit(self):\n        self.run.log({})\nT(1, wandb.init())", "self.run.log", {"wandb.init().log"}),
    "dataclass-annotation": ("from dataclasses import dataclass\n@dataclass\nclass T:\n    run: wandb.Run\n"
                             "    def fit(self):\n        self.run.log({})", "self.run.log", {"wandb.Run().log"}),
    "dataclass-factory": ("from dataclasses import dataclass, field\n@dataclass\nclass T:\n"
                          "    run: object = field(default_factory=wandb.init)\nT().run.log({})", "T().run.log",
                          {"wandb.init().log"}),
    "list-attribute": ("class T:\n    def __init__(self):\n        self.runs = []\n    def add(self, run):\n"
                       "        self.runs.append(run)\n    def fit(self):\n        for run in self.runs:\n"
                       "            run.log({})\nT().add(wandb.init())", "run.log", {"wandb.init().log"}),
    "dict-attribute": ("class T:\n    def __init__(self):\n        self.runs = {}\n        self.runs['a'] = wandb.init()\n"
                       "        self.runs['b'] = print\n    def fit(self):\n        self.runs['a'].log({})",
                       "self.runs['a'].log", {"wandb.init().log"}),
    "module-as-attribute": ("class T:\n    def __init__(self):\n        self.wandb = wandb\n    def fit(self):\n"
                            "        self.wandb.log({})", "self.wandb.log", {"wandb.log"}),
    "nested-function": ("class T:\n    def __init__(self):\n        self.run = wandb.init()\n    def fit(self):\n"
                        "        def done():\n            self.run.log({})\n        done()", "self.run.log",
                        {"wandb.init().log"}),
    "foreign-base": ("import transformers\nclass T(transformers.Trainer):\n    pass\nt = T()\nt.add_callback(1)",
                     "t.add_callback", {"transformers.Trainer().add_callback"}),
    "foreign-base-of-base": ("import transformers\nclass B(transformers.Trainer): ...\nclass T(B): ...\nT()", "T",
                             {"repo:main.T", "repo:main.B", "transformers.Trainer"}),
    "generic-base": ("from lib import Base\nclass T(Base[int]): ...\nT()", "T", {"repo:main.T", "lib.Base"}),
    "self-of-foreign-base": ("import transformers\nclass T(transformers.Trainer):\n    def f(self):\n"
                             "        self.save_model()", "self.save_model", {"transformers.Trainer().save_model"}),
    "super": ("import transformers\nclass T(transformers.Trainer):\n    def log(self, logs):\n"
              "        super().log(logs)", "super().log", {"transformers.Trainer().log"}),
    "own-method": ("class T:\n    def f(self): ...\n    def g(self):\n        self.f()", "self.f", {"repo:main.T.f"}),
    "instance": ("class T: ...\nx = T()\nx.f()", "T", {"repo:main.T"}),
    "nested-class": ("class A:\n    class B:\n        def f(self): ...\nA.B().f()", "A.B().f", {"repo:main.A.B.f"}),
    "ray-actor": ("import ray\n@ray.remote\nclass T:\n    def __init__(self, run):\n        self.run = run\n"
                  "    def fit(self):\n        self.run.log({})\nT.options(num_gpus=1).remote(wandb.init())",
                  "self.run.log", {"wandb.init().log"}),
    "ray-actor-wrapped": ("import ray\nclass T:\n    def get(self):\n        return wandb.init()\n"
                          "t = ray.remote(num_gpus=1)(T).remote()\nray.get(t.get.remote()).log({})",
                          "ray.get(t.get.remote()).log", {"wandb.init().log"}),
    "type-of-self": ("class T:\n    def __init__(self, run=None):\n        self.run = run\n    def copy(self):\n"
                     "        return type(self)(wandb.init())\nT().copy().run.log({})", "T().copy().run.log",
                     {"wandb.init().log"}),
    "isinstance-attribute": ("class T:\n    def f(self):\n        if isinstance(self.x, wandb.Run):\n"
                             "            self.x.log({})", "self.x.log", {"wandb.Run().log"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_classes(tmp_path: Path, name: str) -> None:
    code, ask, expected = CLASSES[name]
    assert resolve(tmp_path, "import wandb\n" + code, ask) == expected


# -- several files -------------------------------------------------------------------------------------------------------


def several(root: Path, files: dict[str, str], path: str, ask: str) -> set[str]:
    prog = program(root, files)
    module = prog.module(path)
    return set(prog.resolve(module, callee(module, ask)))


def test_sibling_script(tmp_path: Path) -> None:
    files = {
        "scripts/metrics.py": "import wandb\ndef report(run):\n    run.log({})\ndef make():\n    return wandb.init()\n",
        "scripts/train.py": "from metrics import report, make\nreport(make())\nmake().log({})\n",
    }
    assert several(tmp_path, files, "scripts/train.py", "report") == {"repo:scripts.metrics.report"}
    assert several(tmp_path, files, "scripts/train.py", "make().log") == {"wandb.init().log"}
    assert several(tmp_path, files, "scripts/metrics.py", "run.log") == {"wandb.init().log"}


def test_relative_imports(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .tracking import run as default_run\nfrom .sub import deep\n",
        "pkg/tracking.py": "import wandb\nrun = wandb.init()\n",
        "pkg/sub/__init__.py": "from . import deep\n",
        "pkg/sub/deep.py": "from ..tracking import run\nfrom .. import tracking\nfrom ... import nowhere\n"
        "run.log({})\ntracking.run.finish()\n",
        "main.py": "import pkg\nimport pkg.sub.deep as d\nfrom pkg.sub import deep as e\n"
        "pkg.default_run.log({})\npkg.tracking.run.log(1)\nd.run.log({})\ne.tracking.run.finish()\n",
    }
    assert several(tmp_path, files, "pkg/sub/deep.py", "run.log") == {"wandb.init().log"}
    assert several(tmp_path, files, "pkg/sub/deep.py", "tracking.run.finish") == {"wandb.init().finish"}
    for ask in ("pkg.default_run.log", "pkg.tracking.run.log", "d.run.log"):
        assert several(tmp_path, files, "main.py", ask) == {"wandb.init().log"}
    assert several(tmp_path, files, "main.py", "e.tracking.run.finish") == {"wandb.init().finish"}


def test_src_layout_and_absolute_imports(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "[project]\nname = 'x'\n",
        "src/tool/__init__.py": "",
        "src/tool/log.py": "import wandb\nclass Logger:\n    def log(self, m):\n        wandb.log(m)\n",
        "examples/run.py": "from tool.log import Logger\nLogger().log({})\n",
    }
    assert several(tmp_path, files, "examples/run.py", "Logger().log") == {"repo:tool.log.Logger.log"}


def test_projects_of_a_monorepo(tmp_path: Path) -> None:
    files = {
        "a/pyproject.toml": "", "a/tool/__init__.py": "", "a/tool/x.py": "def f(): ...\n",
        "a/tests/run.py": "from tool.x import f\nf()\n",
    }  # fmt: skip
    assert several(tmp_path, files, "a/tests/run.py", "f") == {"repo:tool.x.f"}


def test_namespace_folders(tmp_path: Path) -> None:
    files = {
        "libs/util/track.py": "import wandb\nrun = wandb.init()\n",
        "main.py": "import libs.util.track\nfrom libs.util import track\nlibs.util.track.run.log({})\ntrack.run.log(1)\n",
    }
    assert "wandb.init().log" in several(tmp_path, files, "main.py", "libs.util.track.run.log")
    assert several(tmp_path, files, "main.py", "track.run.log") == {"wandb.init().log"}


def test_a_folder_of_runs_does_not_hide_the_package(tmp_path: Path) -> None:
    files = {"wandb/run-1/files/code/train.py": "x = 1\n", "main.py": "import wandb\nfrom wandb import log\nwandb.log({})\nlog(1)\n"}
    assert "wandb.log" in several(tmp_path, files, "main.py", "wandb.log")
    assert several(tmp_path, files, "main.py", "log") == {"wandb.log"}


def test_a_module_named_like_its_tracker_hides_nothing(tmp_path: Path) -> None:
    files = {
        "trackers/wandb.py": "import wandb\nwandb.log({})\n",
        "trackers/other.py": "import wandb\nwandb.log({})\n",
        "pkg/__init__.py": "",
        "pkg/wandb.py": "import wandb\nwandb.log({})\n",
        "pkg/other.py": "import wandb\nwandb.log({})\n",
    }
    for path in files:
        if files[path]:
            assert several(tmp_path, files, path, "wandb.log") == {"wandb.log"}


def test_a_module_of_the_repository_hides_a_package(tmp_path: Path) -> None:
    files = {"wandb.py": "def log(m): ...\n", "main.py": "import wandb\nwandb.log({})\n"}
    assert several(tmp_path, files, "main.py", "wandb.log") == {"repo:wandb.log"}


def test_star_import_of_own_module(tmp_path: Path) -> None:
    files = {
        "common.py": "import wandb\nrun = wandb.init()\n_hidden = 1\n",
        "more.py": "from common import *\n",
        "main.py": "from more import *\nrun.log({})\nprint(1)\n_hidden.log()\n",
    }
    assert several(tmp_path, files, "main.py", "run.log") == {"wandb.init().log"}
    assert several(tmp_path, files, "main.py", "print") == {"builtins.print"}
    assert several(tmp_path, files, "main.py", "_hidden.log") == set()


def test_circular_imports(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import f\nimport wandb\ndef g():\n    return wandb.init()\nf().log({})\n",
        "b.py": "import a\ndef f():\n    return a.g()\n",
    }
    assert several(tmp_path, files, "a.py", "f().log") == {"wandb.init().log"}


def test_parameters_across_files(tmp_path: Path) -> None:
    files = {
        "loop.py": "class Trainer:\n    def __init__(self, cfg, run):\n        self.run = run\n    def fit(self):\n"
        "        self.step(self.run)\n    def step(self, handle):\n        handle.log({})\n",
        "main.py": "import wandb\nfrom loop import Trainer as T\nwith wandb.init() as run:\n    T({}, run=run).fit()\n",
    }
    assert several(tmp_path, files, "loop.py", "handle.log") == {"wandb.init().log"}


def test_module_attributes_set_from_outside(tmp_path: Path) -> None:
    files = {
        "state.py": "run = None\n",
        "main.py": "import wandb, state\nstate.run = wandb.init()\n",
        "other.py": "from state import run\nimport state\nstate.run.log({})\n",
    }
    prog = program(tmp_path, files)
    prog.modules(b"")
    module = prog.module("other.py")
    assert prog.resolve(module, callee(module, "state.run.log")) == {"wandb.init().log"}


def test_missing_modules_and_names_still_have_names(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": "from .gone import f\nfrom pkg.broken import g\nf()\ng()\n",
        "pkg/broken.py": "def (\n",
    }
    assert several(tmp_path, files, "pkg/a.py", "f") == {"repo:pkg.gone.f"}
    assert several(tmp_path, files, "pkg/a.py", "g") == {"repo:pkg.broken.g"}


def test_errors_are_collected(tmp_path: Path) -> None:
    prog = program(tmp_path, {"bad.py": "wandb (\n", "good.py": "wandb\n"})
    assert [module.path for module in prog.modules(b"wandb")] == ["good.py"]
    assert list(prog.errors) == ["bad.py"]


def test_scripts_without_a_suffix(tmp_path: Path) -> None:
    prog = program(tmp_path, {"bin/train": "#!/usr/bin/env python3\nimport wandb\nwandb.log({})\n", "run.sh": "wandb\n"})
    (module,) = prog.modules(b"wandb")
    assert module.path == "bin/train"
    assert prog.resolve(module, module.calls()[0].func) == {"wandb.log"}


# -- definitions, callers, returns ---------------------------------------------------------------------------------------


def test_definition(tmp_path: Path) -> None:
    files = {
        "lib.py": "class B:\n    def f(self): ...\nclass T(B): ...\ndef g(): ...\n",
        "main.py": "from lib import T, g\nT()\nT().f()\ng()\nlen([])\n",
    }
    prog = program(tmp_path, files)
    module, lib = prog.module("main.py"), prog.module("lib.py")
    found = prog.definition(module, callee(module, "T"))
    assert found is not None and found[0] is lib and found[1] is lib.definition("T")
    found = prog.definition(module, callee(module, "T().f"))
    assert found is not None and found[1] is lib.definition("B.f")
    found = prog.definition(module, callee(module, "g"))
    assert found is not None and found[1] is lib.definition("g")
    assert prog.definition(module, callee(module, "len")) is None


def test_call_sites(tmp_path: Path) -> None:
    files = {
        "lib.py": "class T:\n    def __init__(self, x): ...\n    def f(self): ...\ndef f(): ...\n",
        "main.py": "import lib\nfrom lib import T as Thing, f as other\nt = Thing(1)\nt.f()\nother()\nlib.f()\nf = print\nf()\n",
    }
    prog = program(tmp_path, files)
    lib = prog.module("lib.py")

    def lines(name: str) -> list[int]:
        node = lib.definition(name)
        assert node is not None
        return [call.lineno for _, call in prog.call_sites(lib, node)]

    assert lines("f") == [5, 6]
    assert lines("T.f") == [4]
    assert lines("T") == lines("T.__init__") == [3]


def test_returns_and_elements(tmp_path: Path) -> None:
    prog = program(tmp_path, {"main.py": "import wandb\ndef f():\n    if x:\n        return None\n    return wandb.init()\n[f()]\n"})
    module = prog.module("main.py")
    node = module.definition("f")
    assert isinstance(node, ast.FunctionDef)
    assert prog.returns(module, node) == {"wandb.init()"}
    display = module.tree.body[-1]
    assert isinstance(display, ast.Expr)
    assert prog.resolve(module, display.value) == set()
    assert prog.elements(module, display.value) == {"wandb.init()"}


# -- where nodes stand ---------------------------------------------------------------------------------------------------


PLACES = """\
import wandb
@wandb.deco()
def outer(a=wandb.default(), *rest) -> wandb.result():
    local = 1
    class C:
        x = wandb.body()
        def m(self):
            [wandb.inside(i) for i in wandb.iterable()]
            return lambda q=wandb.outer(): wandb.inner(q, later)
    if a: wandb.one(); wandb.two()
    try:
        pass
    except ValueError as error:
        wandb.handler()
"""


def place(tmp_path: Path, name: str) -> tuple[Module, ast.Call]:
    module = program(tmp_path, {"main.py": PLACES}).module("main.py")
    return module, next(call for call in module.calls() if module.code(call.func) == f"wandb.{name}")


@pytest.mark.parametrize(
    ("name", "function", "cls"),
    [
        ("deco", None, None), ("default", None, None), ("result", None, None), ("body", "outer", "C"),
        ("iterable", "m", "C"), ("inside", "m", "C"), ("outer", "m", "C"), ("inner", "<lambda>", "C"),
        ("one", "outer", None), ("handler", "outer", None),
    ],
)  # fmt: skip
def test_function_and_class_around(tmp_path: Path, name: str, function: str | None, cls: str | None) -> None:
    module, call = place(tmp_path, name)
    found = module.function(call)
    assert (None if found is None else getattr(found, "name", "<lambda>")) == function
    owner = module.enclosing_class(call)
    assert (owner.name if owner else None) == cls


def test_statement_and_block(tmp_path: Path) -> None:
    module, call = place(tmp_path, "two")
    statement = module.statement(call)
    assert module.code(statement) == "wandb.two()"
    siblings, position = module.block(statement)
    assert len(siblings) == 2 and position == 1
    module, call = place(tmp_path, "handler")
    siblings, position = module.block(module.statement(call))
    assert siblings[position] is module.statement(call)
    siblings, position = module.block(module.tree.body[1])
    assert siblings is module.tree.body and position == 1


def test_scope_names(tmp_path: Path) -> None:
    module, call = place(tmp_path, "inner")
    names = module.scope_names(call)
    assert {"wandb", "outer", "a", "rest", "local", "C", "m", "self", "q", "later", "print"} <= names
    module, call = place(tmp_path, "one")
    assert {"later", "q", "error", "local"} <= module.scope_names(call)
    assert "probe" not in module.scope_names(call)
    assert module.is_own("local") and module.is_own("wandb") and not module.is_own("later")
    assert module.binds("outer") and not module.binds("local")


def test_calls_are_in_source_order(tmp_path: Path) -> None:
    module = program(tmp_path, {"main.py": "a(b(), c()).d()\ne() if f() else g()\n"}).module("main.py")
    assert [ast.unparse(call.func) for call in module.calls()] == ["a(b(), c()).d", "a", "b", "c", "e", "f", "g"]


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
    links = "\n".join(f"v{i + 1} = f{i}(v{i})\ndef f{i}(p):\n    return p" for i in range(25))
    code = f"import wandb\nv0 = wandb.init()\n{links}\nv25.log()\n{chain}\n"
    assert resolve(tmp_path, code, "v25.log") == {"wandb.init().log"}


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


def test_an_override_hides_the_method_of_a_foreign_base(tmp_path: Path) -> None:
    code = (
        "from torch.utils.tensorboard import SummaryWriter\nclass W(SummaryWriter):\n    def add_scalar(self, k, v):\n"
        "        super().add_scalar(k, v)\nw = W()\nw.add_scalar('a', 1)\nw.close()\n"
    )
    prog = program(tmp_path, {"main.py": code})
    module = prog.module("main.py")
    assert prog.resolve(module, callee(module, "w.add_scalar")) == {"repo:main.W.add_scalar"}
    assert prog.resolve(module, callee(module, "w.close")) == {"torch.utils.tensorboard.SummaryWriter().close"}
    foreign = {"torch.utils.tensorboard.SummaryWriter().add_scalar"}
    assert prog.resolve(module, callee(module, "super().add_scalar")) == foreign
    statement = module.tree.body[2]
    assert isinstance(statement, ast.Assign)
    assert prog.resolve(module, statement.value) == {"repo:main.W()", "torch.utils.tensorboard.SummaryWriter()"}
