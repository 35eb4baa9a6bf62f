"""The ledger: the events of a history by what they are of, gathered once for all oracles.

It holds facts and decides nothing. Of two events of one thing it keeps both, in causal order. Where a clause takes one
of them it is the first: whoever did it again, found it again or was told again has not done another thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from operator import attrgetter
from typing import Any, Generic, TypeVar

from holdfast.harness.model.events import BarrierReceived, BarrierSent, Event, FileWritten
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.submissions import Submissions

PartId = tuple[int, str, int]
"""Attempt, subtask, checkpoint."""
CheckpointId = tuple[int, int]
"""Number of the job, checkpoint: the next job draws the same ones again."""
part_of: Callable[[Any], PartId] = attrgetter("attempt", "subtask", "checkpoint")
"""The part of a subtask that an event is of."""
Kind = TypeVar("Kind", bound=Event)
Thing = TypeVar("Thing")


class Entries(Generic[Thing, Kind]):
    """The events of one kind, by what each is of.

    Args:
        events: in causal order.
        thing_of: what one is of.
    """

    def __init__(self, events: Sequence[Kind], thing_of: Callable[[Kind], Thing]) -> None:
        self._events, self._thing_of = events, thing_of
        self._all: dict[Thing, list[Kind]] | None = None
        self._first: dict[Thing, Kind] | None = None

    @property
    def all(self) -> Mapping[Thing, Sequence[Kind]]:
        """Those of each thing, in causal order."""
        if self._all is None:
            found: dict[Thing, list[Kind]] = {}
            for thing, event in zip(map(self._thing_of, self._events), self._events, strict=True):
                known = found.get(thing)
                if known is None:
                    found[thing] = [event]
                else:
                    known.append(event)
            self._all = found
        return self._all

    @property
    def first(self) -> Mapping[Thing, Kind]:
        """The first one of each thing, in causal order."""
        if self._first is None:
            things = list(map(self._thing_of, self._events))
            self._first = dict(zip(things, self._events, strict=True))
            if len(self._first) < len(things):  # Of some it is the last one.
                self._first.update(zip(reversed(things), reversed(self._events), strict=True))
        return self._first

    @property
    def things(self) -> Set[Thing]:
        """What there is one of."""
        return self.first.keys()


def by_part(history: History, kind: type[Kind]) -> Entries[PartId, Kind]:
    """By the part of a subtask in a checkpoint; a barrier is of the part of who records it."""
    return history.derived(_entries(kind, _part_of))


def by_checkpoint(history: History, kind: type[Kind]) -> Entries[CheckpointId, Kind]:
    return history.derived(_entries(kind, _checkpoint_of))


def by_path(history: History, kind: type[Kind]) -> Entries[str, Kind]:
    return history.derived(_entries(kind, _path_of))


@cache
def _entries(
    kind: type[Event], thing_of: Callable[[History, type[Event]], Callable[[Any], Any]]
) -> Callable[[History], Entries[Any, Any]]:
    return lambda history: Entries(history.of(kind), thing_of(history, kind))


def _part_of(_history: History, kind: type[Event]) -> Callable[[Any], PartId]:
    if kind not in (BarrierSent, BarrierReceived):
        return part_of
    end = 0 if kind is BarrierSent else 2
    return lambda event: (event.attempt, event.channel.partition("->")[end], event.checkpoint)


def _checkpoint_of(history: History, _kind: type[Event]) -> Callable[[Any], CheckpointId]:
    return history.derived(Submissions).checkpoint_of


def _path_of(_history: History, kind: type[Event]) -> Callable[[Any], str]:
    return attrgetter("file.path" if kind is FileWritten else "path")
