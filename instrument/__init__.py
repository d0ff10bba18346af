"""Wire Probe into machine-learning trainers: read the repository, write the smallest change, prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.1.0"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """`%load_ext instrument`. What the magic needs is loaded when it is first used."""
    from instrument.magic import load

    load(shell)
