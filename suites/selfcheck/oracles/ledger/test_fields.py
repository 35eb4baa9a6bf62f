"""Each field holds every event under what it is of, in causal order, and no oracle changes it. A span, which follows
from two of them, is trigger and completion of a checkpoint in one life of a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import msgspec
import pytest

from holdfast.harness.model import events
from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, Event, FileReference
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.checkpoints import spans
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, story
from holdfast.suites.selfcheck.oracles.ledger.sabotage import AREAS, FIELDS, Field
from holdfast.suites.selfcheck.oracles.legal import legal_run
from holdfast.suites.selfcheck.oracles.lines import NEXT_JOB, attempt, completed, died, submitted, triggered

Places = Mapping[Hashable, list[int]]
"""By thing, which of all events of a kind are its own."""


def made(kind: type[Event], subtask: str = "a[0]", checkpoint: int = 1, path: str = "f", attempt: int = 1) -> Event:
    """An event of a kind that says no more than what it is of."""
    channel = f"{subtask}->b[0]" if kind is events.BarrierSent else f"b[0]->{subtask}"
    file = FileReference(path, 1, 0)
    given = {"subtask": subtask, "channel": channel, "checkpoint": checkpoint, "path": path, "file": file}
    wanted = [field.name for field in msgspec.structs.fields(kind) if field.required]
    said: dict[str, Any] = {name: given.get(name) for name in wanted}
    return kind(attempt=attempt, **said)


def _of_parts(kind: type[Event]) -> tuple[History, Places]:
    later, restarted = made(kind, checkpoint=2), made(kind, attempt=2)
    history = story(later, made(kind), made(kind, "a[1]"), made(kind), restarted)
    return history, {(1, "a[0]", 2): [0], (1, "a[0]", 1): [1, 3], (1, "a[1]", 1): [2], (2, "a[0]", 1): [4]}


def _of_checkpoints(kind: type[Event]) -> tuple[History, Places]:
    next_job = submitted(job=1), made(kind, attempt=NEXT_JOB + 1)
    history = story(submitted(), made(kind, checkpoint=2), made(kind), *next_job, made(kind))
    return history, {(1, 2): [0], (1, 1): [1, 3], (2, 1): [2]}


def _of_files(kind: type[Event]) -> tuple[History, Places]:
    return story(made(kind, path="g"), made(kind), made(kind, attempt=2)), {"g": [0], "f": [1, 2]}


HISTORIES: Mapping[str, Callable[[type[Event]], tuple[History, Places]]] = {
    "parts": _of_parts,
    "checkpoints": _of_checkpoints,
    "files": _of_files,
}
"""By area, a history of events of one kind, and what its field must hold."""


@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_a_field_holds_every_event_of_each_thing_in_causal_order(field: Field) -> None:
    assert not field.of(story()).all
    history, places = HISTORIES[field.area](field.kind)
    assert _places(history, field) == places


def _places(history: History, field: Field) -> Places:
    entries = field.of(history)
    assert entries.first == {thing: found[0] for thing, found in entries.all.items()}
    assert entries.things == entries.all.keys()
    places = {id(event): place for place, event in enumerate(history.of(field.kind))}
    return {thing: [places[id(each)] for each in found] for thing, found in entries.all.items()}


def test_no_area_has_a_field_that_it_does_not_declare() -> None:
    for area in AREAS.values():
        with pytest.raises(KeyError):
            area(story(), events.NodeStarted)


def test_no_oracle_changes_what_the_ledger_holds() -> None:
    history = legal_run(checkpoints=4, dies_after=2)
    before = {field: _places(history, field) for field in FIELDS}
    for oracle in BY_NAME.values():
        if oracle.applies(history):
            oracle.judge(history)
    assert {field: _places(history, field) for field in FIELDS} == before
    assert sum(map(bool, before.values())) > len(FIELDS) // 2


def test_a_span_is_of_one_life_one_job_and_one_checkpoint_in_the_order_of_triggers() -> None:
    never_triggered, never_completed = completed(4), triggered(5)
    history = story(
        submitted(), attempt(), triggered(1), triggered(2), completed(2), completed(1), triggered(3),
        died(), attempt(), triggered(3), completed(3), never_triggered, never_completed,
        submitted(job=1), attempt(number=NEXT_JOB + 1), triggered(3), completed(3),
    )  # fmt: skip
    begun, ended = history.of(CheckpointTriggered), history.of(CheckpointCompleted)
    places = [(begun.index(span.triggered), ended.index(span.completed)) for span in spans(history)]
    assert places == [(0, 1), (1, 0), (3, 2), (5, 4)]


def test_there_is_no_span_without_a_completion() -> None:
    assert spans(story()) == spans(story(attempt(), triggered(1))) == []


def test_a_completion_that_is_recorded_again_ends_no_other_span() -> None:
    assert len(spans(story(attempt(), triggered(1), completed(1), completed(1)))) == 1
