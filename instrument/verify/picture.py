"""The curves of both sides laid over each other: inline SVG in a page that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from instrument.verify.compare import KeyResult, RunResult
from instrument.verify.model import Point
from instrument.verify.report import number, shown, step_text, summary
from instrument.verify.session import Verification

WIDTH, HEIGHT, PAD = 320, 150, 14
#: More points than this are thinned for the picture; the comparison itself used all.
MOST = 1500

_CSS = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #d9d9e0; --tracker: #c2570c;
  --probe: #0b68cb; --good: #18794e; --bad: #b42318; --page: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #b0b4ba; --line: #363a3f; --tracker: #ffa057;
  --probe: #70b8ff; --good: #3dd68c; --bad: #ff9592; --page: #111113; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem auto;
  max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.parity { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 8px; padding: .6rem; }
figcaption { font-size: .85rem; overflow-wrap: anywhere; } figcaption b { font-weight: 600; }
svg { display: block; width: 100%; height: auto; } svg path { fill: none; stroke-linejoin: round; }
svg text { font-size: 9px; fill: var(--soft); }
.tracker { stroke: var(--tracker); stroke-width: 5; stroke-opacity: .45; }
.probe { stroke: var(--probe); stroke-width: 1.5; }
.equal { color: var(--good); } .not { color: var(--bad); } .soft { color: var(--soft); }
code { font-size: .85em; overflow-wrap: anywhere; }
"""


def _thin(points: Sequence[Point]) -> list[Point]:
    jump = max(1, -(-len(points) // MOST))
    return [*points[::jump], *([points[-1]] if jump > 1 else [])]


def _drawable(points: Sequence[Point]) -> list[Point]:
    return [point for point in points if point.step is not None and math.isfinite(point.value)]


def svg(tracker: Sequence[Point], probe: Sequence[Point]) -> str:
    """Both series in one picture: the tracker's as a broad band, Probe's as a thin line on it.

    Points without a step or a finite value can't be drawn and are left out.
    """
    sides = [("tracker", _thin(_drawable(tracker))), ("probe", _thin(_drawable(probe)))]
    every = [point for _, points in sides for point in points]
    if not every:
        return '<p class="soft">no finite points to draw</p>'
    xs, ys = [float(p.step or 0) for p in every], [p.value for p in every]
    left, bottom = min(xs), min(ys)
    # Divide first: the span of two very large values is more than a float holds.
    wide, high = max(xs) - left or 1.0, (max(ys) / 2 - bottom / 2) or 0.5

    def place(point: Point) -> str:
        x = PAD + (float(point.step or 0) - left) / wide * (WIDTH - 2 * PAD)
        y = HEIGHT - PAD - (point.value / 2 - bottom / 2) / high * (HEIGHT - 2 * PAD)
        return f"{x:.1f} {y:.1f}"

    shapes = []
    for name, points in sides:
        if len(points) == 1:
            x, y = place(points[0]).split()
            shapes.append(f'<circle class="{name}" cx="{x}" cy="{y}" r="{5 if name == "tracker" else 2}"/>')
        elif points:
            shapes.append(f'<path class="{name}" d="M{"L".join(map(place, points))}"/>')
    corners = (
        (2, 9, "start", max(ys)),
        (2, HEIGHT - 2, "start", bottom),
        (WIDTH - 2, HEIGHT - 2, "end", f"steps {left:g} to {max(xs):g}"),
    )
    for across, down, anchor, value in corners:
        said = value if isinstance(value, str) else f"{value:.4g}"
        shapes.append(f'<text x="{across}" y="{down}" text-anchor="{anchor}">{said}</text>')
    label = f"{len(tracker)} points of the tracker, {len(probe)} of Probe"
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(shapes)}</svg>'


def _points(key: KeyResult) -> tuple[list[Point], list[Point]]:
    tracker, probe = key.tracker, key.probe
    ours = probe.points if probe is not None else []
    if tracker is None:
        return [], ours
    return tracker.on(key.axis) if key.axis in tracker.axes else tracker.points, ours


def _figure(key: KeyResult) -> str:
    tracker, probe = _points(key)
    said = [key.detail, f"emitted at {key.place}" if key.place else ""]
    if key.first is not None:
        values = f"{number(key.first.tracker)} / {number(key.first.probe)}"
        said.insert(0, f"first at {step_text(key.first.step)}: {values}")
    mood = {"equal": "equal", "only at Probe": "soft"}.get(key.verdict, "not")
    text = escape(shown("; ".join(part for part in said if part)))
    axis = "" if key.axis in ("step", "_step") else f' <span class="soft">over {escape(shown(key.axis))}</span>'
    return (
        f"<figure>{svg(tracker, probe)}<figcaption><b>{escape(shown(key.key))}</b>{axis} "
        f'<span class="{mood}">{key.verdict}</span> <span class="soft">{len(tracker)} / {len(probe)} points</span>'
        f"{'<br>' if text else ''}{text}</figcaption></figure>"
    )


def _section(result: RunResult) -> str:
    tracker, name = result.tracker, result.tracker.name
    title = escape(shown(f"{tracker.tracker} run {name or tracker.id}"))
    where = f" ({escape(shown(tracker.process))})" if tracker.process.pid else ""
    cause = f'<p class="not">{escape(shown(result.cause))}</p>' if result.cause else ""
    keys = sorted(result.keys, key=lambda key: key.verdict in ("equal", "only at Probe"))
    return f'<h2>{title}{where}</h2>{cause}<div class="parity">{"".join(map(_figure, keys))}</div>'


def fragment(verification: Verification) -> str:
    """The picture of a verification without a page around it, for the HTML report; style it with `style()`."""
    mood = "equal" if verification.passed else "not"
    notes = "".join(f'<p class="soft">{escape(shown(note))}</p>' for note in verification.notes)
    legend = (
        '<p class="soft"><span style="color:var(--tracker)">&#9644;</span> broad: the tracker '
        '<span style="color:var(--probe)">&#9644;</span> thin: Probe</p>'
    )
    sections = "".join(map(_section, verification.comparison.runs))
    return f'<p class="{mood}"><b>{escape(summary(verification))}</b></p>{notes}{legend}{sections}'


def style() -> str:
    """The style sheet of `fragment`."""
    return _CSS


def page(verification: Verification) -> str:
    """A page of its own: no script, no font, no address in it."""
    command = escape(shown(" ".join(verification.command)))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Parity</title><style>{style()}</style></head><body><h1>What Probe got of what the tracker got</h1>"
        f"<p><code>{command}</code></p>{fragment(verification)}</body></html>\n"
    )
