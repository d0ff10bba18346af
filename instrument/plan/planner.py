"""Makes the plan: scan, let each rule look, join what they said, and record what was passed over."""

from __future__ import annotations

import gc
import time
from dataclasses import replace

from instrument.errors import SourceError
from instrument.plan.carried import CARRYING
from instrument.plan.context import Context, Options
from instrument.plan.edits import ordered
from instrument.plan.imported import instead_of_edits
from instrument.plan.model import Plan
from instrument.plan.process_map import LAUNCHING, STARTING
from instrument.plan.rules import Rule, all_rules
from instrument.plan.tracker_calls import EMITTING
from instrument.repo.names import Program
from instrument.repo.notebook import NotebookSource, kernel_language
from instrument.repo.scan import OUR_MARK, Repository

#: Cheap facts that more than one rule wants to know of a file.
COMMON_NEEDLES = (
    b"probe_tracking",
    b"import probe",
    b"from probe",
    b"install",
    *EMITTING,
    *LAUNCHING,
    *STARTING,
    *CARRYING,
)


def make_plan(repo: Repository, options: Options | None = None) -> Plan:
    """Plan the change for a repository. Reads files; runs and writes nothing.

    Raises InstrumentError for an unusable target; a single odd file becomes a note instead.
    """
    begun = time.perf_counter()
    collecting = gc.isenabled()
    gc.disable()  # trees are large and all alive until the plan is made: looking for garbage costs a third of the time
    try:
        return _make_plan(repo, options or Options(), begun)
    finally:
        if collecting:
            gc.enable()


def _make_plan(repo: Repository, options: Options, begun: float) -> Plan:
    rules = _selected(options)
    seen = repo.scan([*COMMON_NEEDLES, *(needle for rule in rules for needle in rule.needles)])
    program = Program(repo)
    context = Context(repo, program, options)
    for rule in rules:
        if not rule.needles or repo.having(*rule.needles):
            rule.plan(context)
    context.tracking.finish()
    if options.strategy == "import":
        instead_of_edits(context, frozenset(rule.name for rule in rules if rule.push))
    plan = context.plan
    _name_cells(context)
    _note_unreadable(context)
    _note_skipped(context, rules)
    _note_other_kernels(context)
    by_path: dict[str, list[int]] = {}
    for index, edit in enumerate(plan.edits):
        by_path.setdefault(edit.path, []).append(index)
    plan.edits = [e for path in sorted(by_path) for e in ordered(plan.edits[i] for i in by_path[path])]
    plan.hashes = {path: repo.source(path).sha256 for path in sorted(by_path)}
    plan.sites.sort(key=lambda site: (site.path, site.line))
    plan.files_seen = seen
    plan.files_parsed = len(program.loaded)
    plan.seconds = time.perf_counter() - begun
    return plan


def _selected(options: Options) -> tuple[Rule, ...]:
    return tuple(
        rule
        for rule in all_rules()
        if (not options.select or rule.name in options.select)
        and rule.name not in options.ignore
        and (options.push or not rule.push)
    )


def _name_cells(context: Context) -> None:
    """Places in notebooks get the line of the `.ipynb` file, for editors, and the cell and its line, for people."""
    plan, sources = context.plan, dict[str, NotebookSource]()
    paths = {*(site.path for site in plan.sites), *(note.path for note in plan.notes if note.path)}
    for path in (path for path in paths if path.endswith(".ipynb")):
        source = context.repo.source(path)
        if isinstance(source, NotebookSource) and path not in context.program.errors and source.cells:
            sources[path] = source
    for site in plan.sites:
        if site.path in sources:
            source = sources[site.path]
            start = source.line_start(site.line)
            site.line, site.what = source.file_line(start), f"{site.what} ({source.line_label(start)})"
    for index, note in enumerate(plan.notes):
        if note.path in sources and note.line:
            source = sources[note.path]
            start = source.line_start(note.line)
            message = f"{note.message} ({source.line_label(start)})"
            plan.notes[index] = replace(note, line=source.file_line(start), message=message)


def _note_unreadable(context: Context) -> None:
    for path, error in sorted(context.program.errors.items()):
        if isinstance(error, SourceError) and context.repo.kind(path) == "own":
            context.note(
                "warning", "not-parsed", f"left alone: {error.message}", path=path, line=error.line,
                next="fix the file, or leave it out with --only",
            )  # fmt: skip


def _note_skipped(context: Context, rules: tuple[Rule, ...]) -> None:
    """Say which vendored, generated and test files were left alone although a tracker is used in them."""
    needles = {needle for rule in rules if rule.order < 300 for needle in rule.needles}
    for path, kind in context.skipped(*needles):
        data = context.repo.read(path)
        if OUR_MARK in data[:2000]:
            continue
        context.note("info", f"skipped-{kind}", f"not touched: {_KINDS[kind]}", path=path)


def _note_other_kernels(context: Context) -> None:
    """Say which notebooks are not in Python, whatever they hold: their metrics reach Probe in no way."""
    for path in context.repo.files:
        if not path.endswith(".ipynb") or context.repo.kind(path) != "own":
            continue
        try:
            language = kernel_language(context.repo.read(path))
        except SourceError:
            continue
        if language != "python":
            context.note("info", "other-kernel", f"not touched: its kernel runs {language}, not Python", path=path)


_KINDS = {
    "vendored": "third-party code",
    "generated": "a generated or built file",
    "tests": "a test",
}
