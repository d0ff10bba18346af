"""Which files are taken elsewhere one by one, so that a module put beside them would be missing there.

`COPY train.py .` in a Dockerfile, a mounted file, scp to another machine, `py_modules` of a package, a file or module
named in a Modal image. Such a file takes the guards inline: an import that fails would cost the training.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.repo.scan import Repository

#: Files that may say so: kept by the planner's scan.
CARRYING = (
    b"COPY ",
    b"ADD ",
    b"py_modules",
    b"py-modules",
    b"scp ",
    b"rsync ",
    b"volumes:",
    b"file_mounts",
    b" cp ",
    b"\ncp ",
    b".py:/",
)
MODAL = (b"import modal", b"from modal")

_MODULE_LISTS = re.compile(rb"py[_-]modules\s*=\s*\[([^\]]*)\]|py_modules\s*=\s*((?:[ \t]*[\w.]+\s*\n)+)")
_MODAL_NAMED = rb"(?:add_local_python_source|add_local_file|copy_local_file|from_local_file|from_local_python_packages)"
#: A line that takes a file, before and after its name.
_BEFORE = rb"(?m)^(?!\s*#)[^\n]*"
_TAKES = (
    rb"\b(?:COPY|ADD)\b[^\n]*", rb"\b(?:scp|rsync|gsutil\s[^\n]*cp|aws\s+s3\s+cp|docker\s+cp|kubectl\s+cp)\b[^\n]*",
    rb"\bcp\b(?=[^\n]*(?:TMPDIR|/tmp\b|/scratch\b|LOCAL_SCRATCH))[^\n]*",
)  # fmt: skip


def carried_alone(repo: Repository, path: str) -> bool:
    """Whether something in the repository takes this one Python file elsewhere, by its name or its module's."""
    base = path.rpartition("/")[2]
    stem = re.escape(base.removesuffix(".py")).encode()
    if any(_modal(repo.read(app), stem, app == path) for app in repo.having(*MODAL, suffixes=(".py",))):
        return True
    name = rb"(?<![\w.-])(?:[\w.${}/-]*/)?" + re.escape(base).encode()
    end = rb"(?=[\s\"',\]]|$)"
    taken = re.compile(_BEFORE + rb"(?:" + rb"|".join(_TAKES) + rb")" + name + end)
    mounted = re.compile(_BEFORE + name + rb":/")
    for other in repo.having(*CARRYING):
        if other.endswith(".ipynb") or other == path:
            continue
        data = repo.read(other)
        if b"probe_tracking" in data:
            continue  # it takes the module along
        if base.encode() in data:
            if other.endswith(".py") and b"scp " not in data:
                continue
            if taken.search(data) or mounted.search(data) or (b"file_mounts" in data and _mount(data, name)):
                return True
        if other.endswith(("setup.py", "pyproject.toml", "setup.cfg")):
            for listed in _MODULE_LISTS.finditer(data):
                if re.search(rb"(?<![\w.])" + stem + rb"(?![\w.])", listed[1] or listed[2]):
                    return True
    return False


def _mount(data: bytes, name: bytes) -> bool:
    return re.search(rb"(?m)^\s+[\w~./-]+:[ \t]*[\"']?" + name + rb"[\"']?[ \t]*$", data) is not None


def _modal(data: bytes, stem: bytes, itself: bool) -> bool:
    """Modal (1.0 to 1.6) puts the package that a function is in into its container, or else the one file."""
    return (
        itself or re.search(_MODAL_NAMED + rb"\([^)]*[\"'](?:[^\"']*/)?" + stem + rb"(?:\.py)?[\"']", data) is not None
    )
