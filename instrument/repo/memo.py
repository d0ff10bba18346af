"""Values by key, where keys may depend on each other in circles and on more keys than there is time for."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Set = frozenset[Any]

#: Nested computations; what is deeper is put off and computed from the top.
_MAX_DEPTH = 25
#: Work for one question, in computations; past that the answer is what was found so far.
_BUDGET = 400
#: What all questions together may use before each gets half only.
_TOTAL = 60_000
#: A key that was looked at this far around is kept even if the question was cut short.
_RADIUS = 4
#: A key that was computed this often only grows from then on, and no more after twice as often: circles come to rest.
_MAX_ROUNDS = 6

_Work = tuple[Callable[..., Set], tuple[Any, ...]]


class Memo:
    """The least fixed point of a system of set equations, solved on demand, near things first.

    `get` is called by computations too, and so learns who depends on whom. A key that is asked for while it is being
    computed gives what it has; whoever read that is computed again when it changes. Distance is counted in hops,
    steps from one function into another; when the budget is used up, the far things are what is missing.
    """

    def __init__(self, limited: Callable[[Set], Set]) -> None:
        """`limited` keeps a value's size within bounds."""
        self._limited = limited
        self._final: dict[Any, Set] = {}
        self._total = 0
        # Of the question under way:
        self._values: dict[Any, Set] = {}
        self._work: dict[Any, _Work] = {}
        self._readers: dict[Any, dict[Any, None]] = {}
        self._rounds: dict[Any, int] = {}
        self._distance: dict[Any, int] = {}
        self._order: dict[Any, int] = {}
        self._put_off: dict[Any, None] = {}
        self._stale: list[tuple[int, int, int, Any]] = []
        self._queued: set[Any] = set()
        self._active: list[Any] = []
        self._steps = 0
        self._pushed = 0
        self._horizon = 0

    def get(self, key: Any, compute: Callable[..., Set], *arguments: Any, hop: int = 0) -> Set:
        """The value of a key, computed by `compute(*arguments)` when it is not known."""
        known = self._final.get(key)
        if known is not None:
            return known
        reader = self._active[-1] if self._active else None
        if key not in self._values:
            self._values[key] = frozenset()
            self._work[key] = (compute, arguments)
            if reader is None:
                return self._answer(key)
            self._reach(key, self._distance[reader] + hop)
        elif key in self._put_off and self._distance[reader] + hop < self._distance[key]:
            self._reach(key, self._distance[reader] + hop)
        # After the first computation: what it gave is read here and now.
        self._readers.setdefault(key, {})[reader] = None
        return self._values[key]

    def _reach(self, key: Any, distance: int) -> None:
        """Compute a key for the first time, or put it off if it is far away."""
        self._distance[key] = distance
        if distance > self._horizon or len(self._active) > _MAX_DEPTH:
            self._put_off[key] = None
        else:
            self._run(key)

    def spend(self, steps: int) -> None:
        """Count work that is dearer than a computation, such as parsing a file."""
        self._steps += steps

    def _answer(self, key: Any) -> Set:
        """Compute the outermost key and everything it depends on, one hop farther each time that all is at rest."""
        self._steps, self._distance[key], self._horizon = 0, 0, 0
        budget = _BUDGET if self._total < _TOTAL else _BUDGET // 2
        try:
            self._run(key)
            while self._steps < budget:
                if self._stale:
                    *_, member = heappop(self._stale)
                    self._queued.discard(member)
                    self._run(member)
                elif self._put_off:
                    self._horizon = min(self._distance[member] for member in self._put_off)
                    for member in [m for m in self._put_off if self._distance[m] == self._horizon]:
                        if member in self._put_off and self._steps < budget:
                            self._run(member)
                else:
                    break
            self._settle(key)
            return self._final[key]
        finally:
            self._total += self._steps
            for table in (self._values, self._work, self._readers, self._rounds, self._distance, self._order):
                table.clear()
            self._put_off.clear()
            self._stale.clear()
            self._queued.clear()
            self._active.clear()

    def _settle(self, key: Any) -> None:
        """Make final what is: all, or what does not depend on things left undone or is near enough to the start."""
        undone = {*self._queued, *self._put_off}
        reached = min((self._distance[member] for member in undone), default=0)
        spread = list(undone)
        while spread:
            for reader in self._readers.get(spread.pop(), ()):
                if reader not in undone:
                    undone.add(reader)
                    spread.append(reader)
        for member, value in self._values.items():
            if member not in undone or reached - self._distance[member] >= _RADIUS:
                self._final[member] = value
        self._final[key] = self._values[key]

    def _run(self, key: Any) -> None:
        self._steps += 1
        self._put_off.pop(key, None)
        compute, arguments = self._work[key]
        self._active.append(key)
        value = compute(*arguments)
        self._active.pop()
        self._order.setdefault(key, len(self._order))
        before = self._values[key]
        rounds = self._rounds[key] = self._rounds.get(key, 0) + 1
        if rounds > _MAX_ROUNDS:
            value |= before
        value = self._limited(value) if rounds < 2 * _MAX_ROUNDS else before
        if value != before:
            self._values[key] = value
            for reader in self._readers.get(key, ()):
                self._enqueue(reader)

    def _enqueue(self, key: Any) -> None:
        if key not in self._queued:
            self._queued.add(key)
            self._pushed += 1
            # Far ones first, since near ones read them; of equally far ones those that were done first.
            heappush(self._stale, (-self._distance[key], self._order.get(key, 0), self._pushed, key))
