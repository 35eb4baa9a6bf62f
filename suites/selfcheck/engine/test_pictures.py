"""What the pictures of a run show is what its history says."""

from __future__ import annotations

from functools import cache

import pytest

from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.pictures.of_runs import PICTURES, STATES, pictures_of, state_machines
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case
from holdfast.harness.model.events import CheckpointCompleted, SourceEmitted
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.picture import (
    DrawnMachine,
    Film,
    PausePicture,
    Picture,
    RecoveryPicture,
    SharedPicture,
    StreamPicture,
)
from holdfast.harness.model.records import Output
from holdfast.suites.selfcheck.oracles.legal import legal_run

CASES = {case.id: case for case in registry.cases()}


@cache
def history_of(case: str) -> History:
    return run_plan(CASES[case].plan_for(0), registry.system("reference"), registry.toolbox()).history


def made(name: str, case: str) -> Picture:
    (picture,) = pictures_of([name], history_of(case), state_machines(registry.system("reference")))
    return picture


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.pictures], ids=lambda case: case.id)
def test_a_case_names_pictures_that_there_are(case: Case) -> None:
    machines = {f"{STATES}{machine.name}" for machine in state_machines(registry.system("reference"))}
    assert set(case.pictures) <= set(PICTURES) | machines


def test_every_picture_is_asked_for_by_a_case() -> None:
    asked = {name for case in CASES.values() for name in case.pictures}
    assert set(PICTURES) <= asked


def test_the_seven_steps_are_those_of_the_seed() -> None:
    """seeds/002: offsets 3 and 4, even 8 and odd 8; record 4 of the first source waits, and then makes even 12."""
    film = made("seven-steps", "barriers/worked-example-aligned")
    assert isinstance(film, Film)
    assert len(film.scenes) == 7
    steps = [{each.name: each for each in scene.subtasks} for scene in film.scenes]
    held = {"source[0]": "offset 3", "source[1]": "offset 4", "sum[0]": "odd 8", "sum[1]": "even 8"}
    assert {name: steps[0][name].words for name in held} == held
    assert steps[1]["source[0]"].down == ("trigger 1",)
    assert [steps[2][f"source[{i}]"].snapshot for i in (0, 1)] == ["offset 3", "offset 4"]
    waiting = {(each.sender, each.receiver): each for each in film.scenes[4].channels}["source[0]", "sum[1]"]
    assert waiting.blocked == 1
    assert [(each.words, each.after) for each in waiting.elements] == [("4", True)]
    assert (steps[5]["sum[1]"].snapshot, steps[5]["sum[1]"].words) == ("even 8", "even 12")
    assert film.scenes[6].coordinator == "checkpoint 1 is complete"
    assert all(each.acknowledged for each in film.scenes[6].subtasks)


def test_sources_are_what_nothing_feeds_whatever_they_are_called() -> None:
    """A run whose sources are `left` and `right` could not be drawn."""
    film = made("seven-steps", "operators/several-inputs-wait")
    assert isinstance(film, Film)
    taken = {each.name for each in film.scenes[2].subtasks if each.snapshot}
    assert {"left[0]", "right[0]"} <= taken


def test_nothing_behind_a_barrier_is_processed_in_the_film_of_an_alignment() -> None:
    film = made("alignment", "barriers/alignment")
    assert isinstance(film, Film)
    begins, aligns, snapshot, goes_on = film.scenes
    blocked = {(each.sender, each.receiver) for each in begins.channels if each.blocked}
    assert blocked
    for scene in (aligns, snapshot):
        held = [each for each in scene.channels if (each.sender, each.receiver) in blocked]
        assert all(element.after for channel in held for element in channel.elements)
        assert any(channel.elements for channel in held)
    assert not any(each.blocked for each in goes_on.channels)


def test_a_checkpoint_goes_down_the_graph() -> None:
    film = made("trigger-to-complete", "barriers/consistent-cut")
    assert isinstance(film, Film)
    assert [len(column) for column in film.columns] == [2, 2, 2]
    for number, column in enumerate(film.columns, start=1):
        taken = {each.name for each in film.scenes[number].subtasks if each.snapshot}
        assert set(column) <= taken
    assert [scene.at_ms for scene in film.scenes] == sorted(scene.at_ms for scene in film.scenes)


def test_segments_of_a_stream_are_in_order() -> None:
    picture = made("stream", "barriers/channel-order")
    assert isinstance(picture, StreamPicture)
    checkpoints = [segment.checkpoint for segment in picture.segments]
    assert checkpoints == sorted(checkpoints)
    numbers = [
        int(word)
        for segment in picture.segments
        for each in segment.elements
        for word in each.split(", ")
        if word.isdigit()
    ]
    assert numbers == sorted(numbers)


def test_no_checkpoint_begins_before_its_pause_is_over() -> None:
    picture = made("pause", "observability/idle-gap")
    assert isinstance(picture, PausePicture)
    assert (picture.interval_ms, picture.pause_ms) == (40, 60)
    assert all(
        later.start_ms >= each.end_ms + 60 for each, later in zip(picture.spans, picture.spans[1:], strict=False)
    )


def test_the_sources_go_back_to_what_was_restored() -> None:
    case = "recovery/latest-checkpoint"
    picture = made("recovery", case)
    assert isinstance(picture, RecoveryPicture)
    positions = {each.checkpoint: each.positions for each in history_of(case).of(CheckpointCompleted)}
    _, restored = picture.restores[0]
    second = {line.partition: line.points[0][1] for line in picture.lines if line.attempt == 2}
    assert tuple(second[partition] for partition in sorted(second)) == positions[restored]
    reached = {line.partition: line.points[-1][1] for line in picture.lines if line.attempt == 1}
    emitted = [each.next_offset for each in history_of(case).of(SourceEmitted) if each.attempt == 1]
    assert max(reached.values()) == max(emitted)


def test_a_machine_counts_the_steps_of_a_run() -> None:
    picture = made(f"{STATES}checkpoint", "coordinator/decline")
    assert isinstance(picture, DrawnMachine)
    taken = dict(zip((step.on for step in picture.machine.steps), picture.taken, strict=True))
    assert taken["checkpoint_completed"] == len(history_of("coordinator/decline").of(CheckpointCompleted))


@pytest.mark.parametrize("name", PICTURES)
def test_a_run_that_says_little_has_no_picture_and_breaks_nothing(name: str) -> None:
    whole = legal_run()
    for length in (0, 1, 20, 60, 120, len(whole.events)):
        end = RunEnd(reached=False, problem="cut short")
        history = History(whole.plan, whole.claims, whole.inputs, Output(), whole.events[:length], end)
        assert len(pictures_of([name], history, ())) <= 1


def test_shared_files_are_those_of_the_golden_run() -> None:
    """seeds/001: files 1, 2 and 3 are merged into 123 and go with CP2, behind CP4."""
    picture = made("shared-files", "incremental/golden-run")
    assert isinstance(picture, SharedPicture)
    assert picture.checkpoints[:3] == ((1, 3), (2, 4), (3, 5))
    rows = {row.name: row for row in picture.rows}
    assert {name: (rows[name].brought, rows[name].users[:2]) for name in ("1", "4", "123", "456")} == {
        "1": (1, (1, 2)),
        "4": (2, (2, 3)),
        "123": (3, (3, 4)),
        "456": (4, (4, 5)),
    }
    assert rows["4"].uses[:4] == (0, 1, 2, 1)
    assert {name: row.deleted for name, row in rows.items() if row.deleted} == {"1": 4, "2": 4, "3": 4, "4": 5, "5": 5}
