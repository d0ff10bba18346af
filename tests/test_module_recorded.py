"""What `record_NAME` does to an object of a framework, on stand-ins with the methods of the real ones; in the module, and
in the form for notebooks."""

from __future__ import annotations

import logging
import pickle
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from instrument import sdk as facts
from instrument.plan import render
from tests.module_lab import FakeSdk, load

from .test_module_inline import LooseSdk

FRAMEWORKS = ("ultralytics", "tianshou", "skrl", "rsl_rl", "mmengine", "torchtune", "torchtitan", "timm")


class Space:
    """The module, or the names of a cell."""

    def __init__(self, names: dict[str, Any], sdk: FakeSdk) -> None:
        self.names, self.sdk = names, sdk

    def record(self, framework: str, thing: Any) -> Any:
        return self.names[f"record_{framework}"](thing)

    @property
    def runs(self) -> list[tuple[str | None, list[tuple[str, int, float]]]]:
        if "_drain" in self.names:
            self.names["_drain"]()
        return [(run.status, run.points) for run in self.sdk.runs]


@pytest.fixture(params=["module", "cell"])
def space(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Space:
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "HOROVOD_RANK", "TF_CONFIG", "PROBE_RUN_ID", "PROBE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in facts.DEFAULTS:  # what the code sets is taken back
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    parts = ["recorded", *FRAMEWORKS]
    sdk = FakeSdk() if request.param == "module" else LooseSdk()
    monkeypatch.setitem(sys.modules, "probe", sdk)
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    if request.param == "module":
        return Space(vars(load(parts)), sdk)
    names: dict[str, Any] = {}
    text = render.render_inline(parts, alias=None, names=[f"record_{framework}" for framework in FRAMEWORKS])
    exec(text, names)
    return Space(names, sdk)


class Writer:
    def __init__(self) -> None:
        self.rows: list[tuple[str, float, int]] = []

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.rows.append((tag, scalar_value, global_step))


class Agent:
    """As skrl's: the writer is opened by `init`."""

    writer: Any = None
    cfg = {"lr": 0.1}  # noqa: RUF012

    def init(self, trainer_cfg: object = None) -> str:
        self.writer = Writer()
        return "initialised"


class Runner:
    """As rsl_rl's until 3: it writes by itself."""

    cfg = {"steps": 8}  # noqa: RUF012

    def __init__(self) -> None:
        self.writer: Any = None

    def log(self, locs: dict[str, Any]) -> None:
        self.writer.add_scalar("Loss/value", locs["loss"], locs["it"])
        self.writer.add_scalar("Train/mean_reward/time", 1.0, 2)

    def learn(self, iterations: int, breaks: bool = False) -> int:
        self.writer = self.writer or Writer()
        for it in range(iterations):
            self.log({"it": it, "loss": 1.0})
        if breaks:
            raise RuntimeError("diverged")
        return iterations


def test_an_agent(space: Space) -> None:
    agent = Agent()
    assert space.record("skrl", agent) is agent and space.record("skrl", agent) is agent
    assert agent.init(trainer_cfg={}) == "initialised"
    agent.writer.add_scalar("Loss", 0.5, 20)
    agent.writer.add_scalar(tag="Loss", scalar_value=0.25, global_step=40)
    assert agent.writer.rows == [("Loss", 0.5, 20), ("Loss", 0.25, 40)]
    assert space.runs == [(None, [("Loss", 20, 0.5), ("Loss", 40, 0.25)])]


def test_agents_one_after_the_other_are_runs_of_their_own(space: Space) -> None:
    for value in (1.0, 2.0):
        agent = space.record("skrl", SimpleNamespace(agent=Agent())).agent
        agent.init()
        agent.writer.add_scalar("Loss", value, 1)
    assert space.runs == [("completed", [("Loss", 1, 1.0)]), (None, [("Loss", 1, 2.0)])]


def test_a_recorded_object_can_be_pickled_and_sent_elsewhere(space: Space) -> None:
    agent = space.record("skrl", Agent())
    other = pickle.loads(pickle.dumps(agent))
    assert other.init() == "initialised"
    other.writer.add_scalar("Loss", 1.0, 1)
    assert space.runs == [], "the copy is as it was"


def test_a_runner_has_a_run_for_each_learn(space: Space) -> None:
    runner = space.record("rsl_rl", Runner())
    assert runner.learn(2) == 2
    with pytest.raises(RuntimeError, match="diverged"):
        runner.learn(iterations=1, breaks=True)
    assert runner.learn(1) == 1
    first, second = ([("Loss/value", it, 1.0), ("Train/mean_reward/time", 2, 1.0)] for it in (0, 1))
    assert space.runs == [("completed", first + second), ("failed", first), ("completed", first)]


class Logger:
    """As tianshou's from 1.0 on; `Old` as before."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, dict[str, Any]]] = []

    def prepare_dict_for_logging(self, data: dict[str, Any]) -> dict[str, Any]:
        return data

    def write(self, step_type: str, step: int, data: dict[str, Any]) -> None:
        self.rows.append((step_type, step, data))

    def finalize(self) -> None:
        self.rows.append(("end", 0, {}))


class Old:
    def write(self, step_type: str, step: int, data: dict[str, Any]) -> None: ...


class Factory:
    """As the loggers of tianshou's experiments."""

    def create_logger(
        self, log_dir: str, experiment_name: str, run_id: str | None, config_dict: object = None
    ) -> Logger:
        return Logger()


def test_loggers(space: Space) -> None:
    logger = space.record("tianshou", Logger())
    logger.write("train/env_step", 10, {"reward": 1.0, "name": "x"})
    logger.finalize()
    assert logger.rows == [("train/env_step", 10, {"reward": 1.0, "name": "x"}), ("end", 0, {})]
    old = space.record("tianshou", Old())
    old.write("train/env_step", 5, {"train/reward": 2.0})
    assert space.runs == [
        ("completed", [("train/reward", 10, 1.0), ("train/env_step", 10, 10.0)]),
        (None, [("train/reward", 5, 2.0)]),
    ]


def test_an_experiment_is_saved_before_it_runs(space: Space) -> None:
    experiment = space.record("tianshou", SimpleNamespace(logger_factory=Factory()))
    assert pickle.loads(pickle.dumps(experiment)).logger_factory.create_logger("logs", "name", None).rows == []
    experiment.logger_factory.create_logger("logs", "name", None, {"lr": 1}).write("info/epoch", 1, {"best": 3.0})
    assert space.runs == [(None, [("info/best", 1, 3.0), ("info/epoch", 1, 1.0)])]


def test_experiments_that_a_builder_runs(space: Space) -> None:
    class Builder:
        def build_seeded_collection(self, count: int) -> Any:
            return SimpleNamespace(experiments=[SimpleNamespace(logger_factory=Factory()) for _ in range(count)])

    for experiment in space.record("tianshou", Builder()).build_seeded_collection(2).experiments:
        logger = experiment.logger_factory.create_logger("logs", "name", None)
        logger.write("info/epoch", 1, {})
        logger.finalize()
    assert space.runs == [("completed", [("info/epoch", 1, 1.0)])] * 2


class Visualizer:
    def add_scalar(self, name: str, value: float, step: int = 0) -> None: ...

    def add_scalars(self, scalar_dict: dict[str, float], step: int = 0, file_path: str | None = None) -> None: ...


class MMRunner:
    """As MMEngine's: training at iterations, which it counts behind its hooks; validation at epochs."""

    def __init__(self) -> None:
        self.visualizer, self.cfg, self.iter = Visualizer(), SimpleNamespace(to_dict=lambda: {"lr": 1}), 0

    def train(self) -> None:
        for self.iter in range(2):
            row = {"loss": 1.0, "time": 0.5}
            self.visualizer.add_scalars(row, step=self.iter + 1, file_path="x.json")
        self.iter = 2
        self.visualizer.add_scalars({"error": 0.25, "time": 9.0}, step=1)
        self.visualizer.add_scalar("mine", 3.0, 7)
        assert row == {"loss": 1.0, "time": 0.5}


def test_a_visualizer(space: Space) -> None:
    runner = space.record("mmengine", MMRunner())
    runner.visualizer.add_scalars({"before": 1.0}, 1)
    runner.train()
    runner.visualizer.add_scalars({"behind": 1.0}, 1)
    trained = [(key, step, value) for step in (1, 2) for key, value in (("loss", 1.0), ("time", 0.5))]
    assert space.runs == [("completed", [*trained, ("error", 1, 0.25), ("time", 1, 9.0), ("mine", 7, 3.0)])]


class Model:
    """As Ultralytics': the model's callbacks go to the trainer, which calls those of an event with itself."""

    def __init__(self) -> None:
        self.callbacks: dict[str, list[Any]] = {"on_train_start": [], "on_train_epoch_end": [], "on_fit_epoch_end": [],
                                                "on_train_end": [], "teardown": []}  # fmt: skip

    def add_callback(self, event: str, callback: Any) -> None:
        self.callbacks[event].append(callback)

    def train(self, epochs: int, breaks: bool = False) -> None:
        trainer = SimpleNamespace(
            args=SimpleNamespace(epochs=epochs), epoch=0, lr={"lr/pg0": 0.5}, tloss=2.0, metrics={},
            label_loss_items=lambda loss, prefix: {f"{prefix}/box_loss": loss},
        )  # fmt: skip

        def tell(event: str) -> None:
            for callback in self.callbacks[event]:
                callback(trainer)

        tell("on_train_start")
        try:
            for trainer.epoch in range(epochs):
                tell("on_train_epoch_end")
                if breaks:
                    raise RuntimeError("out of memory")
                trainer.metrics = {"fitness": trainer.epoch * 1.0}
                tell("on_fit_epoch_end")
            tell("on_train_end")
        finally:
            tell("teardown")


def test_a_model(space: Space) -> None:
    model = space.record("ultralytics", space.record("ultralytics", Model()))
    assert {len(callbacks) for callbacks in model.callbacks.values()} == {1}
    model.train(1)
    with pytest.raises(RuntimeError, match="out of memory"):
        model.train(2, breaks=True)
    losses = [("train/box_loss", 1, 2.0), ("lr/pg0", 1, 0.5)]
    assert space.runs == [("completed", [*losses, ("fitness", 1, 0.0)]), ("failed", losses)]


class MetricLogger:
    """As torchtune's: TensorBoard's logs the numbers of a row one by one."""

    def log_config(self, config: object) -> None: ...

    def log(self, name: str, data: float, step: int) -> None: ...

    def log_dict(self, payload: dict[str, float], step: int) -> None:
        for name, data in payload.items():
            self.log(name, data, step)

    def close(self) -> None: ...


def test_a_metric_logger(space: Space) -> None:
    logger = space.record("torchtune", MetricLogger())
    logger.log_config({})
    logger.log_dict({"loss": 1.0, "lr": 0.5}, step=1)
    logger.log("accuracy", 0.25, step=1)
    logger.close()
    assert space.runs == [("completed", [("loss", 1, 1.0), ("lr", 1, 0.5), ("accuracy", 1, 0.25)])]


def test_a_name_in_a_configuration_builds_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """`probe_tracking.torchtune.x.Y` stands for `torchtune.x.Y`, recorded."""
    sdk = FakeSdk()
    monkeypatch.setitem(sys.modules, "probe", sdk)
    monkeypatch.setitem(sys.modules, "torchtune.training.metric_logging", SimpleNamespace(DiskLogger=MetricLogger))  # type: ignore[arg-type]
    tracking = load(["torchtune"])
    logger = tracking.torchtune.training.metric_logging.DiskLogger()
    assert type(logger) is MetricLogger
    logger.log_dict({"loss": 1.0}, step=3)
    tracking._drain()
    assert [run.points for run in sdk.runs] == [[("loss", 3, 1.0)]]


class Container:
    """As torchtitan's on the rank that logs; elsewhere it has no `add_logger`."""

    def add_logger(self, logger: object) -> None: ...

    def log(self, metrics: dict[str, float], step: int) -> None: ...

    def close(self) -> None: ...


def test_the_last_stage_of_a_pipeline_logs(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "6")
    for container in (SimpleNamespace(log=lambda metrics, step: None, close=lambda: None), Container()):
        trainer = SimpleNamespace(
            config=SimpleNamespace(to_dict=lambda: {"lr": 1}),
            metrics_processor=SimpleNamespace(logger=container, config=None),
        )
        space.record("torchtitan", trainer)
        trainer.metrics_processor.logger.log({"loss": 1.0}, 1)
        trainer.metrics_processor.logger.close()
    assert space.runs == [("completed", [("loss", 1, 1.0)])]


def test_a_summary(space: Space) -> None:
    record = space.names["record_timm"]
    record(0, {"loss": 1.0}, {"top1": 50.0}, lr=0.5, log_wandb=True)
    record(1, {"loss": 0.5}, None)
    record(2, {"loss": 0.5}, None, log_wandb=False)
    [(status, points)] = space.runs
    assert status is None and sorted(points) == [
        ("epoch", 0, 0.0), ("epoch", 1, 1.0), ("eval_top1", 0, 50.0), ("lr", 0, 0.5), ("train_loss", 0, 1.0), ("train_loss", 1, 0.5),
    ]  # fmt: skip


def test_other_ranks_record_nothing(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    model = space.record("ultralytics", Model())
    model.train(1)
    assert space.runs == []


def test_what_goes_wrong_is_said_and_training_goes_on(space: Space, caplog: pytest.LogCaptureFixture) -> None:
    agent = space.record("skrl", Agent())
    agent.init()
    with caplog.at_level(logging.WARNING):
        agent.writer.add_scalar("Loss", 1.0, "odd")
    assert agent.writer.rows == [("Loss", 1.0, "odd")]
    assert "did not get a row" in caplog.text


@pytest.mark.parametrize("framework", FRAMEWORKS[:-1])
def test_an_object_of_another_kind_is_left_alone(space: Space, framework: str) -> None:
    if "_drain" in space.names:  # the module; a cell says so at once
        thing = SimpleNamespace()
        assert space.record(framework, thing) is thing and vars(thing) == {}
