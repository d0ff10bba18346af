"""Which findings are settled by which edits: fixes asked in order, overlapping ones left for the next time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from instrument.audit.context import AuditContext
from instrument.audit.engine import Audit
from instrument.audit.fixes import Fixed, all_fixes, all_wholes
from instrument.audit.rule import Finding
from instrument.errors import ConflictError
from instrument.plan.edits import Edit, NewFile, ordered
from instrument.plan.model import Plan

#: A finding without a fix of its own rule.
BY_HAND = "a person must decide"
CONFLICT = "its fix wants text that another one changes: run --fix again"
REVIEW = "its fix is to be looked at: --review takes it"


@dataclass(slots=True)
class Settled:
    """A plan made of fixes, the findings that it settles, and why each other one is left."""

    plan: Plan
    fixed: list[tuple[Finding, Fixed]] = field(default_factory=list)
    left: list[tuple[Finding, str]] = field(default_factory=list)


def offers(context: AuditContext, findings: Sequence[Finding]) -> dict[Finding, Fixed | str]:
    """What each finding's fix says, in the order of the findings; edits that a rule gave itself count as one."""
    said: dict[Finding, Fixed | str] = {}
    for finding in findings:
        if finding.edits and finding.applicability:
            said[finding] = Fixed(edits=finding.edits, new_files=finding.new_files, applicability=finding.applicability)
    for fix in all_fixes():
        own = [finding for finding in findings if finding.code == fix.code and finding not in said]
        if own:
            said.update(fix.make(context, own))
    return {finding: said.get(finding, BY_HAND) for finding in findings}


def settle(audit: Audit, *, review: bool) -> Settled:
    """The plan of all fixes that may be made; with `review` also of those that a person should look at."""
    assert audit.context is not None
    context = audit.context
    settled = Settled(Plan(root=audit.root))
    taken: dict[str, list[Edit]] = {}
    files: dict[str, NewFile] = {}
    for finding, offer in [*offers(context, audit.findings).items(), *_whole(context, audit)]:
        if isinstance(offer, str):
            settled.left.append((finding, offer))
        elif offer.applicability == "review" and not review:
            settled.left.append((finding, REVIEW))
        elif not _fits(taken, files, offer):
            settled.left.append((finding, CONFLICT))
        else:
            for edit in offer.edits:
                if edit not in taken.setdefault(edit.path, []):
                    taken[edit.path].append(edit)
            files.update((new.path, new) for new in offer.new_files)
            settled.fixed.append((finding, offer))
    plan = settled.plan
    plan.edits = [edit for path in sorted(taken) for edit in ordered(_imports_in_order(taken[path]))]
    plan.new_files = [files[path] for path in sorted(files)]
    plan.hashes = {path: context.repo.source(path).sha256 for path in sorted(taken)}
    plan.files_seen, plan.files_parsed, plan.seconds = audit.files_seen, audit.files_parsed, audit.seconds
    return settled


def _imports_in_order(edits: list[Edit]) -> list[Edit]:
    """Imports that several fixes put at one place, in the order that isort keeps."""

    def key(edit: Edit) -> str:
        text = edit.text.strip()
        return text if text.startswith("from ") and "\n" not in text else ""

    return sorted(
        edits, key=lambda edit: (edit.start, edit.end, key(edit)) if key(edit) else (edit.start, edit.end, "")
    )


def _whole(context: AuditContext, audit: Audit) -> list[tuple[Finding, Fixed | str]]:
    """What is done for the repository as a whole, of the rules that were asked for."""
    codes = {rule.code for rule in audit.rules}
    return [
        (finding, offer)
        for whole in all_wholes()
        for finding, offer in whole(context)
        if finding.code in codes and context.repo.editable(finding.path)
    ]


def _fits(taken: dict[str, list[Edit]], files: dict[str, NewFile], offer: Fixed) -> bool:
    if any(files.get(new.path, new).text != new.text for new in offer.new_files):
        return False
    paths = {edit.path for edit in offer.edits}
    try:
        for path in paths:
            new = [edit for edit in offer.edits if edit.path == path]
            ordered([*(edit for edit in taken.get(path, []) if edit not in new), *new])
    except ConflictError:
        return False
    return True


def marked(audit: Audit) -> list[Finding]:
    """The findings with their fixes in them, for reports; how sure each is as it was found here."""
    assert audit.context is not None
    result = []
    for finding, offer in offers(audit.context, audit.findings).items():
        if isinstance(offer, str):
            result.append(replace(finding, applicability=None, edits=(), new_files=()))
        else:
            result.append(
                replace(finding, applicability=offer.applicability, edits=offer.edits, new_files=offer.new_files)
            )
    return result


def edits_of(fixed: Iterable[tuple[Finding, Fixed]]) -> list[Edit]:
    """Every edit once."""
    return list(dict.fromkeys(edit for _, one in fixed for edit in one.edits))
