"""How two records are compared, without running anything."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from instrument.verify.compare import Rules, compare, compare_series
from instrument.verify.model import Process, Run, Series
from instrument.verify.pairing import match_keys, pair
from instrument.verify.picture import svg


def series(steps: Sequence[int | float | None], values: Sequence[float] = (), **more: object) -> Series:
    made = Series(**more)  # type: ignore[arg-type]
    for step, value in zip(steps, values or [float(n) for n in range(len(steps))]):
        made.add(step, value, 1000.0 + len(made.values))
    return made


def made(tracker: str, name: str | None = None, pid: int | None = None, **keys: Series) -> Run:
    run = Run(id=f"{tracker}-{name or 'x'}-0123456789", tracker=tracker, name=name, process=Process(pid=pid))
    run.series = {key.replace("__", "/"): value for key, value in keys.items()}
    return run


@pytest.mark.parametrize(
    ("tracker", "probe", "verdict", "detail"),
    [
        (series([0, 1, 2]), series([0, 1, 2]), "equal", ""),
        (series([0, 1], [math.nan, math.inf]), series([0, 1], [math.nan, math.inf]), "equal", ""),
        (series([0, 1], [math.inf, 1]), series([0, 1], [-math.inf, 1]), "different values", "1 of 2 common steps differ"),
        (series([0, 1], [0.0, 1]), series([0, 1], [-0.0, 1]), "equal", ""),
        (series([0, 1, 2]), series([1, 2, 3]), "different step axis", "Probe's steps are +1 of the tracker's"),
        (series([0, 10, 20]), series([0, 1, 2]), "different step axis", "Probe's steps are 0, 1, 2 ..., the tracker's 0, 10, 20 ..."),
        (series([0, 1, 2]), series([None] * 3), "different step axis", "Probe's points have no step"),
        (series([0, 1, 2]), series([0, 1]), "missing at Probe", "1 of 3 points are missing"),
        (series([0, 1]), series([0, 1, 2]), "different values", "1 points at Probe that the tracker does not have"),
        (series([0, 1, 2]), series([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2]), "twice", "2 points at Probe for one of the tracker"),
        (series([0, 1, 2]), series([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2]), "twice", "2 points at Probe for one of the tracker"),
        (series([0, 1]), series([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]), "twice", "3 points at Probe for one of the tracker"),
        # A tracker that has a value twice at a step (HF's epoch beside each evaluation) asks Probe for it once.
        (series([5, 5, 6], [0.5, 0.5, 0.6]), series([5, 6], [0.5, 0.6]), "equal", ""),
        (series([0, 0, 0], [1, 2, 3]), series([0, 0, 0], [1, 2, 3]), "equal", ""),
        (series([0, 1, 2], [5, 5, 5]), series([1, 2, 3], [5, 5, 5]), "different step axis", "Probe's steps are +1 of the tracker's"),
    ],
)  # fmt: skip
def test_one_key(tracker: Series, probe: Series, verdict: str, detail: str) -> None:
    result = compare_series("k", tracker, probe, Rules())
    assert (result.verdict, result.detail) == (verdict, detail)


def test_a_tolerance_is_only_by_wish() -> None:
    one, other = series([0], [0.1]), series([0], [0.1 + 1e-9])
    assert compare_series("k", one, other, Rules()).verdict == "different values"
    assert compare_series("k", one, other, Rules(tolerance=1e-6)).verdict == "equal"


def test_32_bit_records_are_compared_as_such() -> None:
    stored = series([0], [0.10000000149011612], precision="float32")
    assert compare_series("k", stored, series([0], [0.1]), Rules()).verdict == "equal"
    assert compare_series("k", stored, series([0], [0.1001]), Rules()).verdict == "different values"
    assert (
        compare_series("k", series([0], [math.inf], precision="float32"), series([0], [1e300]), Rules()).verdict
        == "equal"
    )


def test_the_end_of_a_stopped_run_may_be_missing_on_one_side() -> None:
    long, short = series([0, 1, 2, 3]), series([0, 1, 2])
    for tracker, probe in ((long, short), (short, long)):
        assert compare_series("k", tracker, probe, Rules()).verdict != "equal"
        assert compare_series("k", tracker, probe, Rules(cut=1)).verdict == "equal"
    assert compare_series("k", long, series([0, 1]), Rules(cut=1)).verdict == "missing at Probe"
    assert compare_series("k", long, series([0]), Rules(cut=math.inf)).verdict == "equal"
    # ... but not its middle.
    assert compare_series("k", long, series([0, 3], [0, 3]), Rules(cut=math.inf)).verdict == "missing at Probe"


def test_names_of_keys() -> None:
    tracker = made("wandb", **{"a.b": series([0]), "eval_loss": series([0]), "loss": series([0]), "x": series([0])})
    probe = made("probe", **{"a/b": series([0]), "eval/loss": series([0]), "train/loss": series([0]), "x": series([0])})
    assert match_keys(tracker, probe) == {"a.b": "a/b", "eval_loss": "eval/loss", "loss": "train/loss", "x": "x"}
    probe.series["loss"] = series([0])
    assert match_keys(tracker, probe)["loss"] == "loss"


def test_a_folder_a_writer(tmp_path: object) -> None:
    from pathlib import Path

    runs = []
    for place, value in (("logs/train", 1.0), ("logs/validation", 2.0)):
        run = made("tensorboard", place, epoch_loss=series([0], [value]))
        run.folder = Path(place)
        runs.append(run)
    probe = made("probe", train__epoch_loss=series([0], [1.0]), validation__epoch_loss=series([0], [2.0]))
    result = compare([probe], runs)
    assert result.equal and [run.probe is probe for run in result.runs] == [True, True]
    assert all(key.verdict == "equal" for run in result.runs for key in run.keys)


def test_runs_are_paired_by_link_name_process_and_keys() -> None:
    folds = [made("wandb", f"fold{n}", pid=7, loss=series([0], [n])) for n in range(3)]
    probes = [made("probe", pid=7, loss=series([0], [n])) for n in range(3)]
    probes[0].links, probes[1].links, probes[2].links = {folds[2].id}, {folds[0].id}, {folds[1].id}
    assert [probes.index(found) for _, found in pair(folds, probes) if found] == [1, 2, 0]
    for run, name in zip(probes, ("fold1", "fold2", "fold0")):
        run.links, run.name = set(), name
    assert [probes.index(found) for _, found in pair(folds, probes) if found] == [2, 0, 1]
    two = [made("wandb", pid=1, a=series([0])), made("wandb", pid=2, a=series([0]))]
    assert pair(two, [made("probe", pid=2, a=series([0]))])[0][1] is None


def test_folds_in_one_probe_run_are_not_all_there() -> None:
    folds = [made("wandb", f"fold{n}", loss=series([0, 1])) for n in range(2)]
    assert sorted(run.verdict for run in compare([made("probe", loss=series([0, 1]))], folds).runs) == [
        "equal",
        "nothing recorded",
    ]


def test_a_key_that_only_probe_has_is_no_error() -> None:
    result = compare([made("probe", loss=series([0]), more=series([0]))], [made("wandb", loss=series([0]))])
    assert result.equal and [key.verdict for key in result.runs[0].keys] == ["equal", "only at Probe"]


def test_a_probe_run_of_its_own_is_no_error_but_a_copy_is() -> None:
    tracker, probe = made("wandb", loss=series([0, 1])), made("probe", "a", loss=series([0, 1]))
    other = made("probe", "b", tokens=series([0, 1]))
    result = compare([probe, other], [tracker])
    assert result.equal and result.only_at_probe == [other]
    copy = made("probe", "c", loss=series([0, 1]))
    result = compare([probe, copy], [tracker])
    assert result.verdict == "twice" and len(result.runs[0].again) == 1


def test_nothing_to_compare_is_not_equal() -> None:
    assert not compare([made("probe", loss=series([0]))], []).equal
    assert compare([], [made("wandb", loss=series([0]))]).verdict == "nothing recorded"
    assert not compare([], []).equal


def test_ignored_keys() -> None:
    result = compare(
        [made("probe", loss=series([0]))],
        [made("wandb", loss=series([0]), gpu__0=series([0]))],
        Rules(ignore=("gpu/*",)),
    )
    assert result.equal


def test_curves() -> None:
    drawn = svg(series([0, 1, 2], [1.0, math.nan, -1e308]).points, series([0, 1, 2], [1.0, 2.0, 1e308]).points)
    assert drawn.count("<path") == 2 and "nan" not in drawn and "inf" not in drawn
    assert "no finite points" in svg(series([None], [1.0]).points, [])
    assert svg(series([3], [1.0]).points, series([3], [1.0]).points).count("<circle") == 2
    assert len(svg(series(range(100_000)).points, [])) < 60_000
