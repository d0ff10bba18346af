"""What the name resolver says across files, and who defines and calls what."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.programs import callee, program, several


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
    files = {
        "wandb/run-1/files/code/train.py": "x = 1\n",
        "main.py": "import wandb\nfrom wandb import log\nwandb.log({})\nlog(1)\n",
    }
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
    prog = program(
        tmp_path, {"bin/train": "#!/usr/bin/env python3\nimport wandb\nwandb.log({})\n", "run.sh": "wandb\n"}
    )
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
    prog = program(
        tmp_path,
        {"main.py": "import wandb\ndef f():\n    if x:\n        return None\n    return wandb.init()\n[f()]\n"},
    )
    module = prog.module("main.py")
    node = module.definition("f")
    assert isinstance(node, ast.FunctionDef)
    assert prog.returns(module, node) == {"wandb.init()"}
    display = module.tree.body[-1]
    assert isinstance(display, ast.Expr)
    assert prog.resolve(module, display.value) == set()
    assert prog.elements(module, display.value) == {"wandb.init()"}


def test_what_other_files_put_into_a_container_is_in_it(tmp_path: Path) -> None:
    files = {
        "state.py": "STATE = {}\n",
        "boot.py": "import wandb\nfrom state import STATE as S\nS['run'] = wandb.init()\n",
        "main.py": "from state import STATE\nSTATE['run'].log({})\n",
    }
    prog = program(tmp_path, files, (b"wandb", b"STATE"))
    prog.module("boot.py")
    [call] = prog.module("main.py").calls()
    assert prog.resolve(prog.module("main.py"), call.func) == {"wandb.init().log"}
