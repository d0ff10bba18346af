"""Writes `docs/trackers.md` from the trackers' tables and `apis.json`: `python -m tests.trackers.write_docs`."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path
from typing import Any

import instrument.trackers
from instrument.plan.emission import Tracker
from tests.trackers.read_apis import APIS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "trackers.md"

_HEAD = """\
# Trackers

<!-- Written by `python -m tests.trackers.write_docs` from instrument/trackers and the libraries' own sources. -->

What becomes of each tracker's calls where the repository makes them itself. *Mirrored*: Probe gets the same, under the
same key at the same step. *Listed*: it has no counterpart at Probe; the call stays as it is and the report names it.
*Not applicable*: it sends nothing (it reads, sets up, or changes how the tracker shows things).

A call that is there but can't be read with certainty, or that has no place for a second one beside it, is asked about.
"""


def trackers() -> dict[str, Tracker]:
    """Every tracker by name, in the order in which they are planned."""
    found = []
    for info in pkgutil.iter_modules(instrument.trackers.__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"instrument.trackers.{info.name}")
            found.append((module.RULE.order, module.TRACKER))
    return {tracker.name: tracker for _, tracker in sorted(found, key=lambda pair: pair[0])}


def _becomes(tracker: Tracker, qualified: str) -> str:
    """What becomes of a call, in the words of the table; "" where nothing does."""
    if qualified in tracker.opens:
        return "mirrored: `probe.init`"
    if qualified.endswith(".log_batch"):
        return "asked: a list of objects, each with a step of its own"
    if qualified in tracker.emits:
        return "mirrored: `probe.log`"
    if qualified in tracker.closes:
        return "mirrored: `probe.finish`"
    return f"listed: {tracker.leaves[qualified]}" if qualified in tracker.leaves else ""


def _rows(tracker: Tracker, api: dict[str, Any]) -> dict[str, list[str]]:
    """The library's calls by what becomes of them, each method once; then what is assigned; then all others."""
    rows: dict[str, list[str]] = {}
    seen: set[tuple[str, str]] = set()
    others: dict[str, list[str]] = {}
    for part in api["objects"]:
        prefix = f"{part['root']}."
        # `config.update` is a call of what the object has, not one of its own names.
        deeper = {n.removeprefix(prefix) for n in tracker.leaves if n.startswith(prefix)} - set(part["names"])
        deeper = {name for name in deeper if "." in name and not name.startswith("run.") and "(" not in name}
        for name in sorted({*part["names"], *deeper}):
            what = _becomes(tracker, f"{prefix}{name}")
            if (name, what) in seen:
                continue
            seen.add((name, what))
            if what:
                rows.setdefault(what, []).append(f"`{part['title']}.{name}`")
            else:
                others.setdefault(part["title"], []).append(f"`{name}`")
        for name in sorted(n.removeprefix(prefix) for n in tracker.items if n.startswith(prefix)):
            if name.isidentifier() and name != "run":
                rows.setdefault("listed, unless it completes the opening", []).append(
                    f"`{part['title']}.{name}[...] =`"
                )
    if tracker.name in ("neptune", "aim"):
        number = "mirrored: `probe.log`, where it is a number" if tracker.name == "neptune" else "the run's config"
        rows.setdefault(number, []).append("`run[...] =`")
    rest = "; ".join(f"of `{title}`: {', '.join(names)}" for title, names in others.items())
    ordered = sorted(
        rows.items(), key=lambda row: (not row[0].startswith("mirrored"), row[0].startswith("listed"), row[0])
    )
    return {**dict(ordered), **({"not applicable": [rest]} if rest else {})}


def _section(tracker: Tracker, api: dict[str, Any]) -> str:
    summary = (importlib.import_module(f"instrument.trackers.{tracker.name}").__doc__ or "").strip()
    head, _, rest = summary.partition("\n\n")
    lines = [f"## {tracker.title}", "", " ".join(head.split()), ""]
    if rest:
        lines += [" ".join(rest.split()), ""]
    opens = sorted({name for name in tracker.opens if name.count(".") == 1}) or sorted(tracker.opens)
    lines += [
        f"Opened by {', '.join(f'`{name}`' for name in opens)}. Its names are those of version {api['version']}.",
        "",
    ]
    lines += ["| call | at Probe |", "|---|---|"]
    lines += [f"| {', '.join(calls)} | {what} |" for what, calls in _rows(tracker, api).items()]
    return "\n".join(lines) + "\n"


def render() -> str:
    """The page."""
    apis = json.loads(APIS.read_text())
    return "\n".join([_HEAD, *(_section(tracker, apis[name]) for name, tracker in trackers().items())])


def main() -> None:
    DOCS.write_text(render(), "utf-8")
    print(f"wrote {DOCS}", file=sys.stderr)


if __name__ == "__main__":
    main()
