"""Qualified names across a repository: what an expression stands for, who defines it, who calls it.

`Program.resolve(module, expression)` is what everything above asks. Grammar of its answers:

    wandb.log                  an attribute of an imported module, however it was imported or renamed
    wandb.init()               the result of a call; `wandb.init().log` is a method of it
    transformers.Trainer()     an instance, which is the result of calling the class
    x[]                        an element of something foreign
    builtins.print             a builtin
    repo:pkg.mod.func          a definition of this repository; `repo:pkg.mod.Class()` an instance, which is also given
                               as an instance of each of its bases (`transformers.Trainer()`)

Nothing is run or imported; files are parsed when they are needed, once each.
"""

from __future__ import annotations

import ast
import gc
import re
from collections import defaultdict
from collections.abc import Iterable

from instrument.errors import SourceError
from instrument.repo.annotations import Annotations
from instrument.repo.calls import Calls
from instrument.repo.containers import Containers
from instrument.repo.flow import Flow
from instrument.repo.imports import Finder
from instrument.repo.memo import Memo
from instrument.repo.module import Module
from instrument.repo.resolve import Expressions
from instrument.repo.scan import Repository
from instrument.repo.scopes import Binding, Definition
from instrument.repo.source import PythonSource
from instrument.repo.values import REPO, Values, settled

__all__ = ["Module", "Program"]

#: Files that are parsed to find the uses of one name.
_MAX_MENTIONS = 6
_STAR = re.compile(rb"import\s*\(?\s*\*")


class Program(Expressions, Calls, Containers, Annotations, Flow):
    """All of a repository's Python, as far as it has been asked about."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self.program = self
        self.memo = Memo(settled)
        self.finder = Finder(repo)
        #: Files that could not be parsed, with the reason.
        self.errors: dict[str, SourceError] = {}
        self._modules: dict[str, Module] = {}
        self._entities: defaultdict[str, list[tuple[Module, Definition | ast.Lambda]]] = defaultdict(list)
        self._paths: dict[str, str] = {}
        self._data: dict[str, tuple[bytes, bool]] = {}
        self._sought: set[str] = set()
        self.start_flow()
        self.start_annotations()

    # -- files -------------------------------------------------------------------------------------------------------

    def module(self, path: str) -> Module:
        """The parsed file at a path. Raises SourceError where it can't be read, decoded or parsed."""
        known = self._modules.get(path)
        if known is not None:
            return known
        if path in self.errors:
            raise self.errors[path]
        # Trees are many small objects that all stay: collecting garbage while they are made costs a third of the time.
        collecting = gc.isenabled()
        gc.disable()
        try:
            source = self.repo.source(path)
            if not isinstance(source, PythonSource):
                raise SourceError("is not Python", path=path)
            folder = path.rpartition("/")[0]
            made = Module(path, source, self.finder.name_of(path), self.finder.is_package(folder))
        except SourceError as error:
            self.errors[path] = error
            raise
        finally:
            if collecting:
                gc.enable()
        self._modules[path] = made
        self._paths[REPO + made.dotted] = path
        for qualname, node in made.definitions:
            self._entities[f"{REPO}{made.dotted}.{qualname}"].append((made, node))
        self.everywhere.add(made)
        self.memo.spend(len(made.index.parents) // 100)
        return made

    def modules(self, *needles: bytes, suffixes: tuple[str, ...] = (".py", ".ipynb")) -> list[Module]:
        """Every scanned file that contains one of the needles and parses, whoever it belongs to.

        Scripts without a suffix count when their first line names Python. Files that do not parse are in `errors`.
        """
        return self.parsed(self.repo.having(*needles), suffixes)

    def parsed(self, paths: Iterable[str], suffixes: tuple[str, ...] = (".py", ".ipynb")) -> list[Module]:
        """Those of some files that are Python and parse; the others are in `errors`."""
        found = []
        for path in paths:
            if path.endswith(suffixes) or "." not in path.rpartition("/")[2]:
                try:
                    if isinstance(self.repo.source(path), PythonSource):
                        found.append(self.module(path))
                except SourceError as error:
                    self.errors[path] = error
        return found

    @property
    def loaded(self) -> list[Module]:
        """The modules that have been parsed so far."""
        return list(self._modules.values())

    def mentions(self, path: str, name: str) -> bool:
        """Whether a file contains a name as text; `*` asks for a star import."""
        if path not in self._data:
            try:
                data = self.repo.read(path)
            except SourceError:
                data = b""
            self._data[path] = (data, bool(_STAR.search(data)))
        data, star = self._data[path]
        return star if name == "*" else name.encode() in data

    def load_mentioning(self, name: str, module: Module) -> None:
        """Parse the scanned files in which a module's name could be used: of very many the nearest."""
        if name in self._sought:
            return
        self._sought.add(name)
        found = sorted(path for path in self.repo.mentioning(name.encode()) if path not in self._modules)
        if len(found) > _MAX_MENTIONS:
            found = sorted(found, key=lambda path: -_shared(path, module.path))[:_MAX_MENTIONS]
        for path in found:
            try:
                self.module(path)
            except SourceError:
                continue

    def rescanned(self) -> None:
        """The repository was scanned for more: look at those files too."""
        self._sought.clear()

    def module_name(self, path: str) -> str:
        """The qualified name of a file or folder as a module."""
        name = REPO + self.finder.name_of(path)
        self._paths.setdefault(name, path)
        return name

    def is_folder(self, path: str) -> bool:
        return path in self.finder.folders

    def path_of(self, value: str) -> str | None:
        """The file or folder that a qualified name means, if it is a module of this repository."""
        return self._paths.get(value)

    def entities(self, value: str) -> list[tuple[Module, Definition | ast.Lambda]]:
        """The functions, classes and lambdas of a qualified name."""
        return self._entities.get(value) or []

    # -- questions ---------------------------------------------------------------------------------------------------

    def resolve(self, module: Module, expression: ast.AST) -> frozenset[str]:
        """Every qualified name that an expression may stand for (see the grammar above); empty where nothing is known.

        A union over all branches and callers. Never raises on odd code.
        """
        try:
            values = self.expanded(self.expr(module, expression))
        except RecursionError:
            return frozenset()
        return frozenset(value for value in values if isinstance(value, str))

    def elements(self, module: Module, expression: ast.AST) -> frozenset[str]:
        """What a loop over an expression gives: `[a, b]`, a list attribute, a generator's yields."""
        try:
            values = self.expanded(self.iterate(self.expr(module, expression)))
        except RecursionError:
            return frozenset()
        return frozenset(value for value in values if isinstance(value, str))

    def definition(self, module: Module, expression: ast.AST) -> tuple[Module, Definition] | None:
        """The function or class of this repository that an expression (a callee, an instance's class) stands for.

        The expression's own class or function comes before bases. None for foreign names and lambdas.
        """
        found = self.definitions(module, expression)
        return found[0] if found else None

    def definitions(self, module: Module, expression: ast.AST) -> list[tuple[Module, Definition]]:
        """All functions and classes of this repository that an expression may stand for, most derived first."""
        try:
            named = self.expr(module, expression)
        except RecursionError:
            return []
        return [
            (owner, node)
            for value in sorted(value for value in named if isinstance(value, str))
            for owner, node in self.entities(value.removesuffix("()"))
            if not isinstance(node, ast.Lambda)
        ]

    def stores(self, module: Module, name: str, values: Values) -> Iterable[tuple[Module, ast.expr, Binding]]:
        """`receiver.name = ...` in the files where that could be done to one of these values."""
        stores = self.everywhere.attributes.get(name)
        if not stores:
            return ()
        if any(isinstance(value, str) and value.startswith(REPO) for value in values):
            return tuple(stores)
        return [store for store in stores if store[0] is module]


def _shared(path: str, other: str) -> int:
    """How many folders two files have in common."""
    count = 0
    for mine, theirs in zip(path.split("/")[:-1], other.split("/")[:-1]):
        if mine != theirs:
            break
        count += 1
    return count
