"""What every launch rule shares: when to act, which files to look at, and how findings become edits and notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from instrument.errors import SourceError
from instrument.launch._shell import Script, is_shell, read_script
from instrument.launch._text import Located, asked, inserted, stable

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.edits import Applicability
    from instrument.repo.source import Source

ORDER = 300

#: Continuous integration is not where training runs, and its secrets are its owner's to hand out.
_CI = (".github/", ".gitlab/", ".circleci/", ".buildkite/", ".azure-pipelines/", ".ci/")
_CI_FILES = frozenset(
    (".gitlab-ci.yml", "azure-pipelines.yml", ".travis.yml", "bitbucket-pipelines.yml", "Jenkinsfile")
)


def is_ci(path: str) -> bool:
    """Whether a file belongs to continuous integration."""
    return path.startswith(_CI) or path in _CI_FILES


def covered(ctx: Context) -> frozenset[str]:
    """Python files and notebooks from which Probe gets something, by this plan or an earlier one."""
    paths = {site.path for site in ctx.plan.sites if site.outcome in ("covered", "already")}
    paths |= {edit.path for edit in ctx.plan.edits}
    paths |= {new.path for new in ctx.plan.new_files}
    return frozenset(path for path in paths if path.endswith((".py", ".ipynb")))


def readable(ctx: Context, path: str) -> Source | None:
    """The source of a file that may be edited, or None where it may not or does not decode."""
    if is_ci(path) or not ctx.repo.editable(path):
        return None
    try:
        source = ctx.repo.source(path)
        _ = source.text
    except SourceError:
        return None
    return source


_SCRIPTS: WeakKeyDictionary[Context, dict[str, Script]] = WeakKeyDictionary()


def scripts(ctx: Context, *needles: bytes) -> list[tuple[str, Script]]:
    """The shell scripts with a needle that may be edited, parsed once a plan."""
    cache = _SCRIPTS.setdefault(ctx, {})
    found: list[tuple[str, Script]] = []
    for path in ctx.repo.having(*needles):
        base = path.rsplit("/", 1)[-1]
        if not is_shell(path, "") and "." in base:
            continue
        source = readable(ctx, path)
        if source is None or not is_shell(path, source.text[:200]):
            continue
        if path not in cache:
            cache[path] = read_script(source.text)
        found.append((path, cache[path]))
    return found


def settled(script: Script, located: Located, again: Callable[[str], Located]) -> Located:
    """What was found in a script, as questions only where the grammar did not take the whole of it, or takes the
    result apart in another way; `again` locates in the result.
    """
    if not located.insertions:
        return located
    changed = read_script(inserted(script.text, located.insertions))
    same = [len(part) for part in (changed.commands, changed.heredocs, changed.comments, changed.errors)] == [
        len(part) for part in (script.commands, script.heredocs, script.comments, script.errors)
    ]
    if script.errors or not same:
        return asked(located)
    return stable(script.text, located, again)


def record(
    ctx: Context, rule: str, path: str, located: Located, *, applicability: Applicability = "safe", group: str = ""
) -> None:
    """Make edits of the insertions and questions of what was left."""
    if not located.insertions and not located.left:
        return
    source = ctx.repo.source(path)
    for item in located.insertions:
        ctx.edit(
            path, item.offset, item.offset, item.text, reason=item.what, rule=rule, applicability=applicability,
            group=group,
        )  # fmt: skip
    for left in located.left:
        ctx.note("question", left.code, left.message, path=path, line=source.line_of(left.offset), next=left.next)
