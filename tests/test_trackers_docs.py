"""The page on trackers is what their tables say, and every tracker is on it with the library's own names."""

from __future__ import annotations

import json

from tests.trackers import write_docs
from tests.trackers.read_apis import APIS


def test_the_page_is_up_to_date() -> None:
    assert write_docs.DOCS.read_text("utf-8") == write_docs.render(), "python -m tests.trackers.write_docs"


def test_every_tracker_is_on_it() -> None:
    assert set(json.loads(APIS.read_text())) == set(write_docs.trackers())


def test_what_is_mirrored_exists_in_the_library() -> None:
    """Of each library at least one call opens, sends and closes by names that its source has."""
    for name, api in json.loads(APIS.read_text()).items():
        tracker = write_docs.trackers()[name]
        found = {
            write_docs._becomes(tracker, f"{part['root']}.{call}") for part in api["objects"] for call in part["names"]
        }
        assert {"mirrored: `probe.log`", "mirrored: `probe.finish`"} <= found, name
