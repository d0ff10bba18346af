"""Doors in YAML, and programs that have none: what is said, and what stays unsaid because it is covered."""

from __future__ import annotations

from pathlib import Path

import pytest

from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

AXOLOTL = "base_model: x\ndatasets:\n  - path: y\nmicro_batch_size: 1\nsequence_len: 8\nadapter: lora\n"
TUNE = "metric_logger:\n  _component_: torchtune.training.metric_logging.DiskLogger\n  log_dir: logs\n"


def planned(tmp_path: Path, **files: str) -> Plan:
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return make_plan(Repository(tmp_path))


def codes(plan: Plan) -> list[str]:
    return [note.code for note in plan.notes if note.level != "info"]


@pytest.mark.parametrize(
    ("command", "config"),
    [("axolotl train lora.yaml", AXOLOTL), ("tune run lora_finetune_single_device --config lora.yaml", TUNE)],
)
def test_a_program_whose_configuration_has_a_door_needs_no_import(tmp_path: Path, command: str, config: str) -> None:
    plan = planned(tmp_path, run_dot_sh=f"#!/bin/bash\n{command}\n", lora_dot_yaml=config)
    assert codes(plan) == ["module-by-name"]
    assert [new.path for new in plan.new_files] == ["probe_tracking.py"]
    assert [edit.path for edit in plan.edits] == ["lora.yaml"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("axolotl train https://example.org/lora.yaml", "installed program"),
        ("llamafactory-cli train lora.yaml", "run_exp(callbacks=[ProbeCallback()])"),
        ("yolo detect train data=coco8.yaml", "YOLO(...).train(...)"),
        ("yolo task=detect mode=train data=coco8.yaml", "yolo settings wandb=True"),
    ],
)
def test_a_program_without_a_door_is_told_how_its_curves_come(tmp_path: Path, command: str, said: str) -> None:
    plan = planned(tmp_path, run_dot_sh=f"#!/bin/bash\n{command}\n")
    [note] = [note for note in plan.notes if note.code == "import-after-run"]
    assert said in note.message + note.next and not plan.edits


def test_what_trains_nothing_is_not_spoken_of(tmp_path: Path) -> None:
    commands = "yolo predict model=yolo11n.pt source=train.jpg\nyolo task=detect mode=val model=a.pt\nyolo settings wandb=True\n"
    assert codes(planned(tmp_path, run_dot_sh=f"#!/bin/bash\n{commands}")) == []


def test_a_module_called_probe_keeps_yaml_as_it_is(tmp_path: Path) -> None:
    plan = planned(tmp_path, lora_dot_yaml=AXOLOTL, probe_dot_py="")
    assert codes(plan) == ["probe-shadowed"] and not plan.edits and not plan.new_files


def test_the_plugins_of_a_configuration_that_can_take_no_item_are_asked_about(tmp_path: Path) -> None:
    plan = planned(tmp_path, lora_dot_yaml=AXOLOTL + "plugins: one.Plugin\n")
    assert codes(plan) == ["callback-by-hand"] and not plan.edits
