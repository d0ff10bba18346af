"""Lists and mappings of environment variables in YAML, with the token beside the tracker's variable."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from instrument.launch._names import TOKEN, best_variable, is_credential
from instrument.launch._text import Insertion, Left, Located
from instrument.launch._yaml import Node, documents, item_after, pair_after, walk

Dialect = Literal["compose", "kubernetes", "sky", "hydra", "other"]

_WHAT = f"hands {TOKEN} on by name, as {{}} is"


def dialect_of(path: str, root: Node) -> Dialect | None:
    """What reads a YAML document, by its keys and its file's name; None for documents that hold no environment."""
    base = path.rsplit("/", 1)[-1]
    keys = set(root.keys)
    if root.kind != "mapping":
        return None
    if "services" in keys or re.match(r"(?:docker-)?compose", base):
        return "compose"
    if {"apiVersion", "kind"} <= keys:
        kind = root.get("kind")
        return None if kind is not None and kind.value in ("Secret", "ConfigMap") else "kubernetes"
    if re.match(r"values.*\.ya?ml", base):
        return "kubernetes"
    if keys & {"run", "setup"} and keys & {
        "resources",
        "num_nodes",
        "envs",
        "secrets",
        "workdir",
        "file_mounts",
        "run",
    }:
        return "sky"
    return "other"


def env_insertions(path: str, text: str, wanted: Callable[[Dialect], bool]) -> Located:
    """Where the token goes in the YAML documents of a text whose dialect is wanted."""
    located = Located()
    roots = documents(text)
    if not roots and wanted("other"):
        return _unread(text)
    for root in roots:
        dialect = dialect_of(path, root)
        if dialect is None or not wanted(dialect):
            continue
        for keys, node in walk(root):
            if node.kind == "sequence":
                located.add(_sequence(text, node, dialect))
            elif node.kind == "mapping":
                located.add(_mapping(text, node, keys, dialect))
    return located


def _is_read(text: str, match: re.Match[str]) -> bool:
    return "#" not in text[text.rfind("\n", 0, match.start()) + 1 : match.start()]


def _unread(text: str) -> Located:
    """A template, or broken YAML: where it names a tracker's credentials, a person is asked."""
    match = next((m for m in re.finditer(r"\b[A-Z_]+\b", text) if is_credential(m[0]) and _is_read(text, m)), None)
    if match is None or TOKEN in text:
        return Located()
    return Located(left=[_left(match.start(), match[0])])


def _left(offset: int, name: str, next_: str = "") -> Left:
    return Left(
        offset,
        "token-not-forwarded",
        f"{name} is handed on here and {TOKEN} is not",
        next_ or f"hand {TOKEN} on in the same way, by name",
    )


def _sequence(text: str, node: Node, dialect: Dialect) -> Located:
    """`- WANDB_API_KEY`, `- WANDB_API_KEY=${...}` or `- name: WANDB_API_KEY` lists."""
    names = [_item_name(item) for item in node.items]
    if TOKEN in names:
        return Located(present=True)
    index = best_variable(names)
    if index is None or not is_credential(names[index]):
        return Located()
    item, name = node.items[index], names[index]
    if item.kind == "mapping":
        return _named(text, node, index, name)
    if dialect != "compose":
        # Elsewhere a list of names may as well say what must be there.
        return Located(left=[_left(item.start, name)])
    value = ""
    if "${" in item.value and "=" in item.value:
        value = f"=${{{TOKEN}:-}}"
    quote = item.style if item.style in ("'", '"') else ""
    written = f"{quote}{TOKEN}{value}{quote}"
    made = item_after(text, node, index, [written], written)
    return _made(made, name, item.start)


def _item_name(item: Node) -> str:
    if item.kind == "scalar":
        return item.value.split("=", 1)[0]
    name = item.get("name")
    return name.value if name is not None and name.kind == "scalar" and len(item.pairs) > 1 else ""


def _named(text: str, node: Node, index: int, name: str) -> Located:
    """`- name: WANDB_API_KEY` with `valueFrom` or `value` (Kubernetes, Helm): from a secret, optional.

    Optional, because a container whose secret lacks a key is not started at all.
    """
    item = node.items[index]
    reference = item.get("valueFrom", "secretKeyRef")
    if reference is None and item.get("value") is None:
        return Located(left=[_left(item.start, name)])
    secret = reference.get("name") if reference is not None else None
    key = reference.get("key") if reference is not None else None
    secret_name = re.sub("wandb", "probe", secret.value, flags=re.IGNORECASE) if secret is not None else "probe-secret"
    upper = key is None or key.value.isupper()
    key_name = TOKEN if upper else TOKEN.lower().replace("_", "-")
    lines = [
        f"name: {TOKEN}",
        "valueFrom:",
        "  secretKeyRef:",
        f"    name: {secret_name}",
        f"    key: {key_name}",
        "    optional: true",
    ]
    flow = f"{{name: {TOKEN}, valueFrom: {{secretKeyRef: {{name: {secret_name}, key: {key_name}, optional: true}}}}}}"
    return _made(item_after(text, node, index, lines, flow), name, item.start)


def _mapping(text: str, node: Node, keys: tuple[str, ...], dialect: Dialect) -> Located:
    """`WANDB_API_KEY: value` mappings."""
    names = node.keys
    if TOKEN in names:
        return Located(present=True)
    index = best_variable(names)
    if index is None or not is_credential(names[index]):
        return Located()
    key, anchor = node.pairs[index]
    value = _value(anchor, dialect, keys)
    if value is None:
        return Located(left=[_left(key.start, names[index])])
    return _made(pair_after(text, node, index, TOKEN, value), names[index], key.start)


def _value(anchor: Node, dialect: Dialect, keys: tuple[str, ...]) -> str | None:
    """The token's value for a mapping, empty or looked up where it runs; None where nothing safe can be written."""
    quote = anchor.style if anchor.style in ("'", '"') else ""
    inner = "'" if quote == '"' else '"'
    hydra = re.fullmatch(r"\$\{oc\.env:\w+(?:,[^{}]*)?\}", anchor.value)
    if hydra:
        if quote == "'":
            return f"'${{oc.env:{TOKEN},\"\"}}'"
        return f"{quote}${{oc.env:{TOKEN},{inner}{inner}}}{quote}"
    if dialect == "sky":
        # A null must be given on the command line or the launch fails; an empty one may be.
        return '""'
    if dialect == "compose":
        return f"{quote}${{{TOKEN}:-}}{quote}" if "${" in anchor.value else ""
    return None


def _made(made: tuple[int, str] | None, name: str, offset: int) -> Located:
    if made is None:
        return Located(left=[_left(offset, name)])
    return Located([Insertion(made[0], made[1], _WHAT.format(name))])
