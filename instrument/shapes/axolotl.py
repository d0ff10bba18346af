"""axolotl: a plugin, named in its YAML, that gives the Trainer Probe's callback.

Read in axolotl 0.19.0: `plugins:` is a list of dotted class names; each is imported where training is started, by
`accelerate launch -m` or `torchrun -m` (one that can't be imported is reported and left out), and asked for callbacks when
the Trainer is built. `report_to` is made of `use_wandb` and the like, so that nothing can be added there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.launch._yaml import Node, item_after, pair_after
from instrument.plan.rules import Rule
from instrument.shapes._building import ask
from instrument.shapes._named import cover, mappings, own_package, site_of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.source import Source

NAME = "axolotl"
PLUGIN = "probe_tracking.ProbePlugin"
_DATA = frozenset({"datasets", "pretraining_dataset"})
#: Keys of axolotl's own; three of them with a base model and data make a file one of its configurations.
_KEYS = frozenset(
    """micro_batch_size sequence_len sample_packing val_set_size num_epochs gradient_accumulation_steps adapter lora_r
    flash_attention load_in_8bit load_in_4bit output_dir dataset_prepared_path pad_to_sequence_len rl chat_template
    special_tokens bf16 optimizer learning_rate lr_scheduler gradient_checkpointing warmup_steps wandb_project""".split()
)


def plan(context: Context) -> None:
    """Name the plugin in every configuration."""
    if own_package(context, NAME):
        return
    for source, root in mappings(context, b"base_model:", b"micro_batch_size:"):
        keys = set(root.keys)
        if {"base_model", "micro_batch_size"} <= keys and keys & _DATA and len(keys & _KEYS) >= 3:
            _name(context, source, root)


def _name(context: Context, source: Source, root: Node) -> None:
    plugins = root.get("plugins")
    site = site_of(context, NAME, source, plugins.start if plugins else root.start, "plugins:")
    if plugins is not None and PLUGIN in [item.value for item in plugins.items]:
        site.outcome, site.why = "already", "it lists ProbePlugin"
        context.opened_elsewhere = True
        return
    edit = None
    if plugins is None:
        edit = pair_after(source.text, root, len(root.pairs) - 1, "plugins", f"[{PLUGIN}]")
    elif plugins.items:
        edit = item_after(source.text, plugins, len(plugins.items) - 1, [PLUGIN], PLUGIN)
    elif plugins.kind == "sequence":
        edit = plugins.start + 1, PLUGIN
    if edit is None:
        ask(
            context, site, "callback-by-hand", f"{site.path}: `plugins` has no place for another one",
            f"add {PLUGIN} to the plugins by hand; `instrument module --part axolotl` writes it",
        )  # fmt: skip
        return
    cover(
        context, site, *edit, "give the Trainer Probe's callback, by a plugin",
        "ProbePlugin gives the Trainer a callback that gets what it logs, on the process that logs", NAME,
    )  # fmt: skip


RULE = Rule(name=NAME, title="axolotl", needles=(b"axolotl", b"micro_batch_size:"), plan=plan, order=160)
