"""Fixes of what the audit finds, one file a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.errors import InstrumentError

if TYPE_CHECKING:
    from instrument.audit.engine import Audit
    from instrument.commands._common import Ask


def command(ask: Ask, found: Audit, *, form: str) -> int:
    """`instrument audit --fix`. Raises InstrumentError."""
    raise InstrumentError("there are no fixes yet")
