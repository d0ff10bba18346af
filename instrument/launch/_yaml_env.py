"""Lists and mappings of environment variables in YAML, with the token beside the tracker's variable."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from instrument.launch._forward import forward_insertions
from instrument.launch._names import NEEDLES, TOKEN, best_variable, is_credential
from instrument.launch._ray_job import runtime_env_insertions
from instrument.launch._shell import read_script
from instrument.launch._text import Insertion, Left, Located
from instrument.launch._yaml import SHELL_KEYS, Node, block_text, documents, item_after, pair_after, walk

Dialect = Literal["compose", "kubernetes", "sky", "ray", "other"]
#: Fields of a Ray runtime environment (2.60).
_RUNTIME_ENV = frozenset((
    "working_dir", "py_modules", "excludes", "pip", "uv", "conda", "env_vars", "container", "image_uri", "config",
    "worker_process_setup_hook", "nsight", "mpi", "py_executable", "rocprof_sys",
))  # fmt: skip

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
            if "build" in keys and "args" in keys:
                continue  # what an image is built with stays in it
            if node.kind == "sequence":
                located.add(_sequence(text, node, dialect))
            elif node.kind == "mapping":
                located.add(_mapping(text, node, keys, "ray" if _is_runtime_env(root, keys) else dialect))
            elif keys and keys[-1] in SHELL_KEYS and node.kind == "scalar":
                located.add(_shell(text, node))
            elif keys and keys[-1] == "runtimeEnvYAML" and node.kind == "scalar":
                located.add(_nested(path, text, node))
    return located


def _is_runtime_env(root: Node, keys: tuple[str, ...]) -> bool:
    """Whether a document is a Ray runtime environment and this its variables."""
    return keys == ("env_vars",) and set(root.keys) <= _RUNTIME_ENV


def _shell(text: str, node: Node) -> Located:
    """A block that a shell runs: `docker run -e WANDB_API_KEY`, `ray job submit` in it."""
    flat = block_text(text, node)
    if flat is None or not any(needle.decode() in node.value for needle in NEEDLES):
        return Located()
    inner, offsets = flat
    script = read_script(inner)
    found = forward_insertions(inner, script)
    found.add(runtime_env_insertions(inner, script))
    if node.style not in ("|", ">"):
        # In a plain or quoted scalar, a quote or a colon of ours may be YAML's.
        left = [item for item in found.insertions if re.search(r"[\"'#]|: |\n", item.text)]
        found.insertions = [item for item in found.insertions if item not in left]
        found.left += [_left(item.offset, "a tracker's variable") for item in left]
    return _moved(text, inner, offsets, found)


def _nested(path: str, text: str, node: Node) -> Located:
    """YAML in a block of YAML (RayJob's runtime environment)."""
    flat = block_text(text, node)
    if flat is None or node.style != "|":
        return Located()
    inner, offsets = flat
    return _moved(text, inner, offsets, env_insertions(path, inner, lambda found: found == "other"))


def _moved(text: str, inner: str, offsets: list[int], found: Located) -> Located:
    """What was found in a block, in the file: its new lines have the block's indent."""
    moved = []
    for item in found.insertions:
        start = text.rfind("\n", 0, offsets[item.offset - 1]) + 1
        line = text[start : offsets[item.offset - 1]]
        shown = inner[inner.rfind("\n", 0, item.offset) + 1 :]
        depth = (len(line) - len(line.lstrip(" "))) - (len(shown) - len(shown.lstrip(" ")))
        added = item.text.replace("\n", "\n" + " " * max(depth, 0))
        # Just after the character before: the end of a line's text, not the start of the next.
        moved.append(Insertion(offsets[item.offset - 1] + 1, added, item.what))
    left = [item._replace(offset=offsets[item.offset]) for item in found.left]
    return Located(moved, left, found.present)


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
    option = re.match(r"(-e |--env |--env=)", item.value)
    if option is not None:  # Ray's cluster launcher: `run_options` of docker
        quote = item.style if item.style in ("'", '"') else ""
        written = f"{quote}{option[1]}{TOKEN}{quote}"
        return _made(item_after(text, node, index, [written], written), name, item.start)
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
        return re.sub(r"^(?:-e |--env |--env=)", "", item.value).split("=", 1)[0]
    name = item.get("name")
    return name.value if name is not None and name.kind == "scalar" and len(item.pairs) > 1 else ""


def _named(text: str, node: Node, index: int, name: str) -> Located:
    """`- name: WANDB_API_KEY` with `valueFrom` or `value` (Kubernetes, Helm): from a secret, optional.

    Optional, because a container whose secret lacks a key is not started at all.
    """
    item = node.items[index]
    reference = item.get("valueFrom", "secretKeyRef")
    parts = [reference.get(part) for part in ("name", "key")] if reference is not None else [item.get("value")]
    if any(part is None or part.kind != "scalar" for part in parts) and (
        reference is None or parts != [parts[0], None]
    ):
        return Located(left=[_left(item.start, name)])
    secret = reference.get("name") if reference is not None else None
    key = reference.get("key") if reference is not None else None
    secret_name = re.sub("wandb", "probe", secret.value, flags=re.IGNORECASE) if secret is not None else "probe-secret"
    if secret_name.lower() == "probe":
        secret_name = "probe-secret"
    if secret is not None and (secret.style in ("'", '"') or not re.fullmatch(r"[\w.-]+", secret_name)):
        if '"' in secret_name or "\\" in secret_name:
            return Located(left=[_left(item.start, name)])
        secret_name = f'"{secret_name}"'
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
    if dialect == "kubernetes" and not anchor.value and "env" in keys[-1:]:
        # Helm values: the chart makes a variable of each pair.
        return '""'
    if dialect == "ray" and re.fullmatch(r"\$\{\w+\}", anchor.value):
        # Ray expands this where the processes start, to nothing where it is not set (2.60, update_envs).
        return f"{quote}${{{TOKEN}}}{quote}"
    if dialect == "compose":
        return f"{quote}${{{TOKEN}:-}}{quote}" if "${" in anchor.value else ""
    return None


def _made(made: tuple[int, str] | None, name: str, offset: int) -> Located:
    if made is None:
        return Located(left=[_left(offset, name)])
    return Located([Insertion(made[0], made[1], _WHAT.format(name))])
