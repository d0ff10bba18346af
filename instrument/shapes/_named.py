"""Shared by shapes that are driven by YAML: files that a rule may edit, and what stands for their edits in a report.

A name in YAML is imported from where training is started: the module is put at the root, and the plan says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.errors import SourceError
from instrument.launch._common import is_ci
from instrument.launch._yaml import Node, documents
from instrument.plan.model import Site
from instrument.repo.source import Source

if TYPE_CHECKING:
    from instrument.plan.context import Context


def own_package(context: Context, name: str) -> bool:
    """Whether the repository is a framework itself: its package is in it."""
    return any(context.repo.exists(f"{folder}{name}/__init__.py") for folder in ("", "src/", "python/"))


def mappings(context: Context, *needles: bytes) -> Iterator[tuple[Source, Node]]:
    """Every YAML document that is a mapping, of files with all the needles that may be edited."""
    paths = set(context.repo.having(needles[0], suffixes=(".yaml", ".yml")))
    for needle in needles[1:]:
        paths &= set(context.repo.having(needle, suffixes=(".yaml", ".yml")))
    for path in sorted(paths):
        if is_ci(path) or not context.repo.editable(path):
            continue
        source = context.repo.source(path)
        try:
            roots = documents(source.text)
        except SourceError:
            continue
        if len(roots) == 1 and roots[0].kind == "mapping":
            yield source, roots[0]


def site_of(context: Context, rule: str, source: Source, offset: int, what: str) -> Site:
    """Record a place in a YAML file."""
    context.found(rule)
    site = Site(
        rule=rule, kind="build", path=str(source.path), line=source.line_of(offset), what=what, strategy="register"
    )
    context.plan.sites.append(site)
    return site


def cover(context: Context, site: Site, offset: int, text: str, reason: str, why: str, *parts: str) -> None:
    """Write what names the module, and the module; say from where it is imported."""
    for candidate in ("probe.py", "probe/__init__.py"):
        if context.repo.exists(candidate):
            site.outcome, site.why = "refused", f"{candidate} shadows the SDK's package `probe`"
            context.note(
                "refusal", "probe-shadowed",
                f"{candidate} shadows the SDK: `import probe` would import it, so {site.path} is left alone",
                path=candidate, next=f"rename {candidate}, then run `instrument apply` again",
            )  # fmt: skip
            return
    context.edit(site.path, offset, offset, text, reason=reason, rule=site.rule)
    context.tracking.by_name(*parts)
    context.opened_elsewhere = True
    site.outcome, site.why = "covered", why
    context.note(
        "warning", "module-by-name",
        "this YAML names what is in probe_tracking.py: start training in the folder that has it",
        path=site.path, line=site.line,
    )  # fmt: skip
