"""Random legal programs that send metrics to W&B: every one of them runs, prints, and draws from one counter.

`program(seed)` is the same text for the same seed. What varies: how wandb is imported, where the run is kept, what the
call looks like (dict, `dict()`, a variable, a call with a side effect, `**`, steps by keyword, by position, going back,
`commit`), and what stands around it (loops, guards, `try`, `with`, one-line suites, `match`, helpers, closures,
classes, coroutines, generators, lambdas, comprehensions, conditional expressions).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.trackers.programs import Instrumented, Program, faults, instrumented

Lines = list[str]


class Writer:
    """Writes one program; every choice is drawn from `random`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.indent = self.random.choice(["    ", "    ", "    ", "  ", "\t"])
        self.helpers: Lines = []
        self.names = 0
        #: How the module and the run are spoken of where the next statement is written.
        self.module = "wandb"
        self.handle = ""
        self.log_name = ""
        self.counter = "0"

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}_{self.names}"

    def block(self, lines: Lines) -> Lines:
        return [self.indent + line if line else line for line in lines]

    # -- expressions ----------------------------------------------------------------------------------------------

    def value(self) -> str:
        pick = self.random.choice
        return pick(["tick()", "tick()", "1", "0.5", f"{self.counter} * 2", "len(seen)", "float(tick())", "-tick()",
                     "(tick() if flag else 3)", "(lambda: tick())()", "max(tick(), 2)"])  # fmt: skip

    def key(self) -> str:
        return self.random.choice(["'loss'", "'train/loss'", '"acc"', "'lr'", "'eval/acc'", "f'x/{len(seen)}'"])

    def items(self) -> str:
        count = self.random.choice([1, 1, 2, 3])
        items = [f"{self.key()}: {self.value()}" for _ in range(count)]
        if self.random.random() < 0.15:
            items.append("**base")
        return "{" + ", ".join(items) + "}"

    def data(self) -> tuple[Lines, str]:
        """(statements before the call, the expression of the row)."""
        kind = self.random.randrange(10)
        if kind < 5:
            return [], self.items()
        if kind == 5:
            return [], f"dict(loss={self.value()}, acc={self.value()})"
        if kind == 6:
            name = self.name("row")
            return [f"{name} = {self.items()}"], name
        if kind == 7:
            return [], f"metrics({self.value()})"
        if kind == 8:
            return [], "{f'm/{k}': v for k, v in " + self.items() + ".items()}"
        name = self.name("row")
        return [f"{name} = {{}}", f"{name}['loss'] = {self.value()}", f"{name}.update(acc={self.value()})"], name

    def call(self, allow_lines: bool = True) -> tuple[Lines, str]:
        """(statements before the call, the call)."""
        before, data = self.data()
        if before and not allow_lines:
            before, data = [], self.items()
        steps = [f"step={self.counter}", f"step={self.counter} * 2", "step=tick()", f"step=len(seen) + {self.counter}"]
        step = self.random.choice(["", "", "", *steps, "step=1", "step=None"])
        commit = self.random.choice(["", "", "", "", "commit=False", "commit=True", "commit=flag"])
        if step and step != "step=None" and self.random.random() < 0.2:
            step = step.partition("=")[2]
        if self.random.random() < 0.08:
            data = f"data={data}"
            step = "step=" + step if step and "=" not in step else step
        arguments = [data, *filter(None, [step, commit])]
        targets = [f"{self.module}.log", *([f"{self.handle}.log"] * 3 if self.handle else [])]
        if self.log_name:
            targets.append(self.log_name)
        return before, f"{self.random.choice(targets)}({', '.join(arguments)})"

    # -- statements -----------------------------------------------------------------------------------------------

    def log(self) -> Lines:
        before, call = self.call()
        kind = self.random.randrange(14)
        if kind < 8 or before:
            return [*before, call]
        if kind == 8:
            return [f"{call}; print('sent', tick())"]
        if kind == 9:
            return [f"flag and {call}"]
        if kind == 10:
            return [f"{call} if flag else None"]
        if kind == 11:
            return [f"if len(seen) % 2: {call}"]
        if kind == 12:
            return [f"print({call})"]
        return [f"[{call} for _ in range(2)]"]

    def other(self) -> Lines:
        return self.random.choice([["print('at', tick())"], ["seen.append(tick())"], ["base['b'] = tick()"], ["pass"]])

    def statements(self, depth: int, count: int | None = None) -> Lines:
        lines: Lines = []
        for _ in range(count or self.random.choice([1, 1, 2, 3])):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> Lines:
        if depth <= 0 or self.random.random() < 0.35:
            return self.log() if self.random.random() < 0.7 else self.other()
        kinds: list[Callable[[int], Lines]] = [
            self.for_loop, self.while_loop, self.guard, self.attempt, self.one_line, self.matched, self.helper,
            self.with_block, self.nested, self.early,
        ]  # fmt: skip
        return self.random.choice(kinds)(depth - 1)

    def for_loop(self, depth: int) -> Lines:
        was, self.counter = self.counter, self.name("i")
        head = self.random.choice([f"for {self.counter} in range(3):", f"for {self.counter}, _ in enumerate('ab'):"])
        lines = [head, *self.block(self.statements(depth))]
        if self.random.random() < 0.15:
            lines += ["else:", *self.block(self.log())]
        self.counter = was
        return lines

    def while_loop(self, depth: int) -> Lines:
        name = self.name("n")
        was, self.counter = self.counter, name
        lines = [f"{name} = 0", f"while {name} < 2:", *self.block([*self.statements(depth), f"{name} += 1"])]
        self.counter = was
        return lines

    def guard(self, depth: int) -> Lines:
        test = self.random.choice(["flag", "not flag", "tick() % 2 == 0", "rank == 0", self.alive()])
        lines = [f"if {test}:", *self.block(self.statements(depth))]
        if self.random.random() < 0.4:
            lines += ["else:", *self.block(self.statements(depth, 1))]
        return lines

    def attempt(self, depth: int) -> Lines:
        body = self.statements(depth)
        if self.random.random() < 0.3:
            body.append("raise ValueError(tick())")
            return [
                "try:",
                *self.block(body),
                "except ValueError as error:",
                *self.block([*self.log(), "print(error)"]),
            ]
        return ["try:", *self.block(body), "finally:", *self.block(self.statements(0, 1))]

    def one_line(self, depth: int) -> Lines:
        _, call = self.call(allow_lines=False)
        return [self.random.choice([f"if flag: {call}", f"for _ in range(2): {call}", f"if flag: {call}; print(tick())",
                                    f"with nothing(): {call}"])]  # fmt: skip

    def matched(self, depth: int) -> Lines:
        inner = [
            "case 0 | 1:",
            *self.block(self.statements(depth, 1)),
            "case _:",
            *self.block(self.statements(depth, 1)),
        ]
        return ["match tick() % 3:", *self.block(inner)]

    def with_block(self, depth: int) -> Lines:
        return ["with nothing() as _:", *self.block(self.statements(depth))]

    def early(self, depth: int) -> Lines:
        return [
            "for _ in range(3):",
            *self.block([*self.log(), "if tick() % 2:", self.indent + "continue", *self.log()]),
        ]

    def helper(self, depth: int) -> Lines:
        """A function at the top of the module, with or without the run as an argument."""
        name, handle, counter, log_name = self.name("helper"), self.handle, self.counter, self.log_name
        passed = bool(handle) and self.random.random() < 0.6
        self.handle = "given" if passed else ("" if handle.startswith("self.") or self.local else handle)
        self.counter = "step"
        parameters = self.random.choice(["step", "step, *rest", "step=0"])
        parameters = ("given, " if passed else "") + parameters
        body = self.statements(min(depth, 1))
        self.helpers += [*self.decorator(), f"def {name}({parameters}):", *self.block(body), "", ""]
        self.handle, self.counter, self.log_name = handle, counter, log_name
        return [f"{name}({handle + ', ' if passed else ''}{counter})"]

    def decorator(self) -> Lines:
        return ["@same"] if self.random.random() < 0.15 else []

    def nested(self, depth: int) -> Lines:
        name, counter = self.name("inner"), self.counter
        kind = self.random.randrange(4)
        if kind == 0:
            _, call = self.call(allow_lines=False)
            return [f"{name} = lambda: {call}", f"{name}()"]
        self.counter = "s"
        body = self.statements(depth)
        self.counter = counter
        if kind == 1:
            return [f"def {name}(s):", *self.block([*body, "yield s"]), f"print(list({name}({counter})))"]
        if kind == 2:
            return [f"async def {name}(s):", *self.block(["await asyncio.sleep(0)", *body]),
                    f"asyncio.run({name}({counter}))"] if not self.awaited else self.other()  # fmt: skip
        return [f"def {name}(s):", *self.block(body), f"{name}({counter})"]

    # -- the whole ------------------------------------------------------------------------------------------------

    def write(self) -> str:
        pick = self.random.choice
        self.local = self.awaited = False
        imports = self.importing()
        others = ["import asyncio", "from contextlib import nullcontext as nothing"]
        head = [*imports, *others] if self.random.random() < 0.5 else [*others, *imports]
        common = [
            "seen, base, flag, rank = [], {'b': 0}, True, 0", "", "", "def tick():", self.indent + "seen.append(len(seen))",
            self.indent + "return len(seen)", "", "", "def metrics(value, scale=2):",
            self.indent + "print('metrics', value)", self.indent + "return {'value': value * scale}", "", "",
            "def same(function):", self.indent + "return function", "", "",
        ]  # fmt: skip
        config = pick(["", "config={'lr': 0.1}", "config=dict(a=tick())", "project='p', config=base"])
        body = getattr(
            self, pick(["script", "script", "function", "function", "trainer", "context", "factory", "asynchronous"])
        )(config)
        return "\n".join([*head, "", *common, *self.helpers, *body]) + "\n"

    def importing(self) -> Lines:
        """The import of the tracker; says how it is called from then on."""
        style = self.random.choice(["plain", "plain", "alias", "from", "guarded"])
        self.module = "wb" if style == "alias" else "wandb"
        self.log_name = "send" if style == "from" else ""
        return {
            "plain": ["import wandb"],
            "alias": ["import wandb as wb"],
            "from": ["import wandb", "from wandb import log as send"],
            "guarded": ["try:", self.indent + "import wandb", "except ImportError:", self.indent + "wandb = None"],
        }[style]

    def opening(self, config: str) -> str:
        """The expression that opens a run."""
        return f"{self.module}.init({config})"

    def alive(self) -> str:
        """A test that a run is open."""
        return f"{self.module}.run is not None"

    def closing(self, handle: str) -> str:
        """The statement that closes the run, by its handle where there is one."""
        return f"{handle or self.module}.finish()"

    def end(self) -> Lines:
        forms = [[], [self.closing("")]]
        if self.handle:
            forms += [[self.closing(self.handle)]] * 2
        return self.random.choice(forms)

    def open(self, config: str) -> Lines:
        call = self.opening(config)
        if self.random.random() < 0.35:
            return [call]
        self.handle = self.handle or "run"
        return [f"{self.handle} = {call}"]

    def script(self, config: str) -> Lines:
        opened = self.open(config)
        return [*opened, *self.statements(3, 3), *self.end(), "print('end', tick())"]

    def function(self, config: str) -> Lines:
        self.local = True
        opened = self.open(config)
        body = [*opened, *self.statements(3, 3), *self.end()]
        if self.random.random() < 0.3:
            body = [
                *opened,
                "try:",
                *self.block(self.statements(2, 2)),
                "finally:",
                *self.block(self.end() or ["pass"]),
            ]
        runs = self.random.choice(["main()", "for _ in range(2): main()", "main()"])
        return ["def main():", *self.block(body), "", "", "if __name__ == '__main__':", self.indent + runs,
                self.indent + "print('end', tick())"]  # fmt: skip

    def trainer(self, config: str) -> Lines:
        self.local = True
        self.handle = "self.run"
        opened = [f"self.run = {self.opening(config)}"]
        lazy = self.random.random() < 0.3
        lines = ["class Trainer:", *self.block(["def __init__(self):", *self.block(["self.run = None", "self.n = 0"]
                 if lazy else [*opened, "self.n = 0"])])]  # fmt: skip
        if lazy:
            lines += ["", *self.block(["def setup(self):", *self.block(opened)])]
        self.counter = "self.n"
        lines += ["", *self.block(["def train(self):", *self.block([*self.statements(2, 2), "self.n += 1"])])]
        self.counter = "step"
        lines += ["", *self.block(["def report(self, step, prefix='eval'):", *self.block(self.statements(1, 2))])]
        self.handle, self.counter = "", "0"
        lines += ["", *self.block(["def close(self):", *self.block(
            self.random.choice([[self.closing("self.run")], [self.closing("")], ["pass"]]))])]  # fmt: skip
        setup = ["trainer.setup()"] if lazy else []
        return [*lines, "", "", "trainer = Trainer()", *setup, "for epoch in range(2):",
                *self.block(["trainer.train()", "trainer.report(epoch)"]), "trainer.close()", "print('end', tick())"]  # fmt: skip

    def context(self, config: str) -> Lines:
        self.handle = "run"
        body = self.block(self.statements(3, 3))
        return [f"with {self.opening(config)} as run:", *body, "print('end', tick())"]

    def factory(self, config: str) -> Lines:
        made = ["def make():", *self.block(self.random.choice([
            [f"return {self.opening(config)}"], [f"made = {self.opening(config)}", "return made"]]))]  # fmt: skip
        self.handle = "run"
        self.helpers += [*made, "", ""]
        return ["run = make()", *self.statements(3, 3), *self.end(), "print('end', tick())"]

    def asynchronous(self, config: str) -> Lines:
        self.local = self.awaited = True
        opened = self.open(config)
        body = [*opened, "await asyncio.sleep(0)", *self.statements(3, 3), *self.end()]
        return ["async def main():", *self.block(body), "", "", "asyncio.run(main())", "print('end', tick())"]


def program(seed: int) -> Program:
    """The program of a seed."""
    return Program(f"seed_{seed}", {"main.py": Writer(seed).write()})


def differing(programs: list[Program]) -> list[tuple[Instrumented, list[str]]]:
    """The programs that do not do as before, with what is wrong; with an empty list those where the plan asks.

    Where the plan says that it does not see all, Probe may get less than the tracker, never more or anything else.
    """
    found = []
    for item in instrumented(programs):
        wrong = faults(item)
        spoken = any(note.level in ("question", "refusal") for note in item.plan.notes) or any(
            site.outcome in ("asked", "refused", "left") for site in item.plan.sites
        )
        if spoken and all(fault.startswith("the tracker has") for fault in wrong):
            theirs = {tuple(point) for run in item.before["runs"] for point in run["series"]}
            wrong = [
                f for f in wrong if any(tuple(p) not in theirs for run in item.after["probe"] for p in run["series"])
            ]
            found.append((item, wrong))
        elif wrong:
            found.append((item, wrong))
    return found
