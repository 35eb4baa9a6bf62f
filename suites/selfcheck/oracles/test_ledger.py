"""The ledger holds every event under what it is of, in causal order, and the oracles decide on what it holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import msgspec
import pytest

from holdfast.harness.model import events
from holdfast.harness.model.events import Event, FileReference
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared import ledger
from holdfast.harness.oracles.shared.ledger import Entries, by_checkpoint, by_part, by_path
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS, story
from holdfast.suites.selfcheck.oracles.legal import legal_run
from holdfast.suites.selfcheck.oracles.lines import NEXT_JOB, submitted
from holdfast.suites.selfcheck.oracles.test_exhibits import judged_wrongly

Area = Callable[[History, type[Event]], Entries[Any, Event]]
FIELDS: dict[tuple[Area, type[Event]], str] = {
    (by_part, events.TriggerReceived): "first",
    (by_part, events.BarrierReceived): "all",
    (by_part, events.BarrierSent): "all",
    (by_part, events.SnapshotTaken): "first",
    (by_part, events.SnapshotReleased): "first",
    (by_part, events.ChannelStateTaken): "things",
    (by_part, events.AckSent): "first",
    (by_part, events.AckReceived): "things",
    (by_part, events.NotificationReceived): "all",
    (by_checkpoint, events.CheckpointTriggered): "first",
    (by_checkpoint, events.CheckpointCompleted): "first",
    (by_checkpoint, events.CheckpointAborted): "things",
    (by_checkpoint, events.MetadataPublished): "first",
    (by_checkpoint, events.SavepointTriggered): "first",
    (by_checkpoint, events.SavepointCompleted): "first",
    (by_checkpoint, events.SnapshotTaken): "all",
    (by_checkpoint, events.ChannelStateTaken): "all",
    (by_checkpoint, events.SplitsLeft): "all",
    (by_path, events.FileWritten): "all",
    (by_path, events.FileDeleted): "first",
}
"""What the oracles ask for, and the most that any of them reads there: whether there is one, the first, or all."""


def made(kind: type[Event], subtask: str = "a[0]", checkpoint: int = 1, path: str = "f", attempt: int = 1) -> Event:
    """An event of a kind that says no more than what it is of."""
    channel = f"{subtask}->b[0]" if kind is events.BarrierSent else f"b[0]->{subtask}"
    file = FileReference(path, 1, 0)
    given = {"subtask": subtask, "channel": channel, "checkpoint": checkpoint, "path": path, "file": file}
    wanted = [field.name for field in msgspec.structs.fields(kind) if field.required]
    said: dict[str, Any] = {name: given.get(name) for name in wanted}
    return kind(attempt=attempt, **said)


@pytest.mark.parametrize(("area", "kind"), FIELDS)
def test_a_field_holds_every_event_of_each_thing_in_causal_order(area: Area, kind: type[Event]) -> None:
    assert not area(story(), kind).all

    if area is by_part:
        later, restarted = made(kind, checkpoint=2), made(kind, attempt=2)
        history = story(later, made(kind), made(kind, "a[1]"), made(kind), restarted)
        places = {(1, "a[0]", 2): [0], (1, "a[0]", 1): [1, 3], (1, "a[1]", 1): [2], (2, "a[0]", 1): [4]}
        assert _places(history, area, kind) == places
    elif area is by_checkpoint:
        next_job = submitted(job=1), made(kind, attempt=NEXT_JOB + 1)
        history = story(submitted(), made(kind, checkpoint=2), made(kind), *next_job, made(kind))
        assert _places(history, area, kind) == {(1, 2): [0], (1, 1): [1, 3], (2, 1): [2]}
    else:
        history = story(made(kind, path="g"), made(kind), made(kind, attempt=2))
        assert _places(history, area, kind) == {"g": [0], "f": [1, 2]}


def _places(history: History, area: Area, kind: type[Event]) -> dict[Hashable, list[int]]:
    """By thing, which of all events of a kind are its own."""
    entries = area(history, kind)
    assert entries.first == {thing: found[0] for thing, found in entries.all.items()}
    assert entries.things == entries.all.keys()
    places = {id(event): place for place, event in enumerate(history.of(kind))}
    return {thing: [places[id(each)] for each in found] for thing, found in entries.all.items()}


class _Noted:
    """Entries that note what is read of them."""

    def __init__(self, entries: Entries[Any, Event], read: set[str]) -> None:
        self._entries, self._read = entries, read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._entries, name)


READINGS = ("things", "first", "all")
THINGS: dict[Area, Any] = {by_part: ledger._part_of, by_checkpoint: ledger._checkpoint_of, by_path: ledger._path_of}
Spoil = Callable[[Entries[Any, Event]], Entries[Any, Event]]


@contextmanager
def spoilt(area: Area, kind: type[Event], spoil: Spoil) -> Iterator[None]:
    """While it lasts, a field is what `spoil` makes of it."""
    entries_of = ledger._entries

    @cache
    def spoilt_entries(of: type[Event], thing_of: Any) -> Any:
        whole = entries_of(of, thing_of)
        return (lambda history: spoil(whole(history))) if (thing_of, of) == (THINGS[area], kind) else whole

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger, "_entries", spoilt_entries)
        yield


@pytest.fixture(scope="module")
def asking() -> dict[tuple[Area, type[Event]], tuple[set[str], set[str]]]:
    """By field, the exhibits whose judgement reads it, and what of it is read by any."""
    found: dict[tuple[Area, type[Event]], tuple[set[str], set[str]]] = {}
    areas, entries_of = {thing_of: area for area, thing_of in THINGS.items()}, ledger._entries
    with pytest.MonkeyPatch.context() as patched:
        for name, exhibit in EXHIBITS.items():

            @cache
            def noted(kind: type[Event], thing_of: Any, name: str = name) -> Any:
                names, read = found.setdefault((areas[thing_of], kind), (set(), set()))
                names.add(name)
                return lambda history: _Noted(entries_of(kind, thing_of)(history), read)

            patched.setattr(ledger, "_entries", noted)
            assert not judged_wrongly(exhibit), name
    return found


def test_the_oracles_ask_for_these_fields_and_no_others(asking: Mapping[Any, tuple[set[str], set[str]]]) -> None:
    assert {field: max(read, key=READINGS.index) for field, (_, read) in asking.items()} == FIELDS


def _entries(found: Mapping[Any, Sequence[Event]]) -> Entries[Any, Event]:
    of = {id(event): thing for thing, its in found.items() for event in its}
    return Entries([event for its in found.values() for event in its], lambda event: of[id(event)])


def _empty(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    return _entries({})


def _reversed(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    return _entries({thing: its[::-1] for thing, its in entries.all.items()})


def _first_only(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    return _entries({thing: its[:1] for thing, its in entries.all.items()})


def _of_the_one_before(entries: Entries[Any, Event]) -> Entries[Any, Event]:
    """What is of another attempt, of another job, or under another path."""
    things = list(entries.all)
    before = {
        thing: things[place - 1] if isinstance(thing, str) else (thing[0] - 1, *thing[1:])
        for place, thing in enumerate(things)
    }
    return _entries({thing: entries.all.get(before[thing], ()) for thing in things})


def _sabotages() -> Iterator[tuple[Area, type[Event], Spoil]]:
    """Each that a field can suffer: who reads the first alone, or whether there is one, sees no others gone."""
    for (area, kind), read in FIELDS.items():
        yield area, kind, _empty
        yield area, kind, _of_the_one_before
        if read != "things":
            yield area, kind, _reversed
        if read == "all":
            yield area, kind, _first_only


@pytest.mark.parametrize(("area", "kind", "spoil"), list(_sabotages()))
def test_a_field_that_is_wrong_turns_an_exhibit_red(
    area: Area, kind: type[Event], spoil: Spoil, asking: Mapping[Any, tuple[set[str], set[str]]]
) -> None:
    names, _ = asking[area, kind]
    with spoilt(area, kind, spoil):
        assert any(judged_wrongly(EXHIBITS[name]) for name in sorted(names))


def test_no_oracle_changes_what_the_ledger_holds() -> None:
    history = legal_run(checkpoints=4, dies_after=2)
    before = {field: _places(history, *field) for field in FIELDS}
    for oracle in BY_NAME.values():
        if oracle.applies(history):
            oracle.judge(history)
    assert {field: _places(history, *field) for field in FIELDS} == before
    assert sum(map(bool, before.values())) > len(FIELDS) // 2
