"""Which Probe run belongs to which run of a tracker, and which key to which."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from instrument.verify.model import Run


def pair(trackers: Sequence[Run], probe: Sequence[Run]) -> list[tuple[Run, Run | None]]:
    """Which Probe run belongs to which run of one tracker.

    A link to the tracker's run id decides, then the name, the process, the keys they share and the time they began.
    One Probe run serves several runs of a tracker only if no key of it does (TensorBoard writes a folder a writer).
    """

    def score(tracker: Run, run: Run) -> tuple[float, ...]:
        linked = tracker.id in run.links or any(len(tracker.id) >= 6 and tracker.id in link for link in run.links)
        named = bool(tracker.name) and tracker.name == run.name
        process = tracker.process.pid is not None and tracker.process.pid == run.process.pid
        overlap = len(match_keys(tracker, run)) / len(tracker.series)
        near = 0.0
        if tracker.began is not None and run.began is not None:
            near = 1 / (1 + abs(tracker.began - run.began))
        return (linked, named, process, round(overlap, 3), near)

    scores = {(i, j): score(t, p) for i, t in enumerate(trackers) for j, p in enumerate(probe)}
    taken: dict[int, int] = {}
    for (i, j), value in sorted(scores.items(), key=lambda item: item[1], reverse=True):
        if i in taken or not any(value[:4]):
            continue
        others = [trackers[k] for k, other in taken.items() if other == j]
        mine = set(match_keys(trackers[i], probe[j]).values())
        if any(mine & set(match_keys(other, probe[j]).values()) for other in others):
            continue
        taken[i] = j
    return [(tracker, probe[taken[i]] if i in taken else None) for i, tracker in enumerate(trackers)]


def match_keys(tracker: Run, probe: Run) -> dict[str, str]:
    """The name at Probe of every key of the tracker that Probe has.

    W&B joins nested keys with ".", Probe with "/"; Hugging Face names "eval_loss" what its W&B and Probe callbacks call
    "eval/loss"; a TensorBoard writer may be a folder ("validation") and its tag the rest.
    """
    left = dict.fromkeys(probe.series)
    found: dict[str, str] = {}

    def claim(names: Mapping[str, str]) -> None:
        for key, name in names.items():
            if key not in found and name in left:
                found[key] = name
                del left[name]

    plain = {_plain(name): name for name in left}
    if tracker.tracker == "tensorboard" and tracker.folder is not None:
        place = tracker.folder.name
        # `add_scalars("loss", {"train": ...})` writes the tag "loss" in a folder "..loss_train".
        ends = {key: place[len(key) + 1 :] for key in tracker.series if place.startswith(key.replace("/", "_") + "_")}
        claim({key: plain.get(_plain(f"{key}/{end}"), "") for key, end in ends.items()})
        claim({key: plain.get(_plain(f"{place}/{key}"), "") for key in tracker.series})
    claim({key: key for key in tracker.series})
    plain = {_plain(name): name for name in left}
    claim({key: plain.get(_plain(key), "") for key in tracker.series})
    claim({key: plain.get(_rewritten(key), "") for key in tracker.series})
    return found


def _plain(key: str) -> str:
    return re.sub(r"[./]+", "/", key).strip("/")


def _rewritten(key: str) -> str:
    for prefix in ("eval", "test"):
        if key.startswith(f"{prefix}_"):
            return f"{prefix}/{key[len(prefix) + 1 :]}"
    return f"train/{key}"
