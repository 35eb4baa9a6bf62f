"""What the areas of the ledger have in common: the events of a history by what each of them is of.

Of two events about one subject an area keeps both, in causal order. Where a clause takes one of them it is the first:
a repeated action, observation or notice is no other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from holdfast.harness.model.events import Event
from holdfast.harness.model.history import History

Kind = TypeVar("Kind", bound=Event)
Thing = TypeVar("Thing")
Reading = Literal["things", "first", "all"]
"""What clauses may read of a field: whether there is an event of a thing, the first one, or all in their order."""
ThingOf = Callable[[History, type[Event]], Callable[[Any], Thing]]
"""How the events of a kind say what they are of."""


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
        """The events of each subject, in causal order."""
        if self._all is None:
            found: dict[Thing, list[Kind]] = {}
            for thing, event in zip(map(self._thing_of, self._events), self._events, strict=True):
                found.setdefault(thing, []).append(event)
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
        """The subjects that have an entry."""
        return self.first.keys()


class Area(Generic[Thing]):
    """An area of the ledger. Called with a history and a kind of events, it gives the events of that kind.

    Args:
        thing_of: what one is of.
        fields: the kinds of events that it holds, with the most that any clause reads of each. An order that no clause
            depends on is not promised.

    Attributes:
        gathers: by kind, what gathers its events of a history at their first use.
    """

    def __init__(self, thing_of: ThingOf[Thing], fields: Mapping[type[Event], Reading]) -> None:
        self.fields = fields
        self.gathers: dict[type[Event], Callable[[History], Entries[Thing, Any]]] = {
            kind: partial(_gathered, thing_of, kind) for kind in fields
        }

    def __call__(self, history: History, kind: type[Kind]) -> Entries[Thing, Kind]:
        return history.derived(self.gathers[kind])


def _gathered(thing_of: ThingOf[Thing], kind: type[Event], history: History) -> Entries[Thing, Any]:
    return Entries(history.of(kind), thing_of(history, kind))
