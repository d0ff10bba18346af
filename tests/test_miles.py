"""Miles, planned: what is written into each version form, as a fork and as a launcher, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.miles import SHAPES, copied, files, planned


@pytest.mark.parametrize("name", sorted(p.name for p in SHAPES.iterdir()))
def test_before_and_after(name: str, tmp_path: Path) -> None:
    """Each form becomes what a maintainer would write, plus the generated module; a second plan is empty."""
    root = copied(SHAPES / name / "before", tmp_path)
    _, texts = planned(root)
    ours = {path: text for path, text in texts.items() if path.endswith("probe_tracking.py")}
    assert {path: text for path, text in texts.items() if path not in ours} == files(SHAPES / name / "after")
    assert len(ours) == 1
    for path, text in texts.items():
        (root / path).write_text(text)
    plan, texts = planned(root)
    assert texts == {}
    assert {site.outcome for site in plan.sites if site.kind in ("open", "registry")} <= {"covered", "already"}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("fork_functions", "functions only"), ("fork_base", "registry in base.py"),
        ("fork_tracking", "with define_step_key_metric_group"), ("launcher", "imported"),
    ],
)  # fmt: skip
def test_names_the_version_form(name: str, form: str, tmp_path: Path) -> None:
    plan, _ = planned(copied(SHAPES / name / "before", tmp_path))
    assert form in plan.shapes["miles"]


def test_every_process_is_seen(tmp_path: Path) -> None:
    """The driver and the actor are sites of their own, and so is each row that is logged."""
    plan, _ = planned(copied(SHAPES / "launcher" / "before", tmp_path))
    seen = {(s.path, s.kind, s.process) for s in plan.sites if s.rule == "miles"}
    assert {("train.py", "open", "driver"), ("actor.py", "open", "Ray actor Sampler")} <= seen
    assert ("actor.py", "emit", "Ray actor Sampler") in seen


def test_installed_actors_are_asked_for(tmp_path: Path) -> None:
    """Miles' own actors run installed code: that they need the setup hook is said, not guessed."""
    plan, _ = planned(copied(SHAPES / "launcher" / "before", tmp_path))
    (note,) = [n for n in plan.notes if n.code == "miles-actors"]
    assert note.level == "question"
    assert "worker_process_setup_hook" in note.next


def test_rows_past_the_trackers_are_asked_for(tmp_path: Path) -> None:
    """A direct `wandb.log` in a fork reaches neither the trackers nor Probe; nothing pretends that it does."""
    plan, texts = planned(copied(SHAPES / "fork_functions" / "before", tmp_path))
    assert [n.path for n in plan.notes if n.code == "past-the-trackers"] == ["examples/retool.py"]
    assert "examples/retool.py" not in texts
    assert "miles/utils/wandb_utils.py" not in texts


@pytest.mark.parametrize(
    "line",
    [
        '    "probe": (object, "use_probe"),\n}',
        '}\nBACKEND_REGISTRY["probe"] = (object, "use_probe")',
    ],
)
def test_a_registry_that_has_probe_is_left(line: str, tmp_path: Path) -> None:
    root = copied(SHAPES / "fork_tracking" / "before", tmp_path)
    tracker = root / "miles/utils/tracking_utils/tracking.py"
    tracker.write_text(tracker.read_text().replace("\n}", f"\n{line}", 1))
    plan, texts = planned(root)
    assert not any("tracking_utils" in path for path in texts)
    assert [s.outcome for s in plan.sites if s.kind == "registry"] == ["already"]


def test_registered_by_hand_is_left(tmp_path: Path) -> None:
    """As the SDK's own guide has it: `register(args)` above `init_tracking(args)`."""
    (tmp_path / "train.py").write_text(
        "from miles.utils.tracking_utils import init_tracking\nfrom probe.connectors.miles import register\n\n\n"
        "def main(args):\n    register(args)\n    print(args)\n    init_tracking(args)\n"
    )
    plan, texts = planned(tmp_path)
    assert texts == {}
    assert [s.outcome for s in plan.sites if s.kind == "open"] == ["already"]


def test_arguments_without_a_name_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "from miles.utils.tracking_utils import init_tracking\nfrom cli import parse\n\ninit_tracking(parse())\n"
    )
    plan, texts = planned(tmp_path)
    assert texts == {}
    assert [n.code for n in plan.notes if n.level == "question"] == ["register-by-hand"]


def test_a_module_called_probe_is_refused(tmp_path: Path) -> None:
    root = copied(SHAPES / "fork_tracking" / "before", tmp_path)
    (root / "probe.py").write_text("")
    plan, texts = planned(root)
    assert not any("tracking_utils" in path for path in texts)
    assert "probe-shadowed" in {n.code for n in plan.notes}


def test_what_the_person_asked_for_is_passed_on(tmp_path: Path) -> None:
    _, texts = planned(copied(SHAPES / "fork_base" / "before", tmp_path), project="rl", name="first")
    base = texts["miles/utils/tracking_utils/base.py"]
    assert "probe.register(args, BACKEND_REGISTRY, project='rl', run_name='first')" in base
