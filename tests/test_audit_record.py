"""`instrument audit --record`: what is seen in a record, and what must not be."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from instrument.audit.record import Seen, all_checks, judge
from instrument.audit.record._recorded import Recorded
from instrument.cli import build
from instrument.verify.model import Run
from tests.audit_lab import Job, run

ROOT = Path(__file__).resolve().parents[1]
Row = tuple[float | None, dict[str, float]]


def part(rows: Iterable[Row], *, tracker: str = "probe", begun: float = 0.0) -> Run:
    """A run of one process: a row is a step and what was logged at it, one a second."""
    run = Run(id="r", tracker=tracker)
    for number, (step, metrics) in enumerate(rows):
        for key, value in metrics.items():
            run.get(key).add(step, value, begun + number)
    return run


def wandb(rows: Iterable[dict[str, float]], axes: dict[str, str] | None = None) -> Run:
    """The same as W&B's reader gives it: each row at its own number, and at its axis where one is declared."""
    axes = axes or {}
    run = Run(id="w", tracker="wandb", axis_keys=set(axes.values()))
    last: dict[str, float] = {}
    for number, row in enumerate(rows):
        last.update({key: row[key] for key in run.axis_keys if key in row})
        for key, value in row.items():
            series = run.get(key)
            axis = axes.get(key)
            if axis:
                series.axes.setdefault(axis, []).append(last.get(axis, number))
            series.axes.setdefault("_step", []).append(number)
            series.values.append(value)
            series.walls.append(float(number))
    return run


def seen(*parts: Run) -> list[Seen]:
    recorded = Recorded(id="r", tracker=parts[0].tracker, name=None, path="r", parts=list(parts))
    return [one for check in all_checks() for one in check.see(recorded)]


def codes(*parts: Run) -> set[str]:
    return {one.code for one in seen(*parts)}


def loss(steps: Iterable[float]) -> list[Row]:
    return [(step, {"train/loss": 1 / (n + 1)}) for n, step in enumerate(steps)]


# -- axes


def test_a_series_in_order_shows_nothing() -> None:
    assert codes(part(loss(range(20)))) == set()


def test_an_axis_that_goes_back_is_named_with_its_first_fall() -> None:
    # rollouts of 10, 4 and 6 steps, counted as rollout * steps_in_this_rollout + step
    steps = [rollout * n + i for rollout, n in enumerate((10, 4, 6)) for i in range(n)]
    (one,) = [one for one in seen(part(loss(steps))) if one.code == "PI103"]
    assert one.keys == ("train/loss",) and "from 9 to 4" in one.message


def test_a_counter_that_goes_back_is_told_with_what_is_plotted_against_it() -> None:
    rows = [{"train/step": float(step), "train/loss": 1.0} for step in (0, 1, 2, 1, 2)]
    (one,) = [one for one in seen(wandb(rows, {"train/loss": "train/step"})) if one.code == "PI103"]
    assert one.keys == ("train/step", "train/loss") and "2 to 1" in one.message


def test_a_counter_within_a_rollout_may_go_back() -> None:
    rows: list[Row] = [(n, {"train/step_in_rollout": float(n % 5), "train/loss": 1 / (n + 1)}) for n in range(20)]
    assert "PI103" not in codes(part(rows))


def test_metrics_at_the_trackers_own_step_beside_a_counter() -> None:
    rows = [{"train/step": n * 10.0, "train/loss": 1 / (n + 1)} for n in range(5)]
    (one,) = [one for one in seen(wandb(rows)) if one.code == "PI101"]
    assert one.keys == ("train/loss",) and "train/step" in one.message
    assert "PI101" not in codes(wandb(rows, {"train/loss": "train/step"}))


def test_a_counter_that_is_the_step_is_no_other_axis() -> None:
    rows = [{"global_step": float(n), "train/loss": 1 / (n + 1)} for n in range(5)]
    assert "PI101" not in codes(wandb(rows))


def test_all_points_at_zero_where_a_tracker_was_given_no_step() -> None:
    assert "PI101" in codes(part([(0, {"loss": 1 / (n + 1)}) for n in range(5)], tracker="tensorboard"))
    assert "PI101" not in codes(part([(0, {"loss": 1.0})], tracker="tensorboard"))


def test_rows_without_their_counter_and_an_axis_never_written() -> None:
    rows: list[dict[str, float]] = []
    for n in range(5):
        rows += [{"train/step": n * 10.0, "train/loss": 1.0}, {"train/grad": 2.0}, {"eval/acc": 0.5 + n / 10}]
    axes = {"train/loss": "train/step", "train/grad": "train/step", "eval/acc": "eval/step"}
    found = [one for one in seen(wandb(rows, axes)) if one.code == "PI102"]
    assert [one.keys for one in found] == [("eval/step",), ("train/grad",)]
    assert "5 of 5 points" in found[1].message
    whole = [{"train/step": n * 10.0, "train/loss": 1.0, "train/grad": 2.0} for n in range(5)]
    assert "PI102" not in codes(wandb(whole, {"train/loss": "train/step", "train/grad": "train/step"}))


# -- resumes


def test_a_counter_that_begins_again_after_a_resume() -> None:
    assert seen(part(loss(range(10))), part(loss(range(10, 15)), begun=100)) == []
    again = seen(part(loss(range(10))), part(loss(range(5)), begun=100))
    assert {"PI104"} <= {one.code for one in again}
    assert "begun again at 0" in next(one.message for one in again if one.code == "PI104")


def test_steps_made_again_from_an_older_checkpoint_are_a_note() -> None:
    found = seen(part(loss(range(10))), part(loss(range(8, 15)), begun=100))
    assert [(one.code, one.level) for one in found if one.code in ("PI104", "PI201")] == [("PI201", "note")]


def test_two_axes_in_one_probe_run_and_what_the_floor_drops() -> None:
    def rows(first: int) -> list[Row]:
        return [
            row
            for rollout in range(first, first + 4)
            for row in [(rollout, {"rollout/reward": 0.5 + rollout}), *loss(range(rollout * 50, rollout * 50 + 50, 10))]
        ]

    alone = seen(part(rows(0)))
    assert [one.keys for one in alone if one.code == "PI108"] == [("rollout/reward",)]
    resumed = seen(part(rows(0)), part(rows(4), begun=100))
    (dropped,) = [one for one in resumed if one.code == "PI202"]
    assert dropped.keys == ("rollout/reward",) and dropped.count == 4


def test_one_late_point_is_no_other_axis() -> None:
    rows = [*loss(range(10)), (8, {"eval/loss": 1.0}), *loss(range(10, 20)), (20, {"eval/loss": 0.5})]
    assert "PI108" not in codes(part(rows))


def test_a_key_again_at_its_step() -> None:
    rows = [*loss(range(5)), (4, {"eval/acc": 0.5}), (4, {"eval/acc": 0.6}), (5, {"eval/acc": 0.7})]
    (one,) = [one for one in seen(part(rows)) if one.code == "PI108"]
    assert one.keys == ("eval/acc",) and one.count == 1 and "at 4" in one.message


# -- zeros

MEASURED = [0.31, 0.42, 0.37, 0.55, 0.61, 0.48, 0.52, 0.66]


@pytest.mark.parametrize(
    "key",
    ["rollout/prefix_cache_hit_rate", "val/accuracy", "reward/mean", "perf/tokens_per_second_avg", "x/correctRate"],
)
def test_a_rate_that_is_always_zero(key: str) -> None:
    assert "PI105" in codes(part([(n, {key: 0.0, "a/b": n}) for n in range(8)]))


@pytest.mark.parametrize(
    "key",
    [
        "train/pg_clipfrac", "train/clip_ratio/low_mean", "rollout/truncated_ratio", "errors/rate", "num_samples",
        "train/learning_rate", "rollout/aborted_mean", "train/kl_mean", "loss/std", "rollout/repetition_frac",
    ],
)  # fmt: skip
def test_a_zero_that_may_be_true(key: str) -> None:
    assert "PI105" not in codes(part([(n, {key: 0.0, "a/b": n}) for n in range(8)]))


def test_what_was_measured_beside_it_speaks_for_a_zero() -> None:
    def with_(other: str, value: float) -> set[str]:
        return codes(part([(n, {"eval/pass_rate": 0.0, other: value}) for n in range(8)]))

    assert "PI105" not in with_("eval/pass_count", 64.0)
    assert "PI105" not in with_("eval/count", 64.0)
    assert "PI105" in with_("eval/count", 0.0)


def test_zeros_between_values_that_never_come_near() -> None:
    values = [*MEASURED[:4], 0.0, *MEASURED[4:], 0.0]
    (one,) = [one for one in seen(part([(n, {"a/hit_rate": v}) for n, v in enumerate(values)])) if one.code == "PI105"]
    assert "at 2 of 10" in one.message
    # shares of four samples: zero is one of the values they take
    shares = [0.25, 0.5, 0.0, 0.75, 0.25, 0.5, 0.5, 0.25, 0.0, 0.25]
    assert "PI105" not in codes(part([(n, {"a/hit_rate": v}) for n, v in enumerate(shares)]))
    # a rate that falls to zero
    falling = [0.5 / 3**n for n in range(9)] + [0.0]
    assert "PI105" not in codes(part([(n, {"a/hit_rate": v}) for n, v in enumerate(falling)]))
    rising = [n / 8 for n in range(8)]
    assert "PI105" not in codes(part([(n, {"a/hit_rate": v}) for n, v in enumerate(rising)]))
    assert "PI105" not in codes(part([(n, {"a/hit_rate": math.nan}) for n in range(9)]))


# -- sections and walls


def test_keys_without_a_section() -> None:
    rows: list[Row] = [(n, {"loss": 1 / (n + 1), "train/lr": 0.1 + n, "step": n}) for n in range(5)]
    (one,) = [one for one in seen(part(rows)) if one.code == "PI106"]
    assert one.keys == ("loss",)
    assert "PI106" not in codes(part([(n, {"train/loss": 1 / (n + 1), "step": n}) for n in range(5)]))


def test_a_wall_of_charts_with_one_point_each() -> None:
    rows: list[Row] = [(n, {"train/loss": 1 / (n + 1), f"sample/{n * 7919}/score": 0.5}) for n in range(20)]
    (one,) = [one for one in seen(part(rows)) if one.code == "PI106"]
    assert one.count == 20 and "sample/*/score" in one.message
    layers: list[Row] = [
        (n, {"train/loss": 1 / (n + 1), **{f"layer/{i}/norm": 1.0 + n for i in range(20)}}) for n in range(5)
    ]
    assert "PI106" not in codes(part(layers))
    summary: list[Row] = [*loss(range(5)), (5, {f"final/{i}/score": 0.5 for i in range(20)})]
    assert "PI106" not in codes(part(summary))


# -- real records, and the command

PROBE = """
import os, probe
first, last, name = int(os.environ["FIRST"]), int(os.environ["LAST"]), os.environ["JOB"]
probe.init(name=name, external_id=name, config={"lr": 0.1}, capture_reads=False, capture_outputs=False)
for step in range(first, last):
    probe.log({"train/loss": 1 / (step + 1), "cache/hit_rate": 0.0}, step=step)
probe.finish()
"""


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    """Two offline runs of one job: resumed with its counter, and of another without."""
    pytest.importorskip("probe")
    pytest.importorskip("wandb")
    if not hasattr(os, "fork"):
        pytest.skip("the lab forks")
    folder = tmp_path
    (folder / "train.py").write_text(PROBE)
    jobs = [
        Job(folder, "train.py", env={"FIRST": str(first), "LAST": str(last), "JOB": name})
        for first, last, name in ((0, 6, "kept"), (6, 9, "kept"), (0, 6, "lost"), (0, 3, "lost"))
    ]
    run(folder, jobs)
    return folder / "record" / "outbox"


@pytest.fixture
def cli() -> Callable[..., tuple[int, str]]:
    def audit(*arguments: object) -> tuple[int, str]:
        result = CliRunner().invoke(build(), ["audit", *map(str, arguments)])
        return result.exit_code, result.stdout

    return audit


def an_outbox_with_two_resumed_runs(outbox: Path, cli: Callable[..., tuple[int, str]]) -> None:
    judged = judge(outbox)
    assert [(run.title, len(run.parts)) for run in sorted(judged.runs, key=lambda run: run.title)] == [
        ("kept", 2),
        ("lost", 2),
    ]
    found = {(run.title, one.code) for run, one in judged.seen}
    assert found == {("kept", "PI105"), ("lost", "PI104"), ("lost", "PI105")}
    code, text = cli("--record", outbox)
    assert code == 1 and "PI104 train/loss, cache/hit_rate: begun again at 0" in text and "2 runs" in text


def one_run_of_it_is_clean_of_what_is_left_out(outbox: Path, cli: Callable[..., tuple[int, str]]) -> None:
    one = next(path for path in (outbox / "offline").iterdir() if path.is_dir())
    code, text = cli("--record", one, "--ignore", "PI105")
    assert code == 0 and text.startswith("nothing found; 1 run, 2 keys")


def the_forms_of_the_report(outbox: Path, cli: Callable[..., tuple[int, str]]) -> None:
    code, text = cli("--record", outbox, "--json")
    schema = json.loads((ROOT / "docs" / "audit-record.schema.json").read_text("utf-8"))
    document = json.loads(text)
    Draft202012Validator(schema).validate(document)
    assert code == 1 and document["counts"] == {"PI104": 1, "PI105": 2}
    code, text = cli("--record", outbox, "--output-format", "sarif")
    log = json.loads(text)["runs"][0]
    assert code == 1 and {result["ruleId"] for result in log["results"]} == {"PI104", "PI105"}
    assert {rule["id"] for rule in log["tool"]["driver"]["rules"]} >= {"PI101", "PI104", "PI108", "PI202"}
    code, text = cli("--record", outbox, "--output-format", "github")
    assert code == 1 and text.startswith("::warning title=probe-instrument::")


def test_real_records_of_probe(outbox: Path, cli: Callable[..., tuple[int, str]]) -> None:
    # One test, as the record is what costs.
    an_outbox_with_two_resumed_runs(outbox, cli)
    one_run_of_it_is_clean_of_what_is_left_out(outbox, cli)
    the_forms_of_the_report(outbox, cli)


def test_a_path_without_a_record_is_a_clear_error(tmp_path: Path, cli: Callable[..., tuple[int, str]]) -> None:
    for path, said in ((tmp_path, "holds no record"), (tmp_path / "gone", "no such file")):
        code, text = cli("--record", path, "--json")
        error = json.loads(text)["error"]
        assert code == 2 and error["code"] == "no-record" and said in error["message"]
    (tmp_path / "run-x.wandb").write_bytes(b":W&B\xbe\xe1\x00garbage")
    code, text = cli("--record", tmp_path / "run-x.wandb", "--json")
    assert code == 2 and json.loads(text)["error"]["code"] == "no-record"
    code, text = cli("--record", tmp_path, "--select", "PI999", "--json")
    assert code == 2 and json.loads(text)["error"]["code"] == "unknown-rule"


def test_a_run_for_each_rank() -> None:
    from instrument.audit.record.every_rank import CHECK

    def rank(number: int, lr: float = 0.1) -> Recorded:
        run = part(loss(range(5)))
        run.config, run.process.pid = {"lr": lr, "rank": number}, 100 + number
        return Recorded(id=str(number), tracker="probe", name=None, path=str(number), parts=[run])

    assert CHECK.see_all is not None
    ((_, one),) = CHECK.see_all([rank(0), rank(1), rank(2)])
    assert one.code == "PI109" and one.count == 3
    assert not list(CHECK.see_all([rank(0, 0.1), rank(1, 0.2)]))  # a sweep


@pytest.mark.parametrize("code", ["PI201", "pi202"])
def test_a_rule_of_records_is_explained(code: str) -> None:
    result = CliRunner().invoke(build(), ["rule", code])
    assert result.exit_code == 0 and code.upper() in result.stdout and "--record" in result.stdout
    document = json.loads(CliRunner().invoke(build(), ["rule", code, "--json"]).stdout)
    Draft202012Validator(json.loads((ROOT / "docs" / "rules.schema.json").read_text("utf-8"))).validate(document)


def test_odd_values_and_steps_are_judged_without_a_fault() -> None:
    chance = random.Random(7)
    odd = [0.0, -0.0, 1.0, -3.5, math.nan, math.inf, -math.inf, 1e308, 2.0**63]
    keys = ["loss", "train/step", "a/hit_rate", "step", "x/1/y", "x/2/y", "", "/", "a/count", "é/平均_rate"]
    for _ in range(60):
        parts = []
        for begun in range(chance.randint(1, 3)):
            rows: list[Row] = []
            for _ in range(chance.randint(1, 12)):
                step = chance.choice([None, *odd, *range(6)])
                rows.append((step, {key: chance.choice(odd) for key in chance.sample(keys, chance.randint(1, 5))}))
            parts.append(part(rows, tracker=chance.choice(["probe", "mlflow", "tensorboard"]), begun=begun * 100.0))
        for one in seen(*parts):
            assert one.message and "\n" not in one.message
        assert isinstance(seen(wandb([row for _, row in rows], {"loss": "train/step", "a/hit_rate": "gone"})), list)
