"""The same programs for trackers whose metrics are sent one by one, each at a step that is given."""

from __future__ import annotations

from tests.fuzz.programs import Lines, Writer
from tests.trackers.programs import Program


class OneByOne(Writer):
    """A tracker of calls with a tag, a value and a step."""

    def step(self) -> str:
        # No step twice: of a key at a step TensorBoard keeps the last value, Probe the first.
        return self.random.choice(["tick()", "tick()", "0 + tick()", "max(tick(), 0)", "(lambda: tick())()"])

    def tag(self) -> str:
        return self.random.choice(
            ["'loss'", '"train/acc"', "f'x/{len(seen)}'", "'a' if flag else 'b'", "str(rank) + '/lr'"]
        )


class TensorBoard(OneByOne):
    """`SummaryWriter` of torch and of tensorboardX."""

    def importing(self) -> Lines:
        torch, x = "from torch.utils.tensorboard import SummaryWriter", "from tensorboardX import SummaryWriter"
        guarded = ["try:", self.indent + torch, "except ImportError:", self.indent + x]
        return self.random.choice([[torch], [x], guarded])

    def opening(self, config: str) -> str:
        return self.random.choice(["SummaryWriter()", "SummaryWriter('logs')", "SummaryWriter(log_dir='logs')"])

    def open(self, config: str) -> Lines:
        self.handle = self.handle or "run"
        return [f"{self.handle} = {self.opening(config)}"]

    def alive(self) -> str:
        return "len(seen) >= 0"

    def closing(self, handle: str) -> str:
        return f"{handle}.close()" if handle else "pass"

    def call(self, allow_lines: bool = True) -> tuple[Lines, str]:
        writer, value, step = self.handle or "run", self.value(), self.step()
        kind = self.random.randrange(6)
        if kind == 0:
            return [], f"{writer}.add_scalars('both', {{'a': {value}, 'b': {self.value()}}}, {step})"
        if kind == 1:
            return [], f"{writer}.add_scalar(tag={self.tag()}, scalar_value={value}, global_step={step})"
        if kind == 2:
            return [], f"{writer}.add_scalar(global_step={step}, tag={self.tag()}, scalar_value={value})"
        return [], f"{writer}.add_scalar({self.tag()}, {value}, {self.random.choice(['', 'global_step='])}{step})"

    def helper(self, depth: int) -> Lines:
        # Without a module-level call, a helper reaches the writer only where it is given or global.
        return super().helper(depth) if self.handle == "run" and not self.local else self.log()


class MLflow(OneByOne):
    """MLflow's fluent calls."""

    def importing(self) -> Lines:
        self.module = self.random.choice(["mlflow", "mlflow", "ml"])
        return ["import mlflow" + (" as ml" if self.module == "ml" else "")]

    def opening(self, config: str) -> str:
        return f"{self.module}.start_run({self.random.choice(['', '', 'run_name=str(rank)'])})"

    def alive(self) -> str:
        return f"{self.module}.active_run() is not None"

    def closing(self, handle: str) -> str:
        return f"{self.module}.end_run()"

    def call(self, allow_lines: bool = True) -> tuple[Lines, str]:
        value, step, to = self.value(), self.step(), self.module
        kind = self.random.randrange(5)
        if kind < 2:
            return [], f"{to}.log_metrics({{{self.tag()}: {value}, 'other': {self.value()}}}, step={step})"
        if kind == 2:
            return [], f"{to}.log_metric(key={self.tag()}, value={value}, step={step})"
        return [], f"{to}.log_metric({self.tag()}, {value}, {self.random.choice(['', 'step='])}{step})"


KINDS = {"tensorboard": TensorBoard, "mlflow": MLflow}


def program(kind: str, seed: int) -> Program:
    """The program of a seed for a tracker."""
    return Program(f"{kind}_{seed}", {"main.py": KINDS[kind](seed).write()})
