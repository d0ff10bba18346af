"""`instrument import`: real records of trackers, brought into the SDK's offline queue, every point of them, once."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from instrument.imports import find, hosted
from instrument.imports.ledger import Ledger
from instrument.imports.model import Finished
from instrument.imports.send import Target, points
from instrument.imports.work import carry_out
from instrument.verify.environment import environment
from instrument.verify.model import Run
from instrument.verify.records import probe_outbox
from tests.test_json import check

ROOT = Path(__file__).resolve().parents[1]
pytest.importorskip("probe")

#: Six runs in one process: as a trainer writes them.
WANDB = """
import math, os, sys
import wandb

# scalars, nested keys, what JSON has not, media, settings, a secret
run = wandb.init(project="toy", name="scalars", config={"lr": 0.1, "deep": {"x": 1}, "api_key": "hush-hush"},
                 tags=["a", "b"], notes="first try", group="g")
for n in range(50):
    run.log({"loss": 1 / (n + 1), "nest": {"deep": {"er": n}}, "text": "x", "odd": [math.nan, math.inf, -math.inf][n % 3]}, step=n * 2)
run.log({"page": wandb.Html("<b>")})
run.summary["best"] = 0.25
run.finish()

# define_metric
run = wandb.init(project="toy", name="axes")
run.define_metric("train/*", step_metric="train/gstep")
for n in range(30):
    run.log({"train/x": float(n), "train/gstep": n * 10, "other": n})
run.finish()

# one that fails
run = wandb.init(project="toy", name="failed")
run.log({"loss": 1.0})
run.finish(exit_code=3)

# resumed: a folder for each time
for part in range(2):
    run = wandb.init(project="toy", id="again123", name="resumed", resume="allow", config={f"part{part}": part})
    for n in range(20):
        run.log({"loss": part + n / 100}, step=part * 15 + n)
    run.finish()
"""
CUT = """
import os, signal, time
import wandb
run = wandb.init(project="toy", name="cut")
for n in range(3000):
    run.log({"loss": n})
time.sleep(1.5)
print("there", flush=True)
time.sleep(60)
"""


def python(program: str, folder: Path, python: str = sys.executable) -> None:
    env = environment(os.environ, folder / "private", "test")
    env |= {"WANDB_DIR": str(folder), "WANDB_SILENT": "true"}
    folder.mkdir(exist_ok=True)
    done = subprocess.run([python, "-c", program], env=env, capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr


def instrument(*arguments: str, home: Path, code: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PROBE_OUTBOX_DIR": str(home / "outbox"), "HOME": str(home),
           "PROBE_CONFIG_PATH": str(home / "config.json"), "PROBE_TELEMETRY": "0", **more}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "instrument", "import", *arguments], env=env, capture_output=True, text=True,
        timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


def queue(home: Path) -> dict[str, Run]:
    """Probe's runs by name; each name once."""
    owned = [path for path in (home / "outbox").rglob("*.json") if probe_outbox.READER.owns(path)]
    runs = probe_outbox.READER.read(owned)
    assert len({run.name for run in runs}) == len(runs)
    return {str(run.name): run for run in runs}


def sent(found: Finished) -> dict[str, list[tuple[object, ...]]]:
    """What has to arrive of a run, by key, without the points that are labelled."""
    series: dict[str, list[tuple[object, ...]]] = {}
    for point in points(found):
        if "labels" not in point:
            series.setdefault(point["key"], []).append((point["step_index"], repr(point["value"])))
    return series


def same(found: Finished, run: Run) -> None:
    there = {key: [(p.step, repr(p.value)) for p in series.points] for key, series in run.series.items()}
    assert there == sent(found)
    assert sum(len(s.values) + s.repeats for s in run.series.values()) == found.points
    for key, series in found.run.series.items():
        walls = [wall for wall in series.walls if wall is not None]
        if walls:
            assert run.series[key].walls[0] == pytest.approx(walls[0], abs=1e-5)


@pytest.fixture(scope="module")
def wandb_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("wandb")
    folder = tmp_path_factory.mktemp("runs")
    python(WANDB, folder)
    return folder


def test_wandb_runs_come_whole_and_once(wandb_runs: Path, tmp_path: Path) -> None:
    document = check(json.loads(instrument(str(wandb_runs), "--json", home=tmp_path).stdout))
    assert document["outcome"] == "found" and not (tmp_path / "outbox").exists()
    by_name = {run["name"]: run for run in document["runs"]}
    assert set(by_name) == {"scalars", "axes", "failed", "resumed"}
    assert {run["tier"] for run in document["runs"]} == {"history"}
    assert (by_name["scalars"]["points"], by_name["scalars"]["steps"]) == (150, 50)
    assert by_name["scalars"]["media"] == ["page"]

    first = check(
        json.loads(instrument(str(wandb_runs), "--run", "--json", home=tmp_path, PROBE_MODE="offline").stdout)
    )
    assert len(first["imported"]["runs"]) == 4 and first["outcome"] == "done"
    runs = queue(tmp_path)
    for found in find.runs(wandb_runs, Ledger(tmp_path / "outbox")):
        assert found.state == "queued"
        same(found, runs[found.name])
    scalars = runs["scalars"]
    assert scalars.config["lr"] == 0.1 and "hush-hush" not in json.dumps(scalars.config)
    assert [p.value for p in scalars.points["nest.deep.er"]][:3] == [0, 1, 2]
    assert math.isnan(scalars.points["odd"][0].value) and scalars.points["odd"][1].value == math.inf
    assert scalars.points["loss"][3][:2] == (6, 0.25)
    assert runs["axes"].points["train/x"][7][:2] == (70, 7.0) and runs["axes"].points["other"][7][:2] == (7, 7.0)
    assert (scalars.status, runs["failed"].status) == ("completed", "failed")
    assert runs["resumed"].config == {"part0": 0, "part1": 1}
    # Steps 15 to 19 were logged twice: both values are there, the second labelled.
    assert (runs["resumed"].size, runs["resumed"].series["loss"].repeats) == (35, 5)
    text = "".join(path.read_text("utf-8") for path in (tmp_path / "outbox").rglob("ops/*.json"))
    assert '"best": 0.25' in text and '"first try"' in text and str(wandb_runs) not in text and "wandb_run_id" in text

    again = check(
        json.loads(instrument(str(wandb_runs), "--run", "--json", home=tmp_path, PROBE_MODE="offline").stdout)
    )
    assert again["imported"]["runs"] == [] and len(again["imported"]["already"]) == 4
    assert {name: run.size for name, run in queue(tmp_path).items()} == {name: run.size for name, run in runs.items()}


def test_a_run_that_was_killed(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    folder = tmp_path / "runs"
    folder.mkdir()
    env = environment(os.environ, folder / "private", "test") | {"WANDB_DIR": str(folder)}
    running = subprocess.Popen(
        [sys.executable, "-c", CUT], env=env, stdout=subprocess.PIPE, cwd=folder, start_new_session=True
    )
    assert running.stdout is not None
    while b"there" not in running.stdout.readline():
        pass
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    [log] = folder.rglob("*.wandb")
    time.sleep(0.2)
    whole = log.read_bytes()
    log.write_bytes(whole[:-37])  # and cut in the middle of a record

    [found] = find.runs(folder, Ledger(tmp_path / "outbox"))
    assert found.state == "running"
    carry_out([found], Target(offline=True), Ledger(tmp_path / "outbox"))
    assert queue(tmp_path) == {}
    instrument(str(folder), "--run", "--unfinished", home=tmp_path, PROBE_MODE="offline")
    [found] = find.runs(folder, Ledger(tmp_path / "outbox"))
    run = queue(tmp_path)["cut"]
    same(found, run)
    assert run.status == "failed" and len(run.points["loss"]) > 2500


def test_an_interrupted_import_is_done_again(wandb_runs: Path, tmp_path: Path) -> None:
    """Killed after each number of writes there are: in the end every run is there once, and whole."""
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom instrument.imports import find, send, work\n"
        "from instrument.imports.ledger import Ledger\nsend.CHUNK = 20\nleft = int(sys.argv[2])\n"
        "def progress(run, done):\n    global left\n    left -= 1\n    if left == 0: os._exit(9)\n"
        "ledger = Ledger()\nwork.carry_out(find.runs(Path(sys.argv[1]), ledger), send.Target(offline=True), ledger, progress=progress)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PROBE_OUTBOX_DIR": str(tmp_path / "outbox"), "HOME": str(tmp_path)}
    codes = [
        subprocess.run(
            [sys.executable, "-c", program, str(wandb_runs), str(left)], env=env, capture_output=True
        ).returncode
        for left in (3, 9, 0)
    ]
    assert codes == [9, 9, 0]
    runs = queue(tmp_path)
    found = find.runs(wandb_runs, Ledger(tmp_path / "outbox"))
    assert len(runs) == len(found) == 4
    for one in found:
        same(one, runs[one.name])
        assert runs[one.name].status


def test_the_script_is_what_is_reviewed(wandb_runs: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text('import wandb\nwandb.init(project="toy", entity="lab")\n')
    script = tmp_path / "import_to_probe.py"
    told = instrument(str(wandb_runs), "--script", str(script), "--project", "toys", home=tmp_path)
    assert "not at Probe" in told.stdout and not (tmp_path / "outbox").exists()
    text = script.read_text("utf-8")
    assert str(tmp_path) not in text and 'PROJECT = "toys"' in text
    # The person leaves a run out and renames one.
    lines = [line for line in text.splitlines(keepends=True) if '"failed"' not in line]
    script.write_text("".join(lines).replace('"axes"', '"my axes"'))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PROBE_OUTBOX_DIR": str(tmp_path / "outbox"), "HOME": str(tmp_path),
           "PROBE_MODE": "offline"}  # fmt: skip
    for _ in range(2):
        done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    runs = queue(tmp_path)
    assert set(runs) == {"scalars", "my axes", "resumed"}
    assert "3 runs there before" in done.stderr


def test_only_the_final_values_are_left(tmp_path: Path) -> None:
    folder = tmp_path / "wandb" / "run-20260101_101112-abc" / "files"
    folder.mkdir(parents=True)
    (folder / "wandb-summary.json").write_text('{"loss": 0.5, "_step": 900, "note": "x", "_timestamp": 1700000000.5}')
    [found] = find.runs(tmp_path, Ledger(tmp_path / "none"))
    assert (found.tier, found.external_id, found.points) == ("summary", "wandb:abc", 1)
    assert found.run.points["loss"] == [(900, 0.5, 1700000000.5)]


def test_nothing_to_read_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run-x.wandb").write_bytes(b"\0" * 40)
    document = check(json.loads(instrument(str(tmp_path), "--json", home=tmp_path).stdout))
    assert [run["state"] for run in document["runs"]] == ["empty"] and document["outcome"] == "clean"
    error = check(json.loads(instrument(str(tmp_path / "no"), "--json", home=tmp_path, code=2).stdout))
    assert error["error"]["code"] == "no-target"


def test_without_a_token_it_says_so(wandb_runs: Path, tmp_path: Path) -> None:
    done = instrument(str(wandb_runs), "--run", home=tmp_path, code=2)
    assert "PROBE_TOKEN" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", 'import wandb\nwandb.init(project="p", entity="e", config=dict(a=1))', [("p", "e")]),
        ("b.yaml", "report_to: wandb\nwandb_project: hosted\nwandb_entity: lab\n", [("hosted", "lab")]),
        ("c.sh", "export WANDB_PROJECT=runs\npython t.py\n", [("runs", None)]),
        ("d.sh", "python t.py --wandb_project 'x-y' \n", [("x-y", None)]),
        ("e.py", 'import os\nos.environ["WANDB_PROJECT"] = "env"', [("env", None)]),
        ("f.py", "import wandb\nwandb.init(project=args.project)", []),
        ("g.yaml", "wandb_project: null\n", []),
    ],
)
def test_projects_at_wandb(tmp_path: Path, name: str, text: str, expected: list[Any]) -> None:
    (tmp_path / name).write_text(text)
    assert [(one.project, one.entity) for one in hosted.projects(tmp_path)] == expected


def test_a_plan_of_the_strategy_import_changes_nothing(tmp_path: Path) -> None:
    from instrument.plan.context import Options
    from instrument.plan.planner import make_plan
    from instrument.repo.scan import Repository

    program = "import wandb\nrun = wandb.init(project='p')\nfor n in range(3):\n    run.log({'loss': n})\n"
    (tmp_path / "train.py").write_text(program)
    assert not make_plan(Repository(tmp_path)).empty
    plan = make_plan(Repository(tmp_path), Options(strategy="import"))
    assert plan.empty and {site.strategy for site in plan.sites if site.outcome == "left"} == {"import"}
    [note] = [note for note in plan.notes if note.code == "import-after-run"]
    assert "W&B" in note.message and "instrument import" in note.next
    assert [strategy for strategy, _ in plan.passed_over][-2:] == ["register", "alongside"]
