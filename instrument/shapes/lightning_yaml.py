"""Lightning's loggers written in YAML: LightningCLI's `trainer.logger` and Hydra's logger groups.

LightningCLI (lightning 2.6) builds what `class_path` names, Hydra what `_target_` names; both keep the order, so an
item behind the first leaves `self.logger` alone. There is no call to guard here: the YAML names the SDK's own class,
which must be installed where it is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.errors import SourceError
from instrument.launch._yaml import Node, documents, item_after
from instrument.plan.model import Site
from instrument.plan.rules import Rule
from instrument.repo.source import Source

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "lightning_yaml"
LOGGER = "probe.integrations.lightning.ProbeLogger"
_CLASS = re.compile(r"(?:lightning(?:\.pytorch)?|pytorch_lightning)\.loggers\.[\w.]+")
_REASON = "register Probe's logger behind the first, which stays what `self.logger` and checkpoints use"


def plan(context: Context) -> None:
    """Add the logger to every YAML file that lists Lightning's loggers, where first-party code reads such files."""
    cli = any(m for m in context.modules(b"LightningCLI"))
    hydra = any(m for m in context.modules(b"hydra"))
    if not cli and not hydra:
        return
    for path in context.repo.having(b"loggers.", suffixes=(".yaml", ".yml")):
        if not context.repo.editable(path):
            continue
        source = context.repo.source(path)
        try:
            text = source.text
        except SourceError:
            continue
        for root in documents(text):
            if cli:
                _cli(context, source, root)
            if hydra:
                _hydra(context, source, root)


def _found(context: Context, source: Source, node: Node) -> Site:
    context.found("lightning")
    site = Site(
        rule=NAME, kind="build", path=str(source.path), line=source.line_of(node.start), what="logger:",
        strategy="register",
    )  # fmt: skip
    context.plan.sites.append(site)
    return site


def _cli(context: Context, source: Source, root: Node) -> None:
    loggers = root.get("trainer", "logger")
    if loggers is None:
        return
    classes = [item.get("class_path") for item in (loggers.items or [loggers])]
    if not any(c is not None and _CLASS.fullmatch(c.value) for c in classes):
        return
    site = _found(context, source, loggers)
    if any(c is not None and c.value == LOGGER for c in classes):
        site.outcome, site.why = "already", "it lists ProbeLogger"
        return
    last = len(loggers.items) - 1
    named = f"class_path: {LOGGER}"
    edit = item_after(source.text, loggers, last, [named], f"{{{named}}}") if loggers.items else None
    if edit is None:
        site.outcome, site.why = "asked", "one logger that is no list"
        context.note(
            "question", "logger-by-hand",
            "`trainer.logger` is one logger: make it a list, and Probe's logger is added to it",
            path=site.path, line=site.line, next="write `logger:` as a list, then run `instrument apply` again",
        )  # fmt: skip
        return
    _edit(context, site, *edit)


def _hydra(context: Context, source: Source, root: Node) -> None:
    """`configs/logger/wandb.yaml`: a mapping of names to loggers, each with its `_target_`."""
    targets = [(value, value.get("_target_")) for _, value in root.pairs]
    loggers = [value for value, target in targets if target is not None and _CLASS.fullmatch(target.value)]
    if not loggers or root.flow:
        return
    site = _found(context, source, loggers[0])
    if any(target is not None and target.value == LOGGER for _, target in targets):
        site.outcome, site.why = "already", "it lists ProbeLogger"
        return
    line = source.line_of(loggers[-1].end)
    first = source.line_start(source.line_of(loggers[-1].start))
    inner = re.match(r"[ \t]*", source.text[first:])
    newline, indent = source.newline, inner.group() if inner else "  "
    _edit(context, site, source.line_end(line), f"{newline}probe:{newline}{indent or '  '}_target_: {LOGGER}")


def _edit(context: Context, site: Site, offset: int, text: str) -> None:
    context.opened_elsewhere = True
    context.edit(site.path, offset, offset, text, reason=_REASON, rule=NAME)
    site.outcome, site.why = "covered", "ProbeLogger gets what the Trainer's loggers get, on the process that logs"
    context.note(
        "warning", "class-by-name", "this YAML names a class of the SDK: install probe-research wherever it is read, "
        "or the trainer can't be built", path=site.path, line=site.line, next="pip install probe-research",
    )  # fmt: skip


RULE = Rule(
    name=NAME, title="Lightning in YAML", plan=plan, order=115,
    needles=(b"LightningCLI", b"lightning.pytorch.loggers", b"pytorch_lightning.loggers", b"lightning.loggers"),
)  # fmt: skip
