"""Shell scripts that install the tracker: `pip install`, `uv add`, `poetry add`, `uv run --with`, ..."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from instrument.launch._common import settled
from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE
from instrument.launch._pip import install_insertions
from instrument.launch._shell import is_shell, read_script
from instrument.launch._text import Left, Located
from instrument.repo.source import Source

#: What runs a heredoc; `cat` may as well print it.
_SHELLS = re.compile(r"\b(?:ba|z|da)?sh\b|\b(?:ssh|sbatch|qsub|docker|kubectl|srun)\b")


def _matches(path: str) -> bool:
    # A script without a suffix is told by its first line, in `locate`.
    base = path.rsplit("/", 1)[-1]
    return is_shell(path, "") or not re.match(r".*\.|Pipfile|[Mm]akefile|GNUmakefile|Dockerfile|Containerfile", base)


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in the install commands of a script."""
    text = source.text
    if "install" not in text and " add " not in text and "--with" not in text:
        return Located()
    if not is_shell(str(source.path), text[:200]):
        return Located()
    script = read_script(text)
    located = settled(script, install_insertions(text, names, script), partial(install_insertions, names=names))
    for heredoc in script.heredocs if not located.anything else ():
        if not _SHELLS.search(heredoc.command):
            continue
        for item in install_insertions(heredoc.body, names).insertions[:1]:
            what = f"the tracker is installed in a heredoc, which is never edited, and {PACKAGE} is not"
            offset = heredoc.start + item.offset
            located.left.append(Left(offset, "install-by-hand", what, f"add {PACKAGE} beside it"))
    return located


KIND = DependencyKind("pip_install", _matches, locate, declares=False)
RULE = dependency_rule(KIND, "Install commands in shell scripts")
