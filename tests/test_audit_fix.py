"""`instrument audit --fix`: what it writes, what it leaves, and that it is taken back."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from instrument.audit.fixes import all_fixes
from instrument.audit.fixes._settle import Settled
from instrument.audit.rule import all_rules
from instrument.cli import build
from tests.audit_lab import DATA, fix, settled

ROOT = Path(__file__).resolve().parents[1]


def fixed(tmp_path: Path, text: str, *, review: bool = True, name: str = "train.py") -> tuple[str, Settled]:
    """A file's text after its fixes, each proved and the second time empty."""
    folder = tmp_path / "repo"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    result = fix(folder, review=review)
    return (folder / name).read_text("utf-8"), result


def reasons(result: Settled) -> list[str]:
    return [f"{finding.code}: {why}" for finding, why in result.left]


@pytest.fixture
def cli() -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: object) -> tuple[int, str, str]:
        result = CliRunner().invoke(build(), list(map(str, arguments)))
        return result.exit_code, result.stdout, result.stderr

    return run


def test_each_fix_is_of_a_rule() -> None:
    assert {fix.code for fix in all_fixes()} <= {rule.code for rule in all_rules()}


# -- axes and counters in rows

AXES = 'import wandb\n\nwandb.init()\nwandb.define_metric("train/*", step_metric="train/step")\n'


def test_a_key_below_a_glob_gets_its_axis_and_that_is_safe(tmp_path: Path) -> None:
    text = AXES + 'wandb.define_metric("train/lr")\nwandb.log({"train/step": 1, "train/lr": 2})\n'
    after, result = fixed(tmp_path, text, review=False)
    assert 'wandb.define_metric("train/lr", step_metric="train/step")' in after and not result.left
    # A counter may be meant for more than one axis.
    after, result = fixed(tmp_path, text.replace("train/lr", "train/rollout_id"), review=False)
    assert "step_metric" not in after.splitlines()[4] and any("--review" in why for why in reasons(result))


def test_an_axis_that_is_not_known_is_left(tmp_path: Path) -> None:
    text = 'import wandb\n\nwandb.init()\nwandb.define_metric("loss")\nwandb.log({"loss": 1})\n'
    after, result = fixed(tmp_path, text)
    assert after == text and any("no axis" in why for why in reasons(result))


def test_the_counter_goes_into_a_row_that_is_a_name(tmp_path: Path) -> None:
    text = AXES + (
        "def log(metrics, step):\n"
        '    wandb.log({"train/step": step, "train/loss": 1.0})\n'
        '    metrics["train/lr"] = 0.1\n'
        "    wandb.log(metrics)\n\n\n"
        'log({"train/grad": 1.0}, 3)\n'
    )
    after, _ = fixed(tmp_path, text)
    assert '    wandb.log({**metrics, "train/step": step})\n' in after


def test_a_counter_that_was_counted_on_in_between_is_for_review(tmp_path: Path) -> None:
    text = AXES + (
        "step = 0\nfor _ in range(3):\n"
        '    wandb.log({"train/step": step, "train/loss": 1.0})\n    step += 1\n    wandb.log({"train/lr": 0.1})\n'
    )
    after, result = fixed(tmp_path, text, review=False)
    assert after == text and any("--review" in why for why in reasons(result))


def test_a_counter_that_is_nowhere_is_left(tmp_path: Path) -> None:
    text = (
        AXES + 'for n in range(3):\n    wandb.log({"train/lr": 0.1})\nwandb.log({"train/step": 3, "train/loss": 1})\n'
    )
    after, result = fixed(tmp_path, text)
    assert 'wandb.log({"train/lr": 0.1})' in after and result.left


# -- counters in checkpoints

LOOP = '''import json
import os

import wandb


def main(path):
    """Train."""
    wandb.init()
    start = 0
{load}    for rollout in range(start, 5):
        parts = split(rollout)
        for i, part in enumerate(parts):
            step = rollout * len(parts) + i
            wandb.log({{"train/loss": part}}, step=step)
{save}
'''
LOAD = "    if os.path.exists(path):\n        ckpt = json.load(open(path))\n        start = ckpt['rollout'] + 1\n"
SAVE = "        with open(path, 'w') as f:\n            json.dump({'rollout': rollout}, f)\n"


def test_a_loop_without_a_checkpoint_counts_from_nothing(tmp_path: Path) -> None:
    after, _ = fixed(tmp_path, LOOP.format(load="", save=""))
    assert "    steps_done = 0\n    for rollout" in after and "steps_done += 1" in after


def test_the_count_is_saved_in_the_layout_of_the_mapping(tmp_path: Path) -> None:
    spread = SAVE.replace("{'rollout': rollout}", "{\n                'rollout': rollout,  # from 0\n            }")
    after, _ = fixed(tmp_path, LOOP.format(load=LOAD, save=spread))
    assert (
        "                'rollout': rollout,  # from 0\n                'steps_done': steps_done,\n            }"
        in after.replace('"', "'")
    )


def test_a_checkpoint_that_is_not_loaded_here_is_left(tmp_path: Path) -> None:
    text = LOOP.format(load="", save=SAVE)
    after, result = fixed(tmp_path, text)
    assert after == text and any("is not loaded in the same function" in why for why in reasons(result))


def test_a_step_under_a_condition_is_left(tmp_path: Path) -> None:
    text = LOOP.format(load="", save="").replace(
        "            step = rollout", "            if i % 2:\n                step = rollout"
    )
    after, result = fixed(tmp_path, text)
    assert after == text and any("under a condition" in why for why in reasons(result))


def test_a_counter_held_by_another_object_is_kept_by_who_saves(tmp_path: Path) -> None:
    text = """import torch
import wandb


class Log:
    def __init__(self):
        self.step = 0

    def __call__(self, row):
        wandb.log(row, step=self.step)
        self.step += 1


class Trainer:
    def __init__(self, model):
        self.model = model
        self.log = Log()

    def save(self, path):
        torch.save({"model": self.model.state_dict()}, path)

    def resume(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])

    def fit(self):
        for _ in range(10):
            self.log({"train/loss": self.model.update()})
"""
    after, _ = fixed(tmp_path, text)
    assert '{"model": self.model.state_dict(), "step": self.log.step}' in after
    assert '        self.log.step = state.get("step", self.log.step)\n' in after


def test_a_state_dict_gets_the_counter(tmp_path: Path) -> None:
    text = '''import wandb


class Trainer:
    def __init__(self):
        self.n = 0
        self.updates = 0

    def state_dict(self):
        return {"n": self.n}

    def load_state_dict(self, state):
        """Take it back."""
        self.n = state["n"]

    def update(self, loss):
        self.updates += 1
        wandb.log({"train/loss": loss}, step=self.updates)


def resume(trainer, path):
    trainer.load_state_dict(read(path))
'''
    after, _ = fixed(tmp_path, text)
    assert 'return {"n": self.n, "updates": self.updates}' in after
    assert '"""Take it back."""\n        self.updates = state.get("updates", self.updates)\n' in after


# -- zeros


def test_a_rate_of_a_literal_that_goes_to_the_tracker_is_safe(tmp_path: Path) -> None:
    text = 'import wandb\n\nwandb.init()\nhits = []\nwandb.log({"a/loss": 1, "a/hit_rate": round(sum(hits) / len(hits) if hits else 0.0, 2)})\nwandb.log({"a/rate": sum(hits) / len(hits) if hits else 0.0})\n'
    after, result = fixed(tmp_path, text, review=False)
    assert 'wandb.log({**({"a/rate": sum(hits) / len(hits)} if hits else {})})' in after
    assert [finding.line for finding, _ in result.fixed] == [6]
    after, _ = fixed(tmp_path, after)
    assert '**({"a/hit_rate": round(sum(hits) / len(hits), 2)} if hits else {})' in after


def test_an_item_that_is_set_is_set_under_its_condition(tmp_path: Path) -> None:
    text = 'import wandb\n\n\ndef log(rewards):\n    row = {"a/loss": 1}\n    row["a/reward_mean"] = sum(rewards) / len(rewards) if rewards else 0.0\n    wandb.log(row)\n'
    after, _ = fixed(tmp_path, text)
    assert '    if rewards:\n        row["a/reward_mean"] = sum(rewards) / len(rewards)\n' in after


def test_a_value_that_is_used_elsewhere_is_left(tmp_path: Path) -> None:
    text = 'import wandb\n\n\ndef log(rewards):\n    mean = sum(rewards) / len(rewards) if rewards else 0.0\n    print(mean)\n    wandb.log({"a/reward_mean": mean})\n'
    after, result = fixed(tmp_path, text)
    assert after == text and any("used for more" in why for why in reasons(result))


# -- sections

FLAT = 'import wandb\n\nwandb.init()\nfor n in range(3):\n    wandb.log({"train/loss": 1.0, "tokens_seen": n, "lr": 0.1})\n'


def test_a_section_that_is_not_known_is_asked_for_by_name(tmp_path: Path) -> None:
    after, result = fixed(tmp_path, FLAT.replace("tokens_seen", "fuel"))
    assert "sectioned" not in after and any(
        "«fuel» in [tool.instrument.audit.section]" in why for why in reasons(result)
    )


def test_the_settings_say_a_section(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[tool.instrument.audit.section]\n"fuel*" = "perf"\n"lr" = "optim"\n')
    after, result = fixed(tmp_path, FLAT.replace("tokens_seen", "fuel_left"))
    assert not result.left and "sectioned({" in after
    sections = (folder / "metric_sections.py").read_text("utf-8")
    assert '"fuel_left": "perf"' in sections and '"lr": "optim"' in sections


def test_the_map_lies_beside_the_package_and_grows(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "__init__.py").write_text("")
    (folder / "toy" / "train.py").write_text("from toy import data\n" + FLAT)
    (folder / "toy" / "data.py").write_text("")
    fix(folder)
    assert "from toy.metric_sections import sectioned\n" in (folder / "toy" / "train.py").read_text("utf-8")
    sections = folder / "toy" / "metric_sections.py"
    assert '    "lr": "train",\n' in sections.read_text("utf-8")
    (folder / "toy" / "evaluate.py").write_text(FLAT.replace('"lr"', '"grad_norm"'))
    fix(folder)
    text = sections.read_text("utf-8")
    assert '    "grad_norm": "train",\n' in text and '    "lr": "train",\n' in text


# -- the command


def test_shown_written_and_taken_back(tmp_path: Path, cli: Callable[..., tuple[int, str, str]]) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    shutil.copy(DATA / "rollouts.py", folder / "train.py")
    before = (folder / "train.py").read_bytes()
    code, out, err = cli("audit", folder, "--fix", "--review", "--diff")
    assert code == 0 and out.startswith("diff --git a/train.py b/train.py\n") and "1 finding can be fixed" in err
    done = subprocess.run(
        ["git", "apply", "--check", "-"], input=out.encode(), cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    code, out, err = cli("audit", folder, "--fix", "--review")
    assert code == 1 and "nothing was written" in err and (folder / "train.py").read_bytes() == before
    code, out, _ = cli("audit", folder, "--fix", "--yes")
    assert code == 1 and "--review takes it" in out and (folder / "train.py").read_bytes() == before
    code, out, _ = cli("audit", folder, "--fix", "--review", "--yes")
    assert (
        code == 0 and "1 finding fixed in 1 file, 0 left" in out and b"steps_done" in (folder / "train.py").read_bytes()
    )
    code, out, _ = cli("audit", folder, "--fix", "--review", "--yes")
    assert code == 0 and "nothing to fix" in out
    code, out, _ = cli("audit", folder, "--fix", "--review", "--diff")
    assert code == 0 and out == ""
    assert cli("undo", folder)[0] == 0 and (folder / "train.py").read_bytes() == before


def test_the_document(tmp_path: Path, cli: Callable[..., tuple[int, str, str]]) -> None:
    shutil.copy(DATA / "axes.py", tmp_path / "train.py")
    schema = Draft202012Validator(json.loads((ROOT / "docs" / "audit-fix.schema.json").read_text("utf-8")))
    code, out, _ = cli("audit", tmp_path, "--fix", "--review", "--json")
    shown = json.loads(out)
    schema.validate(shown)
    assert code == 1 and shown["outcome"] == "found" and len(shown["fixed"]) == 3 and shown["patch"].startswith("diff")
    code, out, _ = cli("audit", tmp_path, "--fix", "--review", "--json", "--yes")
    schema.validate(json.loads(out))
    code, out, _ = cli("audit", tmp_path, "--fix", "--review", "--json", "--yes")
    clean = json.loads(out)
    schema.validate(clean)
    assert code == 0 and clean["outcome"] == "clean" and clean["patch"] == ""


def test_sarif_has_the_fix(tmp_path: Path, cli: Callable[..., tuple[int, str, str]]) -> None:
    shutil.copy(DATA / "zeros.py", tmp_path / "train.py")
    code, out, _ = cli("audit", tmp_path, "--output-format", "sarif")
    results = json.loads(out)["runs"][0]["results"]
    assert code == 1 and all(result["fixes"] for result in results)


def test_a_dirty_file_is_left_alone(tmp_path: Path, cli: Callable[..., tuple[int, str, str]]) -> None:
    shutil.copy(DATA / "zeros.py", tmp_path / "train.py")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    with (tmp_path / "train.py").open("a") as file:
        file.write("# mine\n")
    code, _, err = cli("audit", tmp_path, "--fix", "--yes")
    assert code == 2 and "not committed" in err
    assert settled(tmp_path)[1].fixed
    assert cli("audit", tmp_path, "--fix", "--yes", "--allow-dirty")[0] == 0


# -- what a fix of a fork of Miles puts into it


def module_of(name: str, tmp_path: Path, **given: object) -> dict[str, object]:
    from instrument.plan.render import environment

    text = environment().get_template(f"{name}.py.jinja").render(**given)
    names: dict[str, object] = {}
    exec(compile(text, f"{name}.py", "exec"), names)
    return names


def test_the_count_of_steps_over_rollouts_resumes_and_disks(tmp_path: Path) -> None:
    from argparse import Namespace

    def process(save: str | None, load: str | None = None) -> Callable[..., int]:
        step = module_of("train_steps", tmp_path)["train_step"]
        args = Namespace(save=save, load=load)
        return lambda rollout, number, size, role="actor": step(args, rollout, number, size, role)  # type: ignore[operator]

    folder = str(tmp_path / "ckpt")
    first = process(folder)
    sizes = {0: 10, 1: 4, 2: 6}
    made = [first(r, i, n) for r, n in sizes.items() for i in range(n)]
    assert made == list(range(20)) and first(2, 5, 6) == 19  # asked again: the same
    assert process(folder)(3, 0, 5) == 20  # a clean end
    again = process(folder)  # killed in rollout 3, resumed at 1, which now makes other numbers of steps
    assert [again(1, i, 7) for i in range(7)] == list(range(10, 17)) and again(2, 0, 3) == 17
    assert first(0, 0, 1, "critic") == 0 and process(None)(0, 3, 9) == 3
    other = process(str(tmp_path / "new"), folder)
    assert other(3, 0, 2) == 18 and process(str(tmp_path / "new"))(3, 1, 2) == 19
    assert process(str(tmp_path / "empty"))(5, 2, 10) == 52  # nothing is known of what came before
    (tmp_path / "empty" / "train_steps-actor.json").write_text("{")
    assert process(str(tmp_path / "empty"))(0, 0, 10) == 0
    (tmp_path / "file").write_text("")
    assert process(str(tmp_path / "file"))(0, 1, 10) == 1  # no folder to write to


def test_domains_and_means_over_what_there_is(tmp_path: Path) -> None:
    from argparse import Namespace

    by_domain = module_of("metric_domains", tmp_path, keys=['"domain"', '"task"'])["by_domain"]
    samples = [Namespace(metadata=m) for m in ({"domain": "a/b"}, {"task": "c"}, {}, None, {"domain": 3})]
    assert {k: len(v) for k, v in by_domain(samples).items()} == {"a_b": 1, "c": 1}  # type: ignore[operator]
    assert by_domain(samples[:1]) == {}  # type: ignore[operator]
    many = [Namespace(metadata={"domain": str(n)}) for n in range(17)]
    assert by_domain(many) == {}  # type: ignore[operator]
    sparse_mean = module_of("sparse_metrics", tmp_path)["sparse_mean"]
    assert sparse_mean([{"a": 1.0}, {"a": 3.0, "b": 5.0}]) == {"a": 2.0, "b": 5.0}  # type: ignore[operator]


def test_what_a_test_of_the_repository_pins_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    (folder / "tests").mkdir(parents=True)
    text = 'import wandb\n\n\ndef row(xs):\n    out = {}\n    out["a/mean"] = sum(xs) / len(xs) if xs else 0.0\n    return out\n\n\nwandb.log(row([]))\n'
    (folder / "train.py").write_text(text)
    (folder / "tests" / "test_row.py").write_text(
        'from train import row\n\n\ndef test_empty():\n    assert row([]) == {"a/mean": 0.0}\n'
    )
    result = fix(folder)
    assert (folder / "train.py").read_text() == text
    assert any("tests/test_row.py:5" in why for why in reasons(result))


def test_a_patch_at_run_time_is_named_for_deletion(tmp_path: Path) -> None:
    text = "import wandb\n\n\ndef log(row, *args, **kwargs):\n    print(row)\n\n\nwandb.log = log\nwandb.init()\nwandb.log({'a/b': 1})\n"
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "train.py").write_text(text)
    found = [why for finding, why in settled(folder)[1].left if finding.code == "PI107"]
    assert found and found[0].startswith("delete train.py:8 and train.py:4-5 (log)")


@pytest.mark.parametrize(("python", "said"), [(">=3.8", '-> "float | None":'), (">=3.10", "-> float | None:")])
def test_a_property_gives_none_and_its_mean_is_of_what_there_is(tmp_path: Path, python: str, said: str) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(f'[project]\nname = "x"\nversion = "1"\nrequires-python = "{python}"\n')
    text = """import wandb


class Cache:
    hits = 0
    asked = 0

    @property
    def hit_rate(self) -> float:
        return self.hits / self.asked if self.asked > 0 else 0.0


def log(caches):
    row = {"cache/number": len(caches)}
    row["cache/hit_rate"] = sum(c.hit_rate for c in caches) / len(caches)
    wandb.log(row)
"""
    after, result = fixed(tmp_path, text)
    assert not result.left and said in after and "if self.asked > 0 else None" in after
    assert "    measured = [c.hit_rate for c in caches]\n" in after
    assert '    if measured:\n        row["cache/hit_rate"] = sum(measured) / len(measured)\n' in after
    # Read as a number elsewhere: left.
    after, result = fixed(tmp_path, text + "\n\ndef show(cache):\n    print(cache.hit_rate * 100)\n")
    assert "0.0" in after and any("is read in train.py:20 as a number" in why for why in reasons(result))
