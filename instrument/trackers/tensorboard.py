"""TensorBoard's SummaryWriter (torch.utils.tensorboard and tensorboardX): add_scalar, add_scalars.

A call without a step records step 0 (torch 2.13, tensorboardX 2.6). Where W&B syncs TensorBoard
(`sync_tensorboard=True`) the run is W&B's, and the writer's scalars are what it shows: they are mirrored into the run
opened beside `wandb.init`.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.config import config_at
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, Used, scalar_call
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

WRITERS = (
    "torch.utils.tensorboard.SummaryWriter", "torch.utils.tensorboard.writer.SummaryWriter",
    "tensorboardX.SummaryWriter", "tensorboardX.writer.SummaryWriter",
)  # fmt: skip


_read_scalar = scalar_call((0, ("tag",)), (1, ("scalar_value",)), (2, ("global_step",)))


def _scalar(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`add_scalar(tag, value, step)`; asks where a second writer has a metric of the same name in the same run."""
    tag, func = argument(call, 0, "tag"), call.func
    if isinstance(func, ast.Attribute) and _one_of_many(func.value):
        return Ask("it is one of several writers, which would be mixed under one key in one run", "second-writer")
    if isinstance(tag, ast.Constant) and isinstance(func, ast.Attribute):
        for other in module.calls():
            if module.start(other) >= module.start(call):
                break
            same = isinstance(other.func, ast.Attribute) and other.func.attr == "add_scalar"
            theirs = argument(other, 0, "tag") if same else None
            if (
                not isinstance(theirs, ast.Constant)
                or theirs.value != tag.value
                or not isinstance(other.func, ast.Attribute)
            ):
                continue
            if module.code(other.func.value) != module.code(func.value) and _two_writers(context, module):
                return Ask(
                    f'another writer of this file has "{tag.value!s}" too, and Probe has one run for both',
                    "second-writer",
                )
    return _read_scalar(context, module, call)


def _one_of_many(receiver: ast.expr) -> bool:
    """`self.writers[loader]`: a writer for each set of data, so that which one it is belongs to the name."""
    return isinstance(receiver, ast.Subscript) and not isinstance(receiver.slice, ast.Constant)


def _two_writers(context: Context, module: Module) -> bool:
    """Whether a writer was left because another one opens the run (`_skip` has said so)."""
    return any(note.code == "second-writer" and note.path == module.path for note in context.plan.notes)


def _scalars(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`add_scalars(main_tag, {tag: value}, step)`: TensorBoard shows them as main_tag/tag."""
    main, values = argument(call, 0, "main_tag"), argument(call, 1, "tag_scalar_dict")
    step = argument(call, 2, "global_step")
    if main is None or values is None or has_splat(call):
        return Ask("its arguments are passed on by * or **")
    uses = [Used(main, "key"), Used(values, "values")]
    if step is not None:
        uses.append(Used(step, "step"))

    def text(texts: list[str]) -> str:
        plain = isinstance(main, ast.Constant) and re.fullmatch(r"[\w/. -]+", str(main.value))
        key = f'f"{plain[0]}/{{tag}}"' if plain else f'{texts[0]} + "/" + tag'
        return f"{{{key}: value for tag, value in {texts[1]}.items()}}, step={texts[2] if len(texts) > 2 else 0}"

    return Emission(uses=tuple(uses), text=text)


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    config = config_at(context, module, call)
    return [f"config={config}"] if config else []


def _skip(context: Context, module: Module, call: ast.Call) -> str | None:
    """One run for a script: W&B's where it opens one here, else the first writer's."""
    if any(site.rule == "wandb" and site.kind == "open" and site.path == module.path for site in context.plan.sites):
        return "the run is opened beside wandb.init"
    stmt, target = module.statement(call), _target(module, call)
    if not re.search(r"\badd_scalars?\b", module.text) and _kept_here(module, call, target):
        return "no scalars are written with it"
    for other in module.calls():
        if module.start(other) >= module.start(call):
            break
        if not set(WRITERS) & context.program.resolve(module, other.func):
            continue
        same_place = module.function(other) is module.function(call)
        if same_place and (target is None or _target(module, other) != target):
            context.note(
                "question", "second-writer", "a second SummaryWriter is opened in the same place; its scalars go "
                "into the run of the first", path=module.path, line=stmt.lineno,
            )  # fmt: skip
            return "one run for the writers of a script"
    return None


def _kept_here(module: Module, call: ast.Call, target: str | None) -> bool:
    """Whether a writer stays in the variable of the function that makes it: it is not given or handed to anything."""
    function = module.function(call)
    if target is None or not target.isidentifier() or function is None:
        return False
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == target and isinstance(node.ctx, ast.Load):
            parent = module.parent(node)
            if not isinstance(parent, ast.Attribute) or not isinstance(module.parent(parent), ast.Call):
                return False
    return True


def _target(module: Module, call: ast.Call) -> str | None:
    stmt = module.statement(call)
    return module.code(stmt.targets[0]) if isinstance(stmt, ast.Assign) else None


def _gives_way(module: Module) -> bool:
    """Not where W&B shows the writer's scalars: then there is nothing that is sent twice."""
    return b"sync_tensorboard" not in module.source.data


_OTHERS = {
    "add_histogram": "histograms have no counterpart",
    "add_image": "media has no counterpart",
    "add_images": "media has no counterpart",
    "add_figure": "media has no counterpart",
    "add_video": "media has no counterpart",
    "add_audio": "media has no counterpart",
    "add_text": "text has no counterpart",
    "add_graph": "graphs have no counterpart",
    "add_embedding": "embeddings have no counterpart",
    "add_pr_curve": "curves have no counterpart",
    "add_hparams": "hyperparameters are the run's config",
    "add_mesh": "media has no counterpart",
}

TRACKER = Tracker(
    name="tensorboard",
    title="TensorBoard",
    packages=frozenset({"torch", "tensorboardX"}),
    needles=(b"SummaryWriter",),
    opens={
        name: Opening(
            arguments=_arguments, kept_as="writer", gives_handle=True, ambient=lambda module, call: "", skip=_skip
        )
        for name in WRITERS
    },
    emits={
        **{f"{w}().add_scalar": _scalar for w in WRITERS},
        **{f"{w}().add_scalars": _scalars for w in WRITERS},
    },
    closes=frozenset(f"{w}().close" for w in WRITERS),
    leaves={f"{w}().{name}": why for w in WRITERS for name, why in _OTHERS.items()},
    gives_way=_gives_way,
)

RULE = Rule(
    name="tensorboard",
    title="TensorBoard",
    needles=TRACKER.needles,
    plan=partial(plan_tracker, tracker=TRACKER),
    order=290,
)
