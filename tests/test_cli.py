"""The command line as a person, a script and a pipe use it: run as a program, on small repositories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest

from instrument.errors import InstrumentError
from instrument.settings import Settings, load, parse
from tests import cases

DEMO = Path(__file__).resolve().parents[1] / "corpus" / "demo"
COMMANDS = ("detect", "diff", "apply", "check", "undo")


def tool(*arguments: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run `instrument` without a terminal."""
    environment = {**os.environ, "COLUMNS": "80", **options.pop("env", {})}  # type: ignore[dict-item]
    return subprocess.run(
        [sys.executable, "-m", "instrument", *arguments], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False, **options,
    )  # type: ignore[call-overload, no-any-return]  # fmt: skip


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The demo trainer, outside git."""
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def repo(demo: Path) -> Path:
    """The demo trainer, committed."""
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=demo, check=True)
    return demo


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# -- help and start-up ------------------------------------------------------------------------------------------------


def test_help_names_every_command_and_the_exit_codes(tmp_path: Path) -> None:
    done = tool("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(f"  {command} " in done.stdout for command in COMMANDS)
    assert "0 done or clean, 1 something to do or found, 2 could" in " ".join(done.stdout.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_ends_with_an_example(tmp_path: Path, command: str) -> None:
    done = tool(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.rstrip().split("\n\n")[-1].strip().startswith(f"Example: instrument {command} ")


def test_help_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom instrument.cli import build\n"
        "try: build()(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'rich', 'libcst', 'jinja2', 'tomlkit', 'pydantic', 'tree_sitter', 'pathspec'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_without_arguments_help_is_shown(tmp_path: Path) -> None:
    done = tool(cwd=tmp_path)
    assert "Usage: instrument" in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["detect", "--no-such"], ["nope"], ["diff", "--strategy", "magic"]])
def test_wrong_usage_is_2_and_says_what_is_wrong(tmp_path: Path, arguments: list[str]) -> None:
    done = tool(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Error" in done.stderr and "Traceback" not in done.stderr


def test_completion_is_offered(tmp_path: Path) -> None:
    done = tool(
        cwd=tmp_path, env={"_INSTRUMENT_COMPLETE": "complete_bash", "COMP_WORDS": "instrument de", "COMP_CWORD": "1"}
    )
    assert "detect" in done.stdout


# -- the way through --------------------------------------------------------------------------------------------------


def test_detect_says_what_it_found(demo: Path) -> None:
    done = tool("detect", ".", cwd=demo)
    assert done.returncode == 0, done.stderr
    assert "train.py" in done.stdout and "recorded by Probe with this change" in done.stdout
    assert "\x1b" not in done.stdout


def test_diff_prints_only_a_patch_that_git_takes(repo: Path) -> None:
    before = tree(repo)
    done = tool("diff", ".", cwd=repo)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("diff --git ")
    assert "Found" in done.stderr
    check = subprocess.run(["git", "apply", "--check"], input=done.stdout, text=True, cwd=repo, check=False)
    assert check.returncode == 0
    assert tree(repo) == before


def test_diff_below_the_git_root_names_files_from_the_root(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    shutil.copytree(DEMO, tmp_path / "sub" / "demo", ignore=shutil.ignore_patterns("__pycache__"))
    done = tool("diff", "sub/demo", "-q", cwd=tmp_path)
    assert "+++ b/sub/demo/train.py" in done.stdout
    assert subprocess.run(["git", "apply"], input=done.stdout, text=True, cwd=tmp_path, check=False).returncode == 0
    assert tool("diff", "sub/demo", "-q", cwd=tmp_path).stdout == ""


def test_apply_without_a_terminal_writes_nothing_and_says_so(demo: Path) -> None:
    before = tree(demo)
    done = tool("apply", ".", cwd=demo)
    assert done.returncode == 1
    assert "nothing was written" in done.stderr and "--yes" in done.stderr
    assert tree(demo) == before


def test_apply_check_apply_undo(demo: Path) -> None:
    before = tree(demo)
    assert tool("check", ".", cwd=demo).returncode == 1
    done = tool("apply", ".", "--yes", cwd=demo)
    assert done.returncode == 0, done.stderr
    assert "instrument undo" in done.stdout and "PROBE_TOKEN" in done.stdout
    after = tree(demo)
    assert after != before
    again = tool("apply", ".", "--yes", cwd=demo)
    assert again.returncode == 0 and "already instrumented, nothing to do" in again.stdout
    assert tree(demo) == after
    assert tool("check", ".", cwd=demo).returncode == 0
    assert tool("diff", ".", cwd=demo).stdout == ""
    undone = tool("undo", ".", cwd=demo)
    assert undone.returncode == 0 and "train.py" in undone.stdout
    assert tree(demo) == before
    assert tool("undo", ".", cwd=demo).returncode == 2


def test_what_is_applied_is_what_diff_showed(repo: Path) -> None:
    patch = tool("diff", ".", "-q", cwd=repo).stdout
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=repo, check=True)
    by_git = tree(repo)
    subprocess.run(["git", "apply", "-R"], input=patch, text=True, cwd=repo, check=True)
    assert tool("apply", ".", "-y", cwd=repo).returncode == 0
    assert tree(repo) == by_git


def test_uncommitted_changes_are_refused(repo: Path) -> None:
    file = repo / "train.py"
    file.write_text(file.read_text() + "\n# mine\n")
    before = tree(repo)
    done = tool("apply", ".", "--yes", cwd=repo)
    assert done.returncode == 2
    assert "train.py" in done.stderr and "--allow-dirty" in done.stderr
    assert tree(repo) == before
    assert tool("apply", ".", "--yes", "--allow-dirty", cwd=repo).returncode == 0
    assert "# mine" in file.read_text()


def test_a_saved_plan_is_applied_only_to_the_same_sources(demo: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert tool("diff", ".", "--plan", str(plan), cwd=demo).returncode == 0
    assert json.loads(plan.read_text())["schema"] == "instrument.plan/1"
    file = demo / "train.py"
    text = file.read_text()
    file.write_text(text + "\n# mine\n")
    changed = tree(demo)
    refused = tool("apply", ".", "--yes", "--plan", str(plan), cwd=demo)
    assert refused.returncode == 2 and "train.py" in refused.stderr
    assert tree(demo) == changed
    file.write_text(text)
    assert tool("apply", ".", "--yes", "--plan", str(plan), cwd=demo).returncode == 0
    assert "probe" in file.read_text()


def test_a_saved_plan_may_be_a_part_of_what_there_is_to_do(demo: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    tool("diff", ".", "--only", "*.py", "--plan", str(plan), cwd=demo)
    done = tool("apply", ".", "--yes", "--plan", str(plan), cwd=demo)
    assert done.returncode == 0, done.stderr
    assert "probe" in (demo / "train.py").read_text() and "probe" not in (demo / "requirements.txt").read_text()


def test_patch_and_markdown_files(demo: Path, tmp_path: Path) -> None:
    done = tool("diff", ".", "--patch", str(tmp_path / "p"), "--markdown", str(tmp_path / "m"), cwd=demo)
    assert done.returncode == 0 and done.stdout == ""
    assert (tmp_path / "p").read_text().startswith("diff --git")
    assert "| `train.py` |" in (tmp_path / "m").read_text()


def test_exit_code_is_opt_in(demo: Path) -> None:
    assert tool("diff", ".", "-q", cwd=demo).returncode == 0
    assert tool("diff", ".", "-q", "--exit-code", cwd=demo).returncode == 1


@pytest.mark.parametrize("command", ["detect", "diff", "check", "apply"])
def test_json_is_one_document(demo: Path, command: str) -> None:
    done = tool(command, ".", "--json", cwd=demo)
    document = json.loads(done.stdout)
    assert document["schema"] == "instrument.report/1" and document["command"] == command
    assert document["outcome"] == "found"


def test_only_and_exclude_limit_what_is_edited(demo: Path) -> None:
    shutil.copy(demo / "train.py", demo / "other.py")
    both = tool("diff", ".", "-q", cwd=demo).stdout
    only = tool("diff", ".", "-q", "--only", "other.py", cwd=demo).stdout
    without = tool("diff", ".", "-q", "--exclude", "other.py", cwd=demo).stdout
    assert "b/train.py" in both and "b/other.py" in both
    assert "b/train.py" not in only and "b/other.py" in only
    assert "b/train.py" in without and "b/other.py" not in without


def test_one_file_may_be_named(demo: Path) -> None:
    done = tool("diff", "train.py", "-q", cwd=demo)
    assert "b/train.py" in done.stdout


def test_sarif_and_annotations(demo: Path, tmp_path: Path) -> None:
    done = tool("check", ".", "--github", "--sarif", str(tmp_path / "s"), cwd=demo)
    assert done.returncode == 1
    assert "::warning file=train.py,line=" in done.stdout
    assert all(line.startswith(("::warning ", "::notice ")) for line in done.stdout.splitlines())
    assert json.loads((tmp_path / "s").read_text())["version"] == "2.1.0"


# -- what goes wrong --------------------------------------------------------------------------------------------------


def test_no_such_folder(tmp_path: Path) -> None:
    done = tool("detect", "nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("instrument: nowhere: there is no such file or folder")
    document = json.loads(tool("detect", "nowhere", "--json", cwd=tmp_path).stdout)
    assert document["schema"] == "instrument.error/1" and document["error"]["path"] == "nowhere"


def test_an_empty_folder_is_clean(tmp_path: Path) -> None:
    for command in (["detect"], ["check"], ["apply", "--yes"]):
        done = tool(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "nothing to do" in done.stdout


def test_an_unknown_rule_is_named(demo: Path) -> None:
    done = tool("diff", ".", "--select", "wandbb", cwd=demo)
    assert done.returncode == 2 and "did you mean «wandb»" in done.stderr


def test_unknown_settings_are_refused_with_file_and_line(demo: Path) -> None:
    (demo / "pyproject.toml").write_text('[tool.instrument]\nstrategy = "import"\nprojct = "x"\n')
    done = tool("detect", ".", cwd=demo)
    assert done.returncode == 2
    assert "pyproject.toml:3: [tool.instrument] has an unknown key «projct»" in done.stderr
    assert "did you mean «project»" in done.stderr


def test_a_closed_pipe_is_quiet(demo: Path) -> None:
    for command in ("detect . -v", "diff .", "detect . --json"):
        line = f"{sys.executable} -m instrument {command} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], cwd=demo, capture_output=True, text=True, check=False)
        assert done.stderr.count("Traceback") == 0 and "BrokenPipe" not in done.stderr, done.stderr
        assert done.returncode == 141  # as any program that is ended by SIGPIPE; never a false "clean"


def test_hostile_names_are_escaped(demo: Path) -> None:
    (demo / "a\x1b[31mb\nc.py").write_text((demo / "train.py").read_text())
    done = tool("detect", ".", "-v", cwd=demo)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout and "\\x1b[31mb\\nc.py" in done.stdout
    diff = tool("diff", ".", cwd=demo)
    assert "\x1b" not in diff.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and links of POSIX")
@pytest.mark.parametrize("git", [False, True])
def test_a_hostile_folder_ends_in_a_clean_report(demo: Path, git: bool) -> None:
    os.mkfifo(demo / "pipe.py")
    (demo / "loop").symlink_to(demo, target_is_directory=True)
    (demo / "self.py").symlink_to("self.py")
    (demo / "out.py").symlink_to("/etc/hostname")
    (demo / "long.py").write_text("import wandb\nx = '" + "a" * 1_000_000 + "'\nwandb.log({'x': x})\n")
    (demo / "deep.py").write_text("import wandb\nx = " + "(" * 5000 + ")" * 5000 + "\n")
    (demo / "zero.py").write_bytes(b"import wandb\n\x00\n")
    (demo / "latin.py").write_bytes(b"import wandb  # \xe9\n")
    (demo / "html.py").write_text("import wandb\nwandb.init()\nwandb.log({'</script><b>': 1})\n")
    with (demo / "big.py").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    folder = demo
    for _ in range(200):
        folder = folder / "d"
        folder.mkdir()
    (folder / "t.py").write_text("import wandb\nwandb.init()\n")
    if git:
        subprocess.run(["git", "init", "-q"], cwd=demo, check=True)
    before = tree_of_small(demo)
    done = tool("detect", ".", "-v", cwd=demo)
    assert done.returncode == 0, done.stderr
    for name in ("deep.py", "zero.py", "latin.py"):
        assert name in done.stdout
    patch = tool("diff", ".", cwd=demo)
    assert patch.returncode == 0, patch.stderr
    assert "big.py" not in patch.stdout and "out.py" not in patch.stdout
    assert tree_of_small(demo) == before


def tree_of_small(folder: Path) -> dict[str, bytes]:
    """What can be read without waiting or ending up elsewhere."""
    names = (Path(root, name) for root, _, names in os.walk(folder) for name in names if ".git" not in root)
    regular = (path for path in names if path.is_file() and not path.is_symlink() and path.stat().st_size < 10**7)
    return {str(path.relative_to(folder)): path.read_bytes() for path in regular}


def test_a_file_that_does_not_parse_is_told_and_the_rest_goes_on(demo: Path) -> None:
    (demo / "broken.py").write_text("import wandb\ndef (:\n")
    done = tool("diff", ".", cwd=demo)
    assert done.returncode == 0 and "b/train.py" in done.stdout
    assert "broken.py:2" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
class TestTerminal:
    """On a real terminal, with a person at the keys."""

    def _spawn(self, arguments: list[str], cwd: Path, **env: str) -> Any:
        environment = {**os.environ, "TERM": "xterm-256color", "PAGER": "cat", **env}
        return pexpect.spawn(
            sys.executable, ["-m", "instrument", *arguments], cwd=str(cwd), env=environment, encoding="utf-8",
            timeout=60, dimensions=(60, 60),
        )  # fmt: skip

    def test_apply_shows_the_change_and_asks(self, demo: Path) -> None:
        before = tree(demo)
        child = self._spawn(["apply", "."], demo)
        child.expect(r"Write this\?")
        assert "probe" in child.before and "\x1b[32m" in child.before
        child.sendline("n")
        child.expect("nothing was written")
        child.wait()
        assert child.exitstatus == 1 and tree(demo) == before
        child = self._spawn(["apply", "."], demo)
        child.expect(r"Write this\?")
        child.sendline("y")
        child.expect("instrument undo")
        child.expect(pexpect.EOF)
        child.wait()
        assert child.exitstatus == 0 and tree(demo) != before

    def test_ctrl_c_at_the_question(self, demo: Path) -> None:
        before = tree(demo)
        child = self._spawn(["apply", "."], demo)
        child.expect(r"Write this\?")
        child.sendcontrol("c")
        child.expect(pexpect.EOF)
        child.wait()
        assert child.exitstatus == 130 and "Traceback" not in child.before
        assert tree(demo) == before

    def test_end_of_input_at_the_question_is_no(self, demo: Path) -> None:
        child = self._spawn(["apply", "."], demo)
        child.expect(r"Write this\?")
        child.sendeof()
        child.expect("nothing was written")
        child.wait()
        assert child.exitstatus == 1

    def test_no_color_is_honoured(self, demo: Path) -> None:
        child = self._spawn(["detect", "."], demo, NO_COLOR="1")
        child.expect(pexpect.EOF)
        assert "\x1b[3" not in child.before

    def test_lines_keep_to_sixty_columns(self, demo: Path) -> None:
        child = self._spawn(["detect", ".", "--color", "never"], demo)
        child.expect(pexpect.EOF)
        assert all(len(line) <= 60 for line in child.before.replace("\r", "").split("\n"))


# -- settings ---------------------------------------------------------------------------------------------------------


def test_settings_of_the_nearest_pyproject(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.instrument]\nproject = "p"\nonly = ["src/*"]\nexclude = ["a.py"]\n')
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "t.py").write_text("")
    for target in (tmp_path, tmp_path / "src", tmp_path / "src" / "t.py"):
        assert load(target) == Settings(project="p", only=("src/*",), exclude=("a.py",))
    assert load(tmp_path).globs == ("src/*", "!a.py")
    assert Settings(exclude=("a.py",)).globs == ("*", "!a.py")
    assert Settings().globs == ()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[tool.instrument]\nx = 1\n", 2, "unknown key «x»"),
        ("[tool.instrument]\nname = 1\n", 2, "must be a string"),
        ("\n[tool.instrument]\n\nonly = 'a'\n", 4, "must be a list of strings"),
        ("[tool.instrument]\nstrategy = 'mine'\n", 2, "must be one of register, alongside, import"),
        ("[tool]\ninstrument = 3\n", 2, "must be a table"),
        ("[tool.instrument]\nname = 'a\n", 2, "not valid TOML"),
    ],
)
def test_settings_are_strict(text: str, line: int, message: str) -> None:
    with pytest.raises(InstrumentError, match=message) as caught:
        parse(text, "pyproject.toml")
    assert caught.value.line == line


def test_other_tools_settings_are_not_ours() -> None:
    assert parse('[tool.other]\nx = 1\n[project]\nname = "instrument"\n', "p") == Settings()


def test_start_up_is_quick(tmp_path: Path) -> None:
    """`instrument --help` costs little more than Python itself: measured in processor time, best of five."""

    def cost(*arguments: str) -> float:
        best = float("inf")
        for _ in range(5):
            begun = os.times()
            subprocess.run([sys.executable, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
            ended = os.times()
            best = min(best, ended.children_user + ended.children_system - begun.children_user - begun.children_system)
            time.sleep(0)
        return best

    assert cost("-m", "instrument", "--help") - cost("-c", "pass") < 0.15


def test_check_since_looks_at_what_changed(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)

    old = "import wandb\nwandb.init()\nwandb.log({'a': 1}, step=1)\n"
    (tmp_path / "old.py").write_text(old)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "x")
    assert cases.instrument("check", str(tmp_path), "--quiet")[0] == 1
    assert cases.instrument("check", str(tmp_path), "--since", "HEAD")[0] == 0
    (tmp_path / "new file.py").write_text(old)
    code, said = cases.instrument("check", str(tmp_path), "--since", "HEAD")
    assert code == 1 and "new file.py" in said and "old.py" not in said
    (tmp_path / "new file.py").unlink()
    (tmp_path / "old.py").write_text(old + "wandb.log({'b': 1}, step=2)\n")
    assert "old.py" in cases.instrument("check", str(tmp_path), "--since", "HEAD")[1]
    for revision in ("nowhere", "--output=x", "HEAD~9"):
        code, said = cases.instrument("check", str(tmp_path), f"--since={revision}")
        assert code == 2 and "revision" in said and "Traceback" not in said
    assert not (tmp_path / "x").exists()
