"""The module that a plan puts into a repository: where it goes, how a file imports it, what it must hold.

One `probe_tracking.py` beside the code that uses it, or the same few guards inline where an import can't be made
certain (notebooks, scripts that run from anywhere). Rules say which part of it a file uses; the files and the imports
are written when the plan is complete.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from instrument.plan import place, render
from instrument.plan.carried import carried_alone
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "probe_tracking"
RULE = "tracking-module"

#: `import probe_tracking as probe`; what a file that already uses the name `probe` calls it.
ALIASES = ("probe", "probe_sdk", "probe_run", "_probe_tracking")

#: Folders below a project's own that are put on the path by its build.
_SOURCE_FOLDERS = ("src", "python", "lib")

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w.]+))", re.MULTILINE)


@dataclass(slots=True)
class _Use:
    """What one file takes from the module."""

    module: Module
    alias: str = ""
    #: The alias was there before: `import probe`, or an earlier apply.
    imported: bool = False
    names: list[str] = field(default_factory=list)
    #: Names imported inside one function, where that function imports the framework (name, function).
    local_names: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = field(default_factory=list)
    parts: set[str] = field(default_factory=set)
    beside: set[str] = field(default_factory=set)
    anchor: int | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the module of a file is and how it is imported."""

    path: str
    #: What `import` needs: "" for a module beside the script, "pkg" for `from pkg import`, "." for relative.
    package: str
    #: The file may also be run as a script, where the package form fails.
    either: bool = False


class TrackingModule:
    """Collects what files use; `finish` turns that into imports and new files."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._uses: dict[str, _Use] = {}
        #: Modules that no Python file imports, by path, with their parts.
        self._by_name: dict[str, set[str]] = {}
        self._inline_paths: dict[str, bool] = {}

    # -- asked by rules -------------------------------------------------------------------------------------------

    def shadowed(self, module: Module) -> str | None:
        """The path of a module or package called `probe` that would be imported in place of the SDK, if any."""
        folders = {"", module.path.rpartition("/")[0]}
        top = self._package_top(module)
        if top is not None:
            folders.add(top.rpartition("/")[0])
        if self._context.repo.exists("src"):
            folders.add("src")
        for folder in sorted(folders):
            base = f"{folder}/" if folder else ""
            for candidate in (f"{base}probe.py", f"{base}probe/__init__.py"):
                if self._context.repo.exists(candidate):
                    return candidate
        return None

    def has_part(self, module: Module, part: str) -> bool:
        """Whether the module that a file imports has, or will have, a part."""
        spot = None if self._inlined(module) else self._place(module)
        if spot is None:
            return part in self._context.plan.shapes
        for use in self._uses.values():
            other = self._place(use.module) if part in use.parts and not self._inlined(use.module) else None
            if other is not None and other.path == spot.path:
                return True
        if not self._context.repo.exists(spot.path):
            return False
        return part in render.parts_of(self._context.repo.read(spot.path).decode("utf-8", "replace"))

    def run_together(self, path: str, module: Module) -> bool:
        """Whether a file and another are modules of one package, so that one program may use both."""
        other = self._context.program.module(path)
        top = self._package_top(module)
        return top is not None and self._package_top(other) == top and not any(map(_runs_as_script, (module, other)))

    def alias(self, module: Module, *parts: str, beside: str = "") -> str:
        """The name under which a file calls the module (`probe`, unless it is taken). Asks for the parts.

        `beside` is the package whose import the new import stands next to ("wandb").
        """
        use = self._use(module, parts, beside)
        if not use.alias:
            existing = self.existing_alias(module)
            if existing:
                use.alias, use.imported = existing, True
            else:
                taken = names_in(module)
                use.alias = next((name for name in ALIASES if name not in taken), "_probe_tracking_")
        return use.alias

    def name(self, module: Module, name: str, *parts: str, beside: str = "", at: ast.AST | None = None) -> str:
        """A name taken from the module (`from probe_tracking import ProbeCallback`). Asks for the parts.

        Where the function around `at` imports `beside` itself, to keep a heavy framework out of the start of the
        program, the name is imported there as well.
        """
        use = self._use(module, parts, beside)
        bound = {a.asname or a.name for node in walk(module.tree) if isinstance(node, ast.ImportFrom)
                 and (node.module or "").split(".")[-1] in (NAME, "huggingface", "lightning")
                 for a in node.names}  # fmt: skip
        if name not in bound and name not in use.names:
            function = module.function(at) if at is not None else None
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and _lazy_import(module, function, beside):
                if (name, function) not in use.local_names:
                    use.local_names.append((name, function))
            else:
                use.names.append(name)
        return name

    def by_name(self, *parts: str) -> None:
        """Ask for parts of the module at the root, which a configuration imports by its name."""
        self._by_name.setdefault(f"{NAME}.py", set()).update(parts)

    def existing_alias(self, module: Module) -> str | None:
        """What an instrumented file already calls the SDK, our module or the inline form, if it does."""
        if b"probe" not in module.source.data:
            return None
        for node in walk(module.tree):
            if isinstance(node, ast.Import):
                for item in node.names:
                    if item.name in ("probe", NAME):
                        return item.asname or item.name
            elif isinstance(node, ast.ImportFrom):
                for item in node.names:
                    if item.name == NAME:
                        return item.asname or item.name
        return None

    def _use(self, module: Module, parts: tuple[str, ...], beside: str) -> _Use:
        use = self._uses.setdefault(module.path, _Use(module))
        use.parts.update(parts)
        if beside:
            use.beside.add(beside)
        return use

    # -- when the plan is complete --------------------------------------------------------------------------------

    def finish(self) -> None:
        """Add the import (or the inline form) to each file that uses the module, and the module files themselves."""
        wanted = {path: set(parts) for path, parts in self._by_name.items()}
        for use in self._uses.values():
            spot = None if self._inlined(use.module) else self._place(use.module)
            if spot is not None:
                wanted.setdefault(spot.path, set()).update(use.parts)
            if spot is not None:
                self._import_locally(use, spot)
            lines = self._inline(use) if spot is None else self._imports(use, spot)
            if not lines:
                continue
            path = use.module.path
            own = None if spot is None else partial(self._is_own, path)
            point = place.import_point(use.module, lines, beside=frozenset(use.beside), own=own)
            if point is None:
                continue
            self._context.edit(
                use.module.path, point.offset, point.offset, point.text,
                reason="import Probe's calls, which do nothing and cost nothing where Probe is missing or off",
                rule=RULE, group=use.module.path,
            )  # fmt: skip
        for path, parts in sorted(wanted.items()):
            self._write(path, parts)

    def _inlined(self, module: Module) -> bool:
        """Whether a file takes the guards inline: a notebook, or a script that is taken elsewhere without neighbours."""
        path = module.path
        if path not in self._inline_paths:
            alone = path.endswith(".ipynb") or self._package_top(module) is None
            self._inline_paths[path] = alone and (path.endswith(".ipynb") or carried_alone(self._context.repo, path))
        return self._inline_paths[path]

    def _is_own(self, path: str, name: str) -> bool:
        return self._context.program.finder.find(name, path) is not None

    def _write(self, path: str, parts: set[str]) -> None:
        before = None
        if self._context.options.preflight:
            parts = parts | {"preflight"}
        if self._context.repo.exists(path):
            before = self._context.repo.read(path).decode("utf-8", "replace")
            parts = parts | render.parts_of(before)
        text = render.render_module(sorted(parts))
        if before == text or (before is not None and parts <= render.parts_of(before)):
            return  # there already, perhaps edited by its owner since
        self._context.new_file(
            path, text, reason="the guards that keep Probe from ever stopping or slowing the trainer", rule=RULE,
            replaces=before,
        )  # fmt: skip

    def _imports(self, use: _Use, spot: _Place) -> list[str]:
        forms = [spot.package, ""] if spot.either else [spot.package]
        lines: list[list[str]] = []
        for package in forms:
            group = []
            if use.alias and not use.imported:
                suffix = "" if use.alias == NAME else f" as {use.alias}"
                group.append(f"from {package} import {NAME}{suffix}" if package else f"import {NAME}{suffix}")
            if use.names:
                dotted = f"{package}.{NAME}" if package.strip(".") else f"{package}{NAME}"
                group.append(f"from {dotted} import {', '.join(sorted(use.names))}")
            lines.append(group)
        if len(lines) == 1 or not lines[0]:
            return lines[0]
        return ["try:", *(f"    {x}" for x in lines[0]), "except ImportError:  # run as a script",
                *(f"    {x}" for x in lines[1])]  # fmt: skip

    def _import_locally(self, use: _Use, spot: _Place) -> None:
        for name, function in use.local_names:
            if name in use.names:
                continue
            stmt = _lazy_import(use.module, function, *use.beside)
            lines = self._imports(_Use(use.module, names=[name]), spot)
            point = place.after(use.module, stmt, lines) if stmt is not None else None
            if point is not None:
                self._context.edit(
                    use.module.path, point.offset, point.offset, point.text, rule=RULE,
                    reason="import it where the framework is imported", group=use.module.path,
                )  # fmt: skip

    def _inline(self, use: _Use) -> list[str]:
        if use.imported and not use.names:
            return []
        if not use.names and not use.alias:
            return []
        return render.render_inline(sorted(use.parts), alias=use.alias or None, names=sorted(use.names)).splitlines()

    def _package_top(self, module: Module) -> str | None:
        """The folder of the top-level package that a file is in, or None for a file in no package."""
        folder, top = module.path.rpartition("/")[0], None
        path = folder
        while path and self._context.repo.exists(f"{path}/__init__.py"):
            top, path = path, path.rpartition("/")[0]
        return self._namespace_top(top or folder, regular=top is not None) or top

    def _namespace_top(self, folder: str, regular: bool) -> str | None:
        """The folder of the package around one without `__init__.py`, where it is imported through that package."""
        parts = folder.split("/") if folder else []
        for index in range(len(parts) - regular):
            top, dotted = "/".join(parts[: index + 1]), ".".join(parts[index:])
            packaged = self._context.repo.exists(f"{top}/__init__.py")
            if not packaged and (not index or parts[index - 1] not in _SOURCE_FOLDERS):
                continue
            if any(name == dotted or name.startswith(f"{dotted}.") for name in self._imported):
                return top
        return None

    @cached_property
    def _imported(self) -> frozenset[str]:
        """Every dotted name that the repository's files import from."""
        names: set[str] = set()
        for path in self._context.repo.having(b"import", suffixes=(".py",)):
            text = self._context.repo.read(path).decode("utf-8", "replace")
            names.update(found[1] or found[2] for found in _IMPORT.finditer(text))
        return frozenset(names)

    def _imported_by_name(self, module: Module, top: str) -> bool:
        """Whether others import a file by its full name, so that what it calls at top level makes it no script."""
        guarded = any(isinstance(s, ast.If) and "__name__" in module.code(s.test) for s in module.tree.body)
        above = top.rpartition("/")[0]
        dotted = module.path.removesuffix(".py")[len(above) + 1 if above else 0 :].replace("/", ".")
        return not guarded and dotted in self._imported

    def _place(self, module: Module) -> _Place:
        folder = module.path.rpartition("/")[0]
        top = self._package_top(module)
        sibling = f"{folder}/{NAME}.py" if folder else f"{NAME}.py"
        if top is None:
            if folder and _imports_of(module, "")[0]:
                return _Place(sibling, ".")  # a package without __init__.py
            namespace = self._namespace(module, folder)
            if namespace:
                return _Place(sibling, namespace)
            if folder and self._imported_relatively(module, folder):
                return _Place(sibling, ".", either=_runs_as_script(module))
            # `python -m scripts.train` and `python scripts/train.py` are both usual where the root is importable.
            from_root = self._at_root(module, folder) or _is_recipe(module, folder)
            return _Place(sibling, folder.replace("/", "."), either=True) if from_root else _Place(sibling, "")
        package = top.rsplit("/", 1)[-1]
        relative, absolute = _imports_of(module, package)
        in_package = f"{top}/{NAME}.py"
        if relative and not absolute:
            depth = folder[len(top) :].count("/")
            return _Place(in_package, "." * (depth + 1))
        if absolute or not _runs_as_script(module) or self._imported_by_name(module, top):
            return _Place(in_package, package)
        dotted = ".".join([package, *folder[len(top) :].strip("/").split("/")]).strip(".")
        return _Place(sibling, dotted, either=True)

    def _imported_relatively(self, module: Module, folder: str) -> bool:
        """Whether a neighbour imports a file as part of their package, which has no __init__.py."""
        stem = re.escape(module.path.rpartition("/")[2].removesuffix(".py"))
        pattern = re.compile(rf"^\s*from\s+\.(?:{stem}\s+import\b|\s+import\b[^\n]*\b{stem}\b)", re.MULTILINE)
        for path in self._context.repo.files:
            if path != module.path and path.endswith(".py") and path.rpartition("/")[0] == folder:
                if pattern.search(self._context.repo.read(path).decode("utf-8", "replace")):
                    return True
        return False

    def _at_root(self, module: Module, folder: str) -> bool:
        """Whether a script in a folder imports what stands at the root, and nothing that stands beside it."""
        if not folder or not all(part.isidentifier() for part in folder.split("/")):
            return False
        exists, found = self._context.repo.exists, False
        for name in _absolute_imports(module):
            top = name.split(".")[0]
            if exists(f"{folder}/{top}.py") or exists(f"{folder}/{top}"):
                return False
            found |= exists(f"{top}.py") or exists(top)
        return found

    def _namespace(self, module: Module, folder: str) -> str:
        """The dotted folder by which files outside a package are imported from the root, if they are."""
        if not folder or not all(part.isidentifier() for part in folder.split("/")):
            return ""
        if any(name.startswith(folder.replace("/", ".") + ".") for name in _absolute_imports(module)):
            return folder.replace("/", ".")  # it imports its own neighbours that way
        if _runs_as_script(module):
            return ""
        dotted = folder.replace("/", ".")
        stem = module.path.rpartition("/")[2].removesuffix(".py")
        return dotted if {dotted, f"{dotted}.{stem}"} & self._imported else ""


def _lazy_import(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, *packages: str) -> ast.stmt | None:
    """The last import of the block in which a function imports a package that the file does not import at top level."""
    wanted = frozenset(packages)
    if any(place.imports(stmt, wanted) for stmt in module.tree.body if place.import_like(stmt)):
        return None
    block = function.body
    for index, stmt in enumerate(block):
        if place.import_like(stmt) and place.imports(stmt, wanted):
            while index + 1 < len(block) and place.import_like(block[index + 1]):
                index += 1
            return block[index]
    return None


def names_in(module: Module) -> set[str]:
    """Every name that a file binds or uses anywhere."""
    names: set[str] = set()
    for node in walk(module.tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            names.add(node.name or "_")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
    return names


def _imports_of(module: Module, package: str) -> tuple[bool, bool]:
    """Whether a file imports its own package relatively, and absolutely."""
    relative = absolute = False
    for node in walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            relative |= bool(node.level)
            absolute |= not node.level and (node.module or "").split(".")[0] == package
        elif isinstance(node, ast.Import):
            absolute |= any(a.name.split(".")[0] == package for a in node.names)
    return relative, absolute


def _absolute_imports(module: Module) -> list[str]:
    names = []
    for node in walk(module.tree):
        if isinstance(node, ast.Import):
            names += [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.append(node.module)
    return names


def _is_recipe(module: Module, folder: str) -> bool:
    """Whether a file is a recipe in a folder: `tune run a/b.py` runs it as `a.b`, from where that is typed."""
    data = module.source.data
    named = bool(folder) and all(part.isidentifier() for part in folder.split("/"))
    return named and b"torchtune" in data and b"config.parse" in data


def _runs_as_script(module: Module) -> bool:
    """Whether a file is meant to be run: it has a `__main__` guard or calls something at top level."""
    for stmt in module.tree.body:
        if isinstance(stmt, ast.If) and "__name__" in module.code(stmt.test):
            return True
        if isinstance(stmt, (ast.For, ast.While, ast.With)):
            return True
        if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
            return True
    return False
