"""What the name resolver says of instances, attributes and inheritance."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.programs import callee, program, resolve

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
