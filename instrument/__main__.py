"""`python -m instrument` is the `instrument` command."""

from __future__ import annotations

from instrument.cli import main

if __name__ == "__main__":
    main()
