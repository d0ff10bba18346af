"""What every test shares: a clean environment, and the markers' rules."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Iterator

import pytest

# A job in the background of a shell without job control ignores interrupts, and so would every program that is started
# here to be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Set INSTRUMENT_NETWORK=1 to run the tests that download.
NETWORK = os.environ.get("INSTRUMENT_NETWORK") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this machine lacks, with the reason; CI has all of it."""
    frameworks = importlib.util.find_spec("transformers") is not None
    for item in items:
        if item.get_closest_marker("network") and not NETWORK:
            item.add_marker(pytest.mark.skip(reason="set INSTRUMENT_NETWORK=1 to download"))
        if item.get_closest_marker("framework") and not frameworks:
            item.add_marker(pytest.mark.skip(reason="install the extra `frameworks`"))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No token, tracker account or colour setting of the person who runs the tests reaches them."""
    for name in list(os.environ):
        if name.startswith(("PROBE_", "WANDB_")) or name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name)
    # A cluster that was not stopped leaves its address behind: a `ray.init()` here is to start one of its own.
    monkeypatch.setenv("RAY_ADDRESS", "local")
    yield
