"""conda's environment.yml: the package goes to its `pip:` section, which is added where there is none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, bounded, distribution
from instrument.launch._text import Insertion, Left, Located
from instrument.launch._yaml import Node, documents, item_after
from instrument.repo.source import Source


def _matches(path: str) -> bool:
    base = path.rsplit("/", 1)[-1]
    return base.endswith((".yaml", ".yml")) and bool(re.search(r"conda|environment|(?:^|[-_.])env(?:[-_.]|$)", base))


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in an environment file: beside the first of `names`."""
    text = source.text
    for root in documents(text)[:1]:
        listed = root.get("dependencies")
        if listed is not None and listed.kind == "sequence" and listed.items:
            return _listed(text, listed, names)
    return Located()


def _listed(text: str, listed: Node, names: Sequence[str]) -> Located:
    pip = next((found for item in listed.items if (found := item.get("pip")) is not None), None)
    by_pip = [distribution(item.value) for item in pip.items] if pip is not None else []
    by_conda = [distribution(item.value.split("::")[-1]) for item in listed.items]
    if PACKAGE in by_pip:
        return Located(present=True)
    name = next((name for name in names if name in by_pip or name in by_conda), None)
    if name is None:
        return Located()
    made: tuple[int, str] | None
    if pip is not None and pip.items:
        index = by_pip.index(name) if name in by_pip else len(pip.items) - 1
        item = bounded(pip.items[index].value)
        made = item_after(text, pip, index, [item], f'"{item}"')
    else:
        lines = ["pip:", f"- {bounded()}"]
        last = len(listed.items) - 1
        made = item_after(text, listed, last, lines, f'{{pip: ["{bounded()}"]}}')
        if made is not None and "pip" not in by_conda and not listed.flow:
            # conda asks for pip itself among the dependencies.
            tool = item_after(text, listed, last, ["pip"], "pip")
            made = (made[0], tool[1] + made[1]) if tool is not None else None
    if made is None:
        where = f"add {bounded()} to its pip section"
        return Located(left=[Left(listed.start, "dependency-by-hand", f"{name} is declared here", where)])
    return Located([Insertion(made[0], made[1], f"declares {PACKAGE} beside {name}")])


_LOCKS = (
    ("conda-lock.yml", "conda-lock lock -f {file}"),
    ("conda-linux-64.lock", "conda-lock lock -k explicit -f {file}"),
)
KIND = DependencyKind("conda_env", _matches, locate, locks=_LOCKS, needles=(b"dependencies:",))
RULE = dependency_rule(KIND, "conda environments")
