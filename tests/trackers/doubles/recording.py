"""What the doubles share: calls in the order they were made, and series by run, as each tracker itself keeps them."""

from __future__ import annotations

#: Every call of a tracker, as JSON would have it: [tracker, call, arguments].
calls: list = []
#: Runs of trackers in the order they were opened: {"tracker", "series": [[key, step, value], ...]}.
runs: list = []
#: Runs at Probe, likewise, with what they were opened with and how they ended.
probe: list = []


def plain(value):
    """A value as JSON holds it; of anything odd its type's name."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return type(value).__name__


def record(tracker, call, *args, **kwargs):
    calls.append([tracker, call, plain(args), plain(kwargs)])


def open_run(tracker):
    run = {"tracker": tracker, "series": []}
    runs.append(run)
    return run


def numbers(row, separator=".", prefix=""):
    """The numbers of a row, nested mappings with joined keys."""
    found = {}
    for key, value in row.items():
        if isinstance(value, dict):
            found.update(numbers(value, separator, f"{prefix}{key}{separator}"))
        elif isinstance(value, (bool, int, float)):
            found[f"{prefix}{key}"] = float(value)
    return found


def point(run, key, value, step):
    """A point; a later value of a key at a step takes the place of the earlier one."""
    run["series"] = [p for p in run["series"] if p[:2] != [key, step]] + [[key, step, float(value)]]
