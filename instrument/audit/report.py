"""What an audit found, as text, JSON, SARIF 2.1.0 and GitHub's annotations; and a rule's own page."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from instrument.report import sarif
from instrument.report.text import plural, shown

if TYPE_CHECKING:
    from instrument.audit.engine import Audit
    from instrument.audit.rule import AuditRule, Finding
    from instrument.repo.scan import Repository
    from instrument.report.terminal import Screen

SCHEMA = "instrument.audit/1"


def write_text(screen: Screen, audit: Audit, *, quiet: bool = False, verbose: bool = False) -> None:
    """One line a finding, as editors jump to it, then how many of which rule."""
    for finding in audit.findings:
        fix = " [*]" if finding.applicability else ""
        screen.line(f"{finding.path}:{finding.line}:{finding.column}: {finding.code}{fix} {finding.message}")
    if quiet:
        return
    if audit.findings:
        screen.heading("Rules")
        counts = Counter(finding.code for finding in audit.findings)
        for rule in audit.rules:
            if counts[rule.code]:
                screen.paragraph(
                    f"{counts[rule.code]:>4} {rule.code} {rule.name}: {rule.summary}", indent="       ", first="  "
                )
    for path, error in audit.errors.items():
        where = f"{path}:{error.line}" if error.line else path
        screen.line(f"{where}: not looked at: {error.message}", "yellow")
    read = f"{plural(audit.files_seen, 'file')} read, {audit.files_parsed:,} parsed, {audit.seconds:.2f} s"
    left = f", {audit.silenced:,} silenced" if audit.silenced else ""
    if audit.findings:
        files = len({finding.path for finding in audit.findings})
        found = f"{plural(len(audit.findings), 'finding')} in {plural(files, 'file')}{left}"
        screen.line()
        screen.line(f"{found}; {read}", "bold")
        first = audit.findings[0].code
        screen.line(f"`instrument rule {first}` says why; `# noqa: {first}` on a line leaves it out")
    else:
        screen.line(f"nothing found{left}; {read}", "green")


def document(audit: Audit, target: str) -> dict[str, Any]:
    """The JSON document (`docs/audit.schema.json`); nothing in it depends on the time of day."""
    counts = Counter(finding.code for finding in audit.findings)
    return {
        "schema": SCHEMA,
        "command": "audit",
        "outcome": "found" if audit.findings else "clean",
        "target": target,
        "counts": {code: counts[code] for code in sorted(counts)},
        "findings": [_finding(finding) for finding in audit.findings],
        "silenced": audit.silenced,
        "not_parsed": [
            {"path": path, "line": error.line, "message": error.message} for path, error in audit.errors.items()
        ],
        "files_seen": audit.files_seen,
        "files_parsed": audit.files_parsed,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "fix": finding.applicability,
    }


def log(audit: Audit, repo: Repository) -> bytes:
    """The SARIF log, with each rule's page in it and each edit as a fix."""
    rules: list[dict[str, Any]] = [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": rule.why},
            "help": {"text": page(rule), "markdown": page(rule)},
        }
        for rule in audit.rules
    ]
    results = []
    for finding in audit.findings:
        result = sarif.result_of(finding.code, "warning", finding.message, finding.path)
        region = {"startLine": finding.line, "startColumn": finding.column}
        result["locations"][0]["physicalLocation"]["region"] = region
        if finding.edits and not finding.path.endswith(".ipynb"):
            by_file: dict[str, list[dict[str, Any]]] = {}
            for edit in finding.edits:
                by_file.setdefault(edit.path, []).append(sarif.replacement(repo, edit))
            changes = [{"artifactLocation": sarif.location(path), "replacements": r} for path, r in by_file.items()]
            result["fixes"] = [{"description": {"text": finding.edits[0].reason}, "artifactChanges": changes}]
        results.append(result)
    return sarif.document(rules, results)


def github(audit: Audit) -> list[str]:
    """GitHub workflow commands, one a line."""
    return [sarif.annotation("warning", f.path, f.line, f"{f.code} {f.message}") for f in audit.findings]


def page(rule: AuditRule) -> str:
    """A rule for people, in Markdown."""
    fix = rule.fix or "None: a person must decide."
    sure = f" ({rule.applicability})" if rule.applicability else ""
    return (
        f"# {rule.name} ({rule.code})\n\n{rule.summary}\n\n## Why\n\n{rule.why}\n\n"
        f"## Example\n\n```python\n{rule.bad.strip()}\n```\n\nRather:\n\n```python\n{rule.good.strip()}\n```\n\n"
        f"## Fix{sure}\n\n{fix}\n"
    )


def rule_document(rules: list[AuditRule]) -> dict[str, Any]:
    """Rules as a JSON document."""
    return {
        "schema": "instrument.rules/1",
        "command": "rule",
        "rules": [
            {
                "code": rule.code,
                "name": rule.name,
                "summary": rule.summary,
                "why": rule.why,
                "bad": rule.bad,
                "good": rule.good,
                "fix": rule.fix,
                "applicability": rule.applicability,
            }
            for rule in rules
        ],
    }


def write_page(screen: Screen, rule: AuditRule) -> None:
    """A rule's page on a screen."""
    for line in page(rule).split("\n"):
        if line.startswith("#"):
            screen.line(shown(line), "bold")
        else:
            screen.paragraph(line) if not line.startswith((" ", "`")) and len(line) > 80 else screen.line(line)
