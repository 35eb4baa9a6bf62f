"""Ledgers that are wrong in one field, and which exhibits read a field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, get_args

import pytest

from holdfast.harness.model.events import Event
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.area import Area, Entries, Reading
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.files import by_path
from holdfast.harness.oracles.ledger.parts import by_part
from holdfast.suites.selfcheck.oracles.builder import EXHIBITS
from holdfast.suites.selfcheck.oracles.test_exhibits import judged_wrongly

AREAS: Mapping[str, Area[Any]] = {"parts": by_part, "checkpoints": by_checkpoint, "files": by_path}


class Field(NamedTuple):
    """Events of one kind in an area."""

    area: str
    kind: type[Event]

    @property
    def reading(self) -> Reading:
        """The most that a clause may read of it."""
        return AREAS[self.area].fields[self.kind]

    def of(self, history: History) -> Entries[Any, Event]:
        return AREAS[self.area](history, self.kind)

    def __str__(self) -> str:
        return f"{self.area}-{self.kind.__name__}"


FIELDS = [Field(name, kind) for name, area in AREAS.items() for kind in area.fields]
READINGS: tuple[Reading, ...] = get_args(Reading)
"""Each shows more than the one before."""
Gather = Callable[[History], Any]


@contextmanager
def replaced(field: Field, replacement: Callable[[Gather], Gather]) -> Iterator[None]:
    """While it lasts, the ledgers of new histories have another field in place of this one."""
    gathers = AREAS[field.area].gathers
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(gathers, field.kind, replacement(gathers[field.kind]))
        yield


# --- four ways to be wrong ---

Spoil = Callable[[Entries[Any, Event]], Entries[Any, Event]]


def _entries(found: Mapping[Any, Sequence[Event]]) -> Entries[Any, Event]:
    of = {id(event): thing for thing, its in found.items() for event in its}
    return Entries([event for its in found.values() for event in its], lambda event: of[id(event)])


def empty(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    return _entries({})


def of_the_one_before(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    """What is of the attempt before, of the job before, or under another path."""
    things = list(entries.all)
    before = {
        thing: things[place - 1] if isinstance(thing, str) else (thing[0] - 1, *thing[1:])
        for place, thing in enumerate(things)
    }
    return _entries({thing: entries.all.get(before[thing], ()) for thing in things})


def in_reverse(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    return _entries({thing: its[::-1] for thing, its in entries.all.items()})


def first_only(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    return _entries({thing: its[:1] for thing, its in entries.all.items()})


SPOILS: Mapping[Reading, tuple[Spoil, ...]] = {
    "things": (empty, of_the_one_before),
    "first": (empty, of_the_one_before, in_reverse),
    "all": (empty, of_the_one_before, in_reverse, first_only),
}
"""By what is read of a field: whoever reads the first alone, or whether there is one, sees no others gone."""


def spoilt(spoil: Spoil) -> Callable[[Gather], Gather]:
    return lambda gather: lambda history: spoil(gather(history))


# --- who reads a field ---


class _Noted(Entries[Any, Event]):
    """Entries that note what is read of them."""

    def __init__(self, entries: Entries[Any, Event], read: set[Reading]) -> None:
        self._entries, self._read = entries, read

    @property
    def all(self) -> Mapping[Any, Sequence[Event]]:
        self._read.add("all")
        return self._entries.all

    @property
    def first(self) -> Mapping[Any, Event]:
        self._read.add("first")
        return self._entries.first

    @property
    def things(self) -> Set[Any]:
        self._read.add("things")
        return self._entries.things


class Readers(NamedTuple):
    """Who asks for a field.

    Attributes:
        exhibits: names of those whose judgement does.
        read: what any of them reads.
    """

    exhibits: set[str]
    read: set[Reading]


def readers() -> dict[Field, Readers]:
    """Of each field. All exhibits are judged rightly on the way."""
    found = {field: Readers(set(), set()) for field in FIELDS}
    judged: list[str] = []

    def noting(field: Field) -> Callable[[Gather], Gather]:
        def noted(gather: Gather) -> Gather:
            def gathered(history: History) -> _Noted:
                found[field].exhibits.add(judged[-1])
                return _Noted(gather(history), found[field].read)

            return gathered

        return noted

    with ExitStack() as stack:
        for field in FIELDS:
            stack.enter_context(replaced(field, noting(field)))
        for name, exhibit in EXHIBITS.items():
            judged.append(name)
            assert not judged_wrongly(exhibit), name
    return found
