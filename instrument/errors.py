"""Errors that reach the person who runs the tool: each names a place and says what to do."""

from __future__ import annotations

from pathlib import PurePosixPath


class InstrumentError(Exception):
    """Something could not be done; nothing was written.

    `path` and `line` say where (line counts from 1), `hint` what to do about it. `code` is stable, for programs; what
    each means is in `plan/codes.py`.
    """

    code = "could-not"

    def __init__(
        self,
        message: str,
        *,
        path: PurePosixPath | str | None = None,
        line: int | None = None,
        hint: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.hint = hint
        self.code = code or type(self).code

    def __str__(self) -> str:
        place = ""
        if self.path is not None:
            place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: "
        return f"{place}{self.message}" + (f" ({self.hint})" if self.hint else "")


class SourceError(InstrumentError):
    """A file could not be decoded or parsed."""

    code = "unreadable"


class ProofError(InstrumentError):
    """An edited source failed a proof; `proof` is its short name."""

    code = "proof-failed"

    def __init__(self, message: str, *, proof: str, path: str, line: int | None = None) -> None:
        super().__init__(message, path=path, line=line, hint=f"proof «{proof}» failed, nothing was written")
        self.proof = proof


class ConflictError(InstrumentError):
    """Two edits want the same span, or a source changed since it was planned."""

    code = "conflict"
