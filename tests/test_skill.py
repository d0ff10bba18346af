"""The skill as an agent gets it: its front matter, its links, every command in its texts, and where it is installed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SKILL = ROOT / "skills" / "instrument-code"
PAGES = sorted(SKILL.rglob("*.md"))
#: What brings the tool where it is not installed; it needs the network and the published package.
BRINGS = ("uvx ", "pipx ", "python -m pip ")


def commands(page: Path) -> list[str]:
    """Every line of the page's shell blocks, in order."""
    return [line for block in re.findall(r"```bash\n(.*?)```", page.read_text(), re.S) for line in block.splitlines()]


def instrument(*arguments: str, cwd: Path, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(home), "WANDB_SILENT": "true", **more}
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
    env.pop("CLAUDE_CONFIG_DIR", None)
    return subprocess.run(
        [sys.executable, "-m", "instrument", *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A trainer under git, as an agent finds it."""
    folder = Path(shutil.copytree(ROOT / "corpus" / "demo", tmp_path / "demo"))
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)
    return folder


# -- the texts ---------------------------------------------------------------------------------------------------------


def test_the_reference_validator_accepts_it() -> None:
    skills_ref = pytest.importorskip("skills_ref")
    assert skills_ref.validate(SKILL) == []


def test_it_is_short_and_its_pages_can_be_found() -> None:
    assert len((SKILL / "SKILL.md").read_text().splitlines()) < 200
    linked = {SKILL / "SKILL.md"}
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).is_file(), f"{page.name} links to {target}"
            linked.add((page.parent / target).resolve())
    assert linked == set(PAGES)


def test_it_may_use_without_asking_only_what_writes_and_runs_nothing() -> None:
    [allowed] = re.findall(r"^allowed-tools: (.*)$", (SKILL / "SKILL.md").read_text(), re.M)
    tools = re.findall(r"(\w+)\(([^)]*)\)", allowed)
    assert tools and all(name == "Bash" for name, _ in tools)
    assert {what for _, what in tools} <= {f"instrument {c}:*" for c in ("detect", "diff", "check")}


def test_every_command_in_the_skill_runs_as_written(demo: Path, tmp_path: Path) -> None:
    """In the order of the page, in one repository: detect, diff, apply, check, verify, undo."""
    ran = []
    for line in commands(SKILL / "SKILL.md"):
        if line.startswith(BRINGS):
            assert " instrument --version" in line and "probe-instrument" in line
            continue
        name, *arguments = shlex.split(line)
        assert name == "instrument", line
        done = instrument(*arguments, cwd=demo, home=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        if "--json" in arguments:
            document = json.loads(done.stdout[done.stdout.index("{\n") :])
            assert document["schema"].startswith("instrument.")
            if arguments[0] == "verify":
                assert document["passed"] is True
        ran.append(arguments[0])
    assert ran == ["--version", "detect", "diff", "apply", "check", "verify", "verify", "undo"]
    status = subprocess.run(
        ["git", "status", "--short"], cwd=demo, capture_output=True, text=True, check=True, timeout=60
    )
    assert [line for line in status.stdout.splitlines() if not line.endswith("wandb/")] == []


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "SKILL.md" and commands(p)], ids=lambda p: p.stem)
def test_every_command_in_its_pages_runs_as_written(page: Path, demo: Path, tmp_path: Path) -> None:
    for line in commands(page):
        name, *arguments = shlex.split(line)
        assert name == "instrument", line
        done = instrument(*arguments, cwd=demo, home=tmp_path)
        # `check` finds what `apply` would add: that is an answer, not a failure.
        assert done.returncode in (0, 1), f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr


def test_every_option_in_the_texts_is_one_of_the_tool(tmp_path: Path) -> None:
    commands_of_it = ("detect", "diff", "apply", "check", "undo", "verify", "module", "import")
    known = " ".join(instrument(c, "--help", cwd=tmp_path, home=tmp_path, COLUMNS="200").stdout for c in commands_of_it)
    for page in PAGES:
        for snippet in re.findall(r"`(?:instrument [^`]*|--[^`]*)`", page.read_text()):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![._\w])", snippet.partition(" -- ")[0]):
                assert option in known or option in THEIRS, f"{page.name}: {snippet}"


#: Options of other programs that the texts speak of.
THEIRS = {
    "--no-deps", "--extra-index-url", "--export", "--report_to", "--with_tracking", "--version",
    "--custom-rollout-log-function-path",
}  # fmt: skip


# -- the plugin --------------------------------------------------------------------------------------------------------


def test_the_plugin_brings_the_skill() -> None:
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", plugin["name"])
    [entry] = market["plugins"]
    assert entry["name"] == plugin["name"] and market["owner"]["name"]
    assert (ROOT / entry["source"] / "skills" / "instrument-code" / "SKILL.md").is_file()


# -- installed ---------------------------------------------------------------------------------------------------------


def test_installing_again_changes_nothing_and_uninstalling_leaves_nothing(demo: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for arguments, there in (([], demo / ".claude"), (["--user", "--agent", "codex"], home / ".agents")):
        for state in ("installed", "up to date"):
            done = instrument("skill", "install", *arguments, cwd=demo, home=home)
            assert done.returncode == 0 and state in done.stdout, done.stdout + done.stderr
        installed = there / "skills" / "instrument-code"
        names = {p.relative_to(installed).as_posix() for p in installed.rglob("*.md")}
        assert names == {p.relative_to(SKILL).as_posix() for p in PAGES}
        assert instrument("skill", "uninstall", *arguments, cwd=demo, home=home).returncode == 0
        assert not there.exists()


def test_an_edited_copy_is_kept_unless_forced(demo: Path, tmp_path: Path) -> None:
    assert instrument("skill", "install", cwd=demo, home=tmp_path).returncode == 0
    page = demo / ".claude" / "skills" / "instrument-code" / "SKILL.md"
    edited = page.read_text() + "\nOur own rule.\n"
    page.write_text(edited)
    for command in ("install", "uninstall"):
        done = instrument("skill", command, "--json", cwd=demo, home=tmp_path)
        assert done.returncode == 2
        assert json.loads(done.stdout)["error"]["code"] == "edited-copy"
        assert page.read_text() == edited
    assert instrument("skill", "install", "--force", cwd=demo, home=tmp_path).returncode == 0
    assert page.read_bytes() == (SKILL / "SKILL.md").read_bytes()
