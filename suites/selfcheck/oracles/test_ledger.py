"""The ledger holds every event under what it is of, in causal order, and the oracles decide on what it holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import msgspec
import pytest

from holdfast.harness.model import events
from holdfast.harness.model.events import Event, FileReference
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared import ledger
from holdfast.harness.oracles.shared.ledger import Entries, by_checkpoint, by_part, by_path
from holdfast.suites.selfcheck.oracles.builder import EXHIBITS, story
from holdfast.suites.selfcheck.oracles.lines import NEXT_JOB, submitted
from holdfast.suites.selfcheck.oracles.test_exhibits import judged_wrongly

Area = Callable[[History, type[Event]], Entries[Any, Event]]
FIELDS: dict[Area, tuple[type[Event], ...]] = {
    by_part: (
        events.TriggerReceived, events.BarrierReceived, events.BarrierSent, events.SnapshotTaken,
        events.SnapshotReleased, events.ChannelStateTaken, events.AckSent, events.AckReceived, events.DeclineSent,
        events.NotificationReceived,
    ),
    by_checkpoint: (
        events.CheckpointTriggered, events.CheckpointCompleted, events.CheckpointAborted, events.MetadataPublished,
        events.SavepointTriggered, events.SavepointCompleted, events.SnapshotTaken, events.ChannelStateTaken,
        events.SplitsLeft,
    ),
    by_path: (events.FileWritten, events.FileDeleted),
}  # fmt: skip
"""What the oracles ask for."""


def made(kind: type[Event], subtask: str = "a[0]", checkpoint: int = 1, path: str = "f", attempt: int = 1) -> Event:
    """An event of a kind that says no more than what it is of."""
    channel = f"{subtask}->b[0]" if kind is events.BarrierSent else f"b[0]->{subtask}"
    file = FileReference(path, 1, 0)
    given = {"subtask": subtask, "channel": channel, "checkpoint": checkpoint, "path": path, "file": file}
    wanted = [field.name for field in msgspec.structs.fields(kind) if field.required]
    said: dict[str, Any] = {name: given.get(name) for name in wanted}
    return kind(attempt=attempt, **said)


@pytest.mark.parametrize(("area", "kind"), [(area, kind) for area, kinds in FIELDS.items() for kind in kinds])
def test_a_field_holds_every_event_of_each_thing_in_causal_order(area: Area, kind: type[Event]) -> None:
    assert not area(story(), kind).all

    if area is by_part:
        later, restarted = made(kind, checkpoint=2), made(kind, attempt=2)
        history = story(later, made(kind), made(kind, "a[1]"), made(kind), restarted)
        places = {(1, "a[0]", 2): [0], (1, "a[0]", 1): [1, 3], (1, "a[1]", 1): [2], (2, "a[0]", 1): [4]}
        assert _told(area(history, kind), history, kind) == places
    elif area is by_checkpoint:
        next_job = submitted(job=1), made(kind, attempt=NEXT_JOB + 1)
        history = story(submitted(), made(kind, checkpoint=2), made(kind), *next_job, made(kind))
        assert _told(area(history, kind), history, kind) == {(1, 2): [0], (1, 1): [1, 3], (2, 1): [2]}
    else:
        history = story(made(kind, path="g"), made(kind), made(kind, attempt=2))
        assert _told(area(history, kind), history, kind) == {"g": [0], "f": [1, 2]}


def _told(entries: Entries[Any, Event], history: History, kind: type[Event]) -> dict[Hashable, list[int]]:
    """By thing, which of all events of a kind are its own."""
    assert entries.first == {thing: found[0] for thing, found in entries.all.items()}
    assert entries.last == {thing: found[-1] for thing, found in entries.all.items()}
    places = {id(event): place for place, event in enumerate(history.of(kind))}
    return {thing: [places[id(each)] for each in found] for thing, found in entries.all.items()}


def asked(names: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, type[Event]]]:
    """Which fields the oracles ask for where they judge these exhibits, each by the name of its area."""
    found = set()
    entries_of = ledger._entries

    def noted(kind: type[Event], thing_of: Callable[[History, type[Event]], Callable[[Any], Any]]) -> Any:
        found.add((thing_of.__name__.replace("_of", "").replace("_", "by_", 1), kind))
        return entries_of(kind, thing_of)

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "_entries", noted)
        for name in names:
            judged_wrongly(EXHIBITS[name])
    return found


def test_the_oracles_ask_for_these_fields_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {(area.__name__, kind) for area, kinds in FIELDS.items() for kind in kinds}
    assert asked(EXHIBITS, monkeypatch) == known
