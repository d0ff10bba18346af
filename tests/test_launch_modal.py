"""Modal apps: what reaches the container is the package a function is in, or its one file, and the secrets it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.miles import applied, planned

ALONE = """import modal

app = modal.App("toy")
image = modal.Image.debian_slim().pip_install("wandb")


@app.function(image=image)
def train(steps: int):
    import wandb

    wandb.init(project="toy")
    for step in range(steps):
        wandb.log({"loss": 1.0}, step=step)


@app.function()
def other():
    return 1
"""
SECRET = 'secrets=[modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})]'
#: Modal where the file is imported in the container, and W&B.
STUBS = {
    "modal.py": """
import sys


class _Any:
    def __getattr__(self, name):
        return lambda *a, **k: self

    def __call__(self, *a, **k):
        return self


class App:
    def __init__(self, *a, **k):
        pass

    def function(self, *a, **k):
        print("function", {key: value for key, value in k.items() if key == "secrets"})
        return lambda f: f


class Secret:
    from_name = staticmethod(lambda *a, **k: a[0])
    from_dict = staticmethod(lambda d: sorted(d))


Image = _Any()
""",
    "wandb.py": """
from types import SimpleNamespace

run, config = SimpleNamespace(name="n", id="i"), {}
init = lambda **k: run
log = lambda *a, **k: print("wandb.log", a, k)
""",
}


def test_a_file_that_is_alone_in_its_container(tmp_path: Path) -> None:
    """One file is all there is of the repository: no import of a neighbour, and a secret though none was there."""
    root = tmp_path / "repo"
    root.mkdir()
    (root / "app.py").write_text(ALONE)
    applied(root)
    text = (root / "app.py").read_text()
    assert not (root / "probe_tracking.py").exists() and "import probe_tracking" not in text
    assert f"@app.function(image=image, {SECRET})\ndef train" in text and "@app.function()\ndef other" in text
    assert 'pip_install("wandb", "probe-research")' in text
    assert planned(root)[1] == {}

    container = tmp_path / "container"
    container.mkdir()
    for name, stub in STUBS.items():
        (container / name).write_text(stub)
    (container / "app.py").write_text(text)
    environment = {"PATH": os.environ["PATH"], "HOME": str(container), "PROBE_MODE": "disabled"}
    command = [sys.executable, "-c", "import app; app.train(2)"]
    done = subprocess.run(
        command, cwd=container, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "function {'secrets': [['PROBE_TOKEN']]}", "function {}",
        "wandb.log ({'loss': 1.0},) {'step': 0}", "wandb.log ({'loss': 1.0},) {'step': 1}",
    ]  # fmt: skip


def test_a_module_that_is_carried_by_name(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        'import modal\n\nimage = modal.Image.debian_slim().add_local_python_source("loop")\napp = modal.App("toy")\n\n\n'
        '@app.function(image=image, secrets=[modal.Secret.from_name("hf")])\ndef train():\n    import loop\n\n    loop.fit()\n'
    )
    (tmp_path / "loop.py").write_text("import wandb\n\n\ndef fit():\n    wandb.init()\n    wandb.log({'loss': 1.0})\n")
    applied(tmp_path)
    assert not (tmp_path / "probe_tracking.py").exists()
    assert "probe.log({'loss': 1.0})" in (tmp_path / "loop.py").read_text()
    assert 'from_name("hf"), modal.Secret.from_dict({"PROBE_TOKEN"' in (tmp_path / "app.py").read_text()


def test_a_package_is_carried_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "app.py").write_text(
        "import modal\nfrom pkg.loop import fit\n\napp = modal.App()\n\n\n@app.cls(\n    timeout=10,\n)\nclass Trainer:\n"
        "    @modal.method()\n    def go(self):\n        fit()\n"
    )
    (tmp_path / "pkg" / "loop.py").write_text(
        "import wandb\n\n\ndef fit():\n    wandb.init()\n    wandb.log({'loss': 1.0})\n"
    )
    applied(tmp_path)
    assert (tmp_path / "pkg" / "probe_tracking.py").exists()
    assert f"    timeout=10,\n    {SECRET},\n)" in (tmp_path / "pkg" / "app.py").read_text()


def test_what_cant_be_seen_is_asked(tmp_path: Path) -> None:
    text = ALONE.replace("@app.function(image=image)", "@app.function(**options)")
    (tmp_path / "app.py").write_text(text.replace("\n\n\n", '\n\noptions = {"image": image}\n\n\n', 1))
    plan, _ = planned(tmp_path)
    assert [note.line for note in plan.notes if note.code == "token-not-forwarded"] == [9]
