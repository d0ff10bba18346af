"""Writes one finished run to Probe through the SDK: whole curves in few writes, each point with its step and time.

The SDK's own `log_derived_series` sends a curve without its times, and `log` costs milliseconds a row: the same write
is made here with both (`sdk.METRICS_PATH`, contract in `instrument/sdk.py`).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from instrument import sdk
from instrument.errors import InstrumentError
from instrument.imports.ledger import MARK
from instrument.imports.model import Finished, whole_axis

#: Points a write. The SDK takes 50,000 and merges its own up to 5,000.
CHUNK = 5000
PRODUCER = "probe-instrument import"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where imported runs go. Without a project a run is filed afterwards, in Probe."""

    project: str | None = None
    experiment: str | None = None
    question: str | None = None
    offline: bool = False


def points(found: Finished) -> list[dict[str, Any]]:
    """Every point as the SDK's write has it, by time. A second value of a key at a step is labelled `repeat`, as the SDK's
    callback does it: the server keeps the first of two that are alike."""
    # By time: points of one row say the same time, and the SDK looks at each text for secrets but once, if it comes
    # again soon.
    rows: list[tuple[float, dict[str, Any]]] = []
    for key, series in found.run.series.items():
        axis = whole_axis(series)
        seen: dict[int, int] = {}
        steps = series.axes[axis] if axis else list(range(len(series.values)))
        for at, value, wall in zip(steps, series.values, series.walls):
            step = int(at or 0)
            point: dict[str, Any] = {"key": key, "kind": "model", "value": value, "step_index": step}
            if wall is not None:
                point["wall_clock"] = _iso(wall)
            before = seen.get(step, 0)
            if before:
                point["labels"] = {"repeat": before}
            seen[step] = before + 1
            rows.append((wall or 0.0, point))
    rows.sort(key=lambda row: row[0])
    return [point for _, point in rows]


def _iso(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def _about(found: Finished) -> dict[str, Any]:
    """What stands in the run's metadata: where it is from, and what was not brought."""
    about: dict[str, Any] = {
        "by": MARK,
        "tracker": found.run.tracker,
        "id": found.run.id,
        "tier": found.tier,
        "points": found.points,
        "status": found.run.status or "no end recorded",
    }
    for name, seconds in (("started_at", found.started), ("ended_at", found.ended)):
        if seconds is not None and (text := _iso(seconds)):
            about[name] = text
    if found.media:
        about["media"] = found.media[:200]
    return about


def _create(found: Finished, target: Target, name: str | None) -> dict[str, Any]:
    given = {
        "name": name or found.name,
        "external_id": found.external_id,
        "config": found.run.config or None,
        "tags": found.tags or None,
        "notes": found.notes,
        "project": target.project,
        "experiment": target.experiment,
        "question": target.question,
        "metadata": {"imported": _about(found)},
    }
    return {key: value for key, value in given.items() if value is not None}


def send(found: Finished, target: Target, *, name: str | None = None, wrote: Callable[[int], None]) -> bool:
    """Write one run; `wrote` is told how many points went with each write. False where the server has it already.

    Raises InstrumentError with the SDK's own reason.
    """
    try:
        import probe
        from probe.sdk import errors
    except ImportError:
        raise InstrumentError(
            "probe-research is not installed", hint=f'pip install "{sdk.REQUIREMENT}"', code="no-sdk"
        ) from None
    # The SDK tells of each run on stdout, and warns of what an offline run leaves out.
    with _environment(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run = _open(probe, found, target, name)
        except errors.ConflictError as error:
            if "already completed" in str(error):
                return False
            raise InstrumentError(f"{found.name}: {error}", code="not-imported") from None
        except Exception as error:
            raise InstrumentError(f"{found.name}: {error}", hint=_hint(error), code="not-imported") from None
        client = getattr(run, sdk.RUN_CLIENT)
        with contextlib.suppress(ImportError, KeyError):
            # As `Client.run` does it: texts that come again are not looked through for secrets again.
            importlib.import_module(sdk.SCRUB_CACHE[0]).__dict__[sdk.SCRUB_CACHE[1]]()
        provenance = {"producer": PRODUCER, "note": f"{found.run.tracker} run {found.run.id}, {found.tier}"}
        try:
            batch: list[dict[str, Any]] = []
            for point in points(found):
                batch.append(point)
                if len(batch) == CHUNK:
                    _write(client, run.id, batch, provenance, target)
                    wrote(len(batch))
                    batch = []
            if batch:
                _write(client, run.id, batch, provenance, target)
                wrote(len(batch))
            if found.foreign_keys:
                run.link(**found.foreign_keys)
            run.finish(status=_status(found), summary_metrics=found.summary or None)
        except Exception as error:
            raise InstrumentError(f"{found.name}: {error}", hint=_hint(error), code="not-imported") from None
    return True


def _open(probe: Any, found: Finished, target: Target, name: str | None) -> Any:
    given = _create(found, target, name)
    quiet = {"capture_outputs": False, "capture_reads": False, "snapshot": False}
    if target.offline:
        return probe.init(mode="offline", reinit="create_new", **given, **quiet)
    client = probe.Client(async_writes=False)
    return client.run(**given, **quiet, heartbeat=False, on_conflict="auto")


def _write(client: Any, run_id: str, batch: list[dict[str, Any]], provenance: dict[str, str], target: Target) -> None:
    body = {"origin": "derived", "points": batch, "provenance": provenance}
    client.write("POST", f"/v1/runs/{run_id}{sdk.METRICS_PATH}", body, strict=None if target.offline else True)


def _status(found: Finished) -> str:
    """Without an end recorded the run was killed, as far as its record says."""
    return found.run.status if found.run.status in sdk.STATUSES else "failed"


def _hint(error: Exception) -> str | None:
    if type(error).__name__ in ("AuthError", "TransportError"):
        return f"set {sdk.TOKEN}, or {sdk.MODE}=offline to import into the SDK's queue"
    return None


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """The SDK's waits bounded, no login in a browser, and no run of a surrounding `probe exec` joined."""
    before = dict(os.environ)
    for key in (sdk.RUN_ID, sdk.RUN_EPOCH):
        os.environ.pop(key, None)
    for key, value in sdk.DEFAULTS.items():
        os.environ.setdefault(key, value)
    os.environ.pop("PROBE_INIT_FALLBACK", None)  # online is online: an import that can't reach the server says so
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
