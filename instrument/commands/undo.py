"""`instrument undo`: takes the last apply back."""

from __future__ import annotations

import typer

from instrument.commands._common import DONE, Ask, command

ORDER = 50


def register(app: typer.Typer) -> None:
    command(app, example="instrument undo ~/src/cleanrl", plans=False)(undo)


def undo(ask: Ask) -> int:
    """Take the last apply back, byte for byte.

    Works with and without git; call it again for the apply before. Refuses, and writes nothing, where a file was
    changed since: your own work is in it.
    """
    from instrument.patch.undo import undo as take_back

    manifest = take_back(ask.path)
    restored = [file.path for file in manifest.files if file.before is not None]
    removed = [file.path for file in manifest.files if file.before is None]
    if ask.json:
        from instrument.report.json import write

        write({"schema": "instrument.undo/1", "restored": restored, "removed": removed})
    elif not ask.quiet:
        from instrument.report.text import plural

        ask.out.line(f"{plural(len(manifest.files), 'file')} as before the last apply", "green")
        for path in restored:
            ask.out.line(f"  {path}")
        for path in removed:
            ask.out.line(f"  {path} (removed: apply had created it)")
    return DONE
