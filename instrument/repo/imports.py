"""Which file of the repository an import statement means, if any: packages, src layouts, folders, sibling scripts."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from instrument.errors import SourceError
from instrument.repo.scan import Repository

#: Folders below a project's own that are put on the path by its build.
_SOURCE_FOLDERS = ("src", "python", "lib")
_MARKERS = frozenset(("pyproject.toml", "setup.py", "setup.cfg"))


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


class Finder:
    """Finds modules by name as Python would, from what the file names say. Nothing is parsed here."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self.files = frozenset(path for path in repo.files if path.endswith((".py", ".ipynb")))
        folders: set[str] = {""}
        for path in self.files:
            folder = _folder(path)
            while folder and folder not in folders:
                folders.add(folder)
                folder = _folder(folder)
        self.folders = frozenset(folders)
        self._found: dict[tuple[str, str], str | None] = {}

    def is_package(self, folder: str) -> bool:
        """Whether a folder has an `__init__.py`."""
        return _join(folder, "__init__.py") in self.files

    def top(self, path: str) -> str:
        """The folder that would be on the path for this file to be imported: above its topmost package."""
        folder = _folder(path)
        while folder and self.is_package(folder):
            folder = _folder(folder)
        return folder

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Folders that are on the path when the repository is installed or run from its root."""
        projects = {_folder(path) for path in self.repo.files if path.rpartition("/")[2] in _MARKERS}
        projects = {p for p in projects if self.repo.kind(_join(p, "_")) != "vendored"}
        roots = [""]
        for project in ["", *sorted(projects)]:
            roots += [project, *(_join(project, name) for name in _SOURCE_FOLDERS)]
        return tuple(dict.fromkeys(r for r in roots if r in self.folders and not (r and self.is_package(r))))

    @cached_property
    def dotted(self) -> dict[str, str]:
        """The import name of every file; where two would have the same one, both are named by their whole path."""
        names: dict[str, str] = {}
        for path in self.files:
            root = self.top(path)
            if root == _folder(path) or not self.is_package(_folder(path)):
                # Not in a package: the nearest source folder above it, else the repository.
                root = next((r for r in sorted(self.roots, key=len, reverse=True) if r and _within(path, r)), "")
                if root.rpartition("/")[2] not in _SOURCE_FOLDERS:
                    root = ""
            names[path] = _dotted(path[len(root) + 1 :] if root else path)
        counts = Counter(names.values())
        for path, name in names.items():
            if counts[name] > 1:
                names[path] = _dotted(path)
                if path.endswith(".ipynb") and path[:-6] + ".py" in self.files:
                    names[path] += ".ipynb"
        return names

    def name_of(self, path: str) -> str:
        """The import name of a file or folder."""
        return self.dotted.get(path) or _dotted(path)

    def find(self, dotted: str, path: str) -> str | None:
        """The file or plain folder that `import dotted` means in the file at `path`; None if it is foreign."""
        key = (dotted, path)
        if key not in self._found:
            self._found[key] = self._find(dotted, path)
        return self._found[key]

    def _find(self, dotted: str, path: str) -> str | None:
        parts = dotted.split(".")
        for root in self._search_path(path):
            first = _join(root, parts[0])
            if not (first in self.folders or first + ".py" in self.files):
                continue
            found = self.below(root, parts)
            if found is None or found == path:
                continue
            if found.endswith(f"{parts[0]}.py") and len(parts) == 1 and self._imports(found, parts[0]):
                continue  # `trackers/wandb.py` with `import wandb` in it shadows nothing
            if self._is_inner_home(found, path):
                continue  # nor does `loggers/wandb/utils.py`, in a package inside another
            return found
        return None

    def _is_inner_home(self, found: str, path: str) -> bool:
        """Whether a file is in the package that was found, and that package in another: it has a longer name then."""
        home = _folder(found)
        inside = found.endswith("/__init__.py") and path.startswith(f"{home}/")
        return inside and self.is_package(_folder(home))

    def below(self, root: str, parts: list[str]) -> str | None:
        """The module `parts` starting in a folder: a package's `__init__.py`, a file, or a plain folder."""
        base = _join(root, "/".join(parts)) if parts else root
        if self.is_package(base):
            return _join(base, "__init__.py")
        if base + ".py" in self.files:
            return base + ".py"
        return base if base in self.folders else None

    def _search_path(self, path: str) -> list[str]:
        folder, top = _folder(path), self.top(path)
        packaged = self.is_package(folder)
        search = [] if packaged else [folder]
        search.append(top)
        edits_path = self._mentions(path, b"sys.path")
        if edits_path or (packaged and self._mentions(path, b"__main__")):
            above = folder
            while above and edits_path:
                above = _folder(above)
                search.append(above)
            search += self.roots
            search.append(folder)
        return list(dict.fromkeys([*search, *self.roots]))

    def _mentions(self, path: str, text: bytes) -> bool:
        try:
            return text in self.repo.read(path)
        except SourceError:
            return False

    def _imports(self, path: str, name: str) -> bool:
        try:
            data = self.repo.read(path)
        except SourceError:
            return False
        return bool(re.search(rb"^[ \t]*(?:import|from)[ \t]+" + re.escape(name.encode()) + rb"\b", data, re.MULTILINE))

    def relative(self, path: str, level: int) -> str | None:
        """The folder that `from ..` of this level leads to; None above the repository."""
        folder = _folder(path)
        for _ in range(level - 1):
            if not folder:
                return None
            folder = _folder(folder)
        return folder


def _within(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")


def _dotted(path: str) -> str:
    for suffix in ("/__init__.py", ".py", ".ipynb"):
        if path.endswith(suffix):
            path = path[: -len(suffix)]
            break
    return path.replace("/", ".")
