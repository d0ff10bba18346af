"""Install commands inside YAML: SkyPilot's `setup`, a container's `command` and `args`, Ray's `pip` lists."""

from __future__ import annotations

from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, distribution
from instrument.launch._pip import install_insertions
from instrument.launch._shell import read_script
from instrument.launch._text import Insertion, Located
from instrument.launch._yaml import SHELL_KEYS, Node, block_text, documents, item_after, walk
from instrument.repo.source import Source


def _matches(path: str) -> bool:
    return path.endswith((".yaml", ".yml"))


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in the shell text and package lists of a YAML file."""
    return yaml_install_insertions(source.text, names)


def yaml_install_insertions(text: str, names: Sequence[str]) -> Located:
    """The same for a text. Nested YAML (`runtimeEnvYAML: |`) is looked into."""
    located = Located()
    if ("install" not in text and "pip" not in text) or not any(name in text for name in names):
        return located
    for root in documents(text):
        for path, node in walk(root):
            key = path[-1] if path else ""
            if node.kind == "scalar" and key in SHELL_KEYS and "install" in node.value:
                located.add(_shell(text, node, names))
            elif node.kind == "scalar" and key == "runtimeEnvYAML":
                located.add(_nested(text, node, names))
            elif node.kind == "sequence" and _is_pip_list(path, root):
                located.add(_pip_list(text, node, names))
    return located


def _is_pip_list(path: tuple[str, ...], root: Node) -> bool:
    """`pip:` of a Ray runtime environment (beside `env_vars` or `working_dir`, or below `runtime_env`)."""
    if not path or path[-1] not in ("pip", "packages"):
        return False
    above = path[:-1] if path[-1] == "pip" else path[:-2]
    parent = root.get(*above) if above else root
    return bool(above and above[-1] == "runtime_env") or (
        parent is not None and bool({"env_vars", "working_dir", "py_modules"} & set(parent.keys))
    )


def _shell(text: str, node: Node, names: Sequence[str]) -> Located:
    flat = block_text(text, node)
    if flat is None:
        return Located()
    script, offsets = flat
    found = install_insertions(script, names, read_script(script))
    for i, item in enumerate(found.insertions):
        added = item.text
        if "\n" in added:
            # A continued list: the new line needs the block's indent as well.
            start = text.rfind("\n", 0, offsets[item.offset - 1]) + 1
            line = text[start : offsets[item.offset - 1]]
            shown = script.rfind("\n", 0, item.offset) + 1
            depth = (len(line) - len(line.lstrip(" "))) - (len(script[shown:]) - len(script[shown:].lstrip(" ")))
            added = added.replace("\n", "\n" + " " * max(depth, 0))
        # Just after the character before: the end of a line's text, not the start of the next.
        found.insertions[i] = Insertion(offsets[item.offset - 1] + 1, added, item.what)
    found.left = [left._replace(offset=offsets[left.offset]) for left in found.left]
    return found


def _nested(text: str, node: Node, names: Sequence[str]) -> Located:
    flat = block_text(text, node)
    if flat is None or node.style != "|":
        return Located()
    inner, offsets = flat
    found = yaml_install_insertions(inner, names)
    indent = ""
    if offsets:
        start = text.rfind("\n", 0, offsets[0]) + 1
        indent = text[start : offsets[0]]
    for i, item in enumerate(found.insertions):
        added = item.text.replace("\n", "\n" + indent)
        found.insertions[i] = Insertion(offsets[item.offset - 1] + 1, added, item.what)
    found.left = [left._replace(offset=offsets[left.offset]) for left in found.left]
    return found


def _pip_list(text: str, node: Node, names: Sequence[str]) -> Located:
    listed = [distribution(item.value) for item in node.items]
    if PACKAGE in listed:
        return Located(present=True)
    index = next((listed.index(name) for name in names if name in listed), None)
    if index is None:
        return Located()
    quote = node.items[index].style if node.items[index].style in ("'", '"') else ""
    item = f"{quote}{PACKAGE}{quote}"
    made = item_after(text, node, index, [item], item)
    if made is None:
        return Located()
    return Located([Insertion(made[0], made[1], f"installs {PACKAGE} in the job's environment")])


KIND = DependencyKind("yaml_install", _matches, locate, declares=False, needles=(b"pip",))
RULE = dependency_rule(KIND, "Install commands in YAML")
