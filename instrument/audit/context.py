"""What an audit rule is given: the repository, its names, what reaches a tracker, and a way to say what it found."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from instrument.audit.keys import Keys
from instrument.audit.rows import Entry, Rows
from instrument.audit.rule import Finding
from instrument.audit.sinks import Sink, find_sinks
from instrument.plan.context import Context, Options
from instrument.plan.place import argument, is_compound

if TYPE_CHECKING:
    from instrument.audit.settings import AuditSettings
    from instrument.plan.edits import Applicability, Edit
    from instrument.repo.module import Module
    from instrument.repo.names import Program
    from instrument.repo.scan import Repository


class AuditContext:
    """One per audit; rules share what it has worked out."""

    def __init__(self, repo: Repository, program: Program, settings: AuditSettings) -> None:
        self.repo = repo
        self.program = program
        self.settings = settings
        self._entries: dict[Sink, list[Entry]] = {}

    @cached_property
    def plan(self) -> Context:
        """The planner's context over the same files, for tables of trackers and for edits."""
        return Context(self.repo, self.program, Options())

    @cached_property
    def keys(self) -> Keys:
        """The texts of metrics' keys."""
        return Keys(self.program)

    @cached_property
    def rows(self) -> Rows:
        """The items of rows."""
        return Rows(self.program, self.keys)

    @cached_property
    def sinks(self) -> list[Sink]:
        """Every call that sends metrics."""
        return find_sinks(self)

    def entries(self, sink: Sink) -> list[Entry]:
        """The items of a sink's row, worked out once. For a sink of one value the key alone."""
        if sink not in self._entries:
            if sink.kind == "scalar":
                value = argument(sink.call, 1, "scalar_value", "value")
                texts = self.keys.texts(sink.module, sink.row)
                self._entries[sink] = [Entry(text, value, sink.module, sink.row) for text in texts]
            else:
                self._entries[sink] = self.rows.entries(sink.module, sink.row)
        return self._entries[sink]

    def modules(
        self, *needles: bytes, also: tuple[bytes, ...] = (), where: Callable[[bytes], object] | None = None
    ) -> list[Module]:
        """The repository's own Python files and notebooks with a needle (and one of `also`), parsed."""
        return self.plan.modules(*needles, also=also, where=where)

    def finding(
        self,
        code: str,
        module: Module,
        node: ast.AST,
        message: str,
        *,
        applicability: Applicability | None = None,
        edits: tuple[Edit, ...] = (),
        **facts: Any,
    ) -> Finding:
        """A finding at a node; `facts` are for its fix."""
        source, start, end = module.source, module.start(node), module.end(node)
        line = source.line_of(start)
        return Finding(
            path=module.path,
            line=line,
            column=start - source.line_start(line) + 1,
            end_line=line if isinstance(node, ast.stmt) and is_compound(node) else source.line_of(end),
            code=code,
            message=message,
            applicability=applicability,
            edits=edits,
            module=module,
            node=node,
            facts=facts,
        )
