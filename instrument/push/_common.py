"""What every push rule shares: the generated `probe_push.py`, its import, and a decorator below another."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from instrument import sdk
from instrument.errors import SourceError
from instrument.launch._yaml import Node, item_after
from instrument.plan.edits import NewFile
from instrument.plan.place import after, import_point
from instrument.plan.render import environment

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.repo.names import Module

ORDER = 400
FILE = "probe_push.py"
TITLES = {
    "airflow": "Airflow", "prefect": "Prefect", "dagster": "Dagster", "flyte": "Flyte", "metaflow": "Metaflow",
    "kubeflow": "Kubeflow Pipelines", "ray_job": "Ray jobs", "command": "scripts and workflows",
}  # fmt: skip
_IMPORTS = (
    "atexit contextlib functools hashlib hmac json logging os re sys threading time urllib.error urllib.request".split()
)
_MARK = re.compile(r"written by probe-instrument; push: ([\w, ]+)")
_WRITTEN: WeakKeyDictionary[Context, dict[str, set[str]]] = WeakKeyDictionary()


def render(parts: set[str], project: str | None = None) -> str:
    """The text of `probe_push.py` with the hooks of some platforms."""
    names = [name for name in TITLES if name in parts]
    template = environment().get_template("push/probe_push.py.jinja")
    given = {
        "parts": names, "titles": ", ".join(TITLES[name] for name in names), "project": _literal(project),
        "base_url": sdk.DEFAULT_BASE_URL, "path": sdk.INGEST_PATH, "requirement": sdk.REQUIREMENT,
    }  # fmt: skip
    body = template.render(imports="", **given)
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    lines = [f"import {name}" for name in _IMPORTS if name.split(".")[0] in used]
    text = template.render(imports="\n".join([*lines, "from datetime import datetime, timezone"]), **given)
    return re.sub(r"\n{4,}", "\n\n\n", text).rstrip("\n") + "\n"


def _literal(text: str | None) -> str:
    import json

    return "None" if text is None else json.dumps(text)


def need(ctx: Context, folder: str, part: str, rule: str) -> str:
    """Have `probe_push.py` in a folder with a platform's hook. Returns its path."""
    path = f"{folder}/{FILE}" if folder else FILE
    written = _WRITTEN.setdefault(ctx, {})
    before = ctx.repo.read(path).decode("utf-8", "replace") if path in ctx.repo.files else None
    have: set[str] = set()
    if before is not None:
        found = _MARK.search(before)
        have = {name.strip() for name in found[1].split(",")} if found else set()
        if part in have or not found:
            return path  # there, or a file of theirs by this name, which is left as it is
    parts = written.setdefault(path, have)
    parts.add(part)
    reason = "tells Probe how runs of this platform stand: standard library only, never raises, bounded in time"
    new = NewFile(
        path=path, text=render(parts, ctx.options.project), reason=reason, rule=rule, applicability="review", replaces=before,
    )  # fmt: skip
    ctx.plan.new_files = [*(other for other in ctx.plan.new_files if other.path != path), new]
    return path


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def import_it(ctx: Context, module: Module, rule: str, part: str, *packages: str) -> None:
    """`import probe_push` beside the platform's import."""
    folder = folder_of(module.path)
    need(ctx, folder, part, rule)
    if re.search(rb"(?m)^(?:import|from \S+ import) probe_push\b", module.source.data):
        return
    line = "import probe_push"
    if folder and f"{folder}/__init__.py" in ctx.repo.files:
        dotted = module.dotted.rpartition(".")[0]
        line = f"from {dotted} import probe_push" if dotted else line
    spot = import_point(module, [line], beside=frozenset(packages))
    if spot is not None:
        ctx.edit(
            module.path, spot.offset, spot.offset, spot.text, reason="imports the hook that tells Probe of runs", rule=rule,
            applicability="review", group=f"push:{module.path}",
        )  # fmt: skip


def has(module: Module) -> bool:
    """Whether a file was given its hook before."""
    return b"probe_push" in module.source.data


def add(ctx: Context, module: Module, offset: int, text: str, site: Site, rule: str) -> None:
    """One insertion of a hook, and its site covered."""
    site.outcome, site.why = "covered", "Probe is told when a run begins and how it ends"
    ctx.edit(
        module.path, offset, offset, text, reason="tells Probe when a run begins and how it ends", rule=rule,
        applicability="review", group=f"push:{module.path}",
    )  # fmt: skip


def decorators(ctx: Context, needle: bytes, names: frozenset[str]) -> list[tuple[Module, ast.AST, ast.expr]]:
    """Functions of this repository with a decorator of these qualified names: (module, function, decorator)."""
    found: list[tuple[Module, ast.AST, ast.expr]] = []
    for module in ctx.modules(needle):
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for decorator in node.decorator_list:
                    target = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if ctx.program.resolve(module, target) & names:
                        found.append((module, node, decorator))
    return found


def below(
    ctx: Context, module: Module, stmt: ast.stmt, site: Site, *, rule: str, part: str, packages: tuple[str, ...]
) -> None:  # fmt: skip
    """`probe_push.prefect(name)` below a definition: nothing of the definition itself is touched."""
    hook = f"probe_push.{part}({getattr(stmt, 'name', '')})"
    if re.search(rf"(?m)^\s*{re.escape(hook)}", module.source.text):
        site.outcome, site.why = "already", "it has Probe's hook"
        return
    top = stmt in module.tree.body
    spot = after(module, stmt, ["", "", hook] if top else ["", hook])
    if spot is None or module.enclosing_class(stmt) is not None:
        site.outcome, site.why = "asked", "no statement can stand below it"
        ctx.note(
            "question", "hook-by-hand", "no statement can stand below this definition", path=module.path, line=site.line,
            next=f"call {hook} where it is defined, by hand",
        )  # fmt: skip
        return
    import_it(ctx, module, rule, part, *packages)
    add(ctx, module, spot.offset, spot.text, site, rule)


def below_decorated(ctx: Context, needle: bytes, names: frozenset[str], *, rule: str, part: str) -> None:
    """A hook below each function with a platform's decorator."""
    for module, function, decorator in decorators(ctx, needle, names):
        if module.source.kind != "python" or not isinstance(function, ast.stmt):
            continue
        ctx.found(rule)
        what = "@" + module.code(decorator).split("(")[0]
        site = ctx.site(rule, "launch", module, decorator, what, process=TITLES[part])
        below(ctx, module, function, site, rule=rule, part=part, packages=(needle.decode(),))


def text_of(ctx: Context, path: str) -> str | None:
    """A file's text, if it is the repository's own and decodes."""
    if not ctx.repo.editable(path):
        return None
    try:
        return ctx.repo.source(path).text
    except SourceError:
        return None


def item_last(text: str, sequence: Node, lines: list[str]) -> tuple[int, str] | None:
    """Where and what to insert as the last item of a sequence in lines, also below one that ends in a block of text."""
    made = item_after(text, sequence, len(sequence.items) - 1, lines, "")
    last = sequence.items[-1]
    if made is not None or not text[: last.end].endswith("\n"):
        return made
    first = sequence.items[0]
    line = text.rfind("\n", 0, first.start) + 1
    lead = text[line : first.start]
    if lead.strip() != "-":
        return None
    inner = " " * len(lead)
    newline = "\r\n" if text[: last.end].endswith("\r\n") else "\n"
    return last.end, newline.join([lead + lines[0], *(inner + part if part else "" for part in lines[1:])]) + newline
