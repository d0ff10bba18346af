"""The audit: scan, let each rule look, leave out what was said to be meant so. Reads files; runs and writes nothing."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from instrument.audit.context import AuditContext
from instrument.audit.noqa import silenced
from instrument.audit.rule import AuditRule, Finding, all_rules, expanded
from instrument.audit.settings import AuditSettings
from instrument.plan.planner import COMMON_NEEDLES
from instrument.repo.names import Program
from instrument.repo.notebook import NotebookSource

if TYPE_CHECKING:
    from instrument.errors import SourceError
    from instrument.repo.scan import Repository


@dataclass(slots=True, kw_only=True)
class Audit:
    """What one audit found, in order of path and line."""

    root: str
    findings: list[Finding] = field(default_factory=list)
    #: Findings that a comment or the settings say are meant so.
    silenced: int = 0
    #: Files that don't parse and so were not looked at.
    errors: dict[str, SourceError] = field(default_factory=dict)
    rules: tuple[AuditRule, ...] = ()
    files_seen: int = 0
    files_parsed: int = 0
    seconds: float = 0.0
    #: For fixes.
    context: AuditContext | None = field(default=None, repr=False)


def audit(repo: Repository, settings: AuditSettings | None = None) -> Audit:
    """Look at a repository. Raises InstrumentError for an unusable target or an unknown rule; odd files are in `errors`."""
    begun = time.perf_counter()
    settings = settings or AuditSettings()
    rules = selected(settings)
    collecting = gc.isenabled()
    gc.disable()  # as when planning: all trees stay until the end
    try:
        seen = repo.scan(needles(rules))
        program = Program(repo)
        context = AuditContext(repo, program, settings)
        found = [
            finding
            for rule in rules
            if not rule.needles or repo.having(*rule.needles)
            for finding in rule.check(context)
        ]
    finally:
        if collecting:
            gc.enable()
    kept = list(_kept(repo, settings, dict.fromkeys(found)))
    result = Audit(root=str(repo.root), rules=rules, files_seen=seen, context=context)
    result.findings = sorted(
        (_named(repo, finding) for finding in kept), key=lambda f: (f.path, f.line, f.column, f.code, f.message)
    )
    result.silenced = len(dict.fromkeys(found)) - len(kept)
    result.errors = {path: error for path, error in sorted(program.errors.items()) if repo.kind(path) == "own"}
    result.files_parsed = len(program.loaded)
    result.seconds = time.perf_counter() - begun
    return result


def selected(settings: AuditSettings) -> tuple[AuditRule, ...]:
    """The rules that the settings ask for. Raises InstrumentError for one that there is not."""
    wanted, left = expanded(settings.select), expanded(settings.ignore)
    for codes in settings.per_file_ignores.values():
        expanded(codes)
    return tuple(rule for rule in all_rules() if (not wanted or rule.code in wanted) and rule.code not in left)


def needles(rules: Iterable[AuditRule]) -> list[bytes]:
    """What the files are scanned for: the rules' own needles and those of the trackers they ask about."""
    from instrument.plan import rules as planning

    trackers = [needle for rule in planning.all_rules() if rule.order <= 200 for needle in rule.needles]
    return [*COMMON_NEEDLES, *trackers, *(needle for rule in rules for needle in rule.needles)]


def _kept(repo: Repository, settings: AuditSettings, found: Iterable[Finding]) -> Iterable[Finding]:
    """Those in files that are asked about, without what a comment or the settings leave out."""
    import pathspec

    left = pathspec.GitIgnoreSpec.from_lines(settings.exclude)
    globs = [
        (pathspec.GitIgnoreSpec.from_lines([glob]), expanded(codes))
        for glob, codes in settings.per_file_ignores.items()
    ]
    for finding in found:
        if not repo.editable(finding.path) or left.match_file(finding.path):
            continue
        if any(finding.code in codes and spec.match_file(finding.path) for spec, codes in globs):
            continue
        text = repo.source(finding.path).text
        if not silenced(text, range(finding.line, max(finding.line, finding.end_line) + 1), finding.code):
            yield finding


def _named(repo: Repository, finding: Finding) -> Finding:
    """A place in a notebook by the line of the file, with the cell and its line in the message."""
    if not finding.path.endswith(".ipynb"):
        return finding
    source = repo.source(finding.path)
    if not isinstance(source, NotebookSource) or not source.cells:
        return finding
    start = source.line_start(finding.line)
    message = f"{finding.message} ({source.line_label(start)})"
    return replace(finding, line=source.file_line(start), end_line=0, column=1, message=message)
