"""What the pictures of a run, and of a failure, show is what its history says, and nothing outside its window."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.pictures.diagram import MOST_LINES
from holdfast.harness.engine.pictures.failure import MOST_EVENTS, failure_picture, pictures_of_failure
from holdfast.harness.engine.pictures.of_runs import PICTURES, STATES, pictures_of, state_machines
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.finding import first_anomaly
from holdfast.harness.model.case import Case
from holdfast.harness.model.events import (
    AttemptStarted,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    NodeDied,
    SnapshotTaken,
    SourceEmitted,
    TaskStarted,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.picture import (
    ArrowKind,
    DrawnMachine,
    FailurePicture,
    Film,
    PausePicture,
    Picture,
    RecoveryPicture,
    SharedPicture,
    StepShape,
    StreamPicture,
)
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import Output
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.harness.oracles.findings import Findings, events_of
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS, injected, story
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


CHANNEL = "source[1]->sum[0]"
FAULTS = (FaultSpec("kill", Target(Role.WORKER, 1)),)


def anomaly(*witness: Event | str) -> Anomaly:
    judged = Findings("RESTORE", {"position-differs": "a source goes on elsewhere"})
    judged.violated("position-differs", "source[1] goes on at 6 instead of 5", *witness)
    return judged.verdict().anomalies[0]


def batches(first: int, last: int) -> Iterable[Event]:
    for position in range(first, last):
        yield BatchSent(channel=CHANNEL, position=position, records=1)
        yield BatchProcessed(channel=CHANNEL, position=position, records=1)


def restored_elsewhere(more: int = 0) -> tuple[History, Anomaly]:
    """Checkpoint 1 holds offset 5 of source[1], worker 1 is killed, and source[1] goes on at offset 6."""
    history = story(
        AttemptStarted(),
        TaskStarted(subtask="source[1]"),
        *batches(0, 20),
        CheckpointTriggered(checkpoint=1, participants=("source[1]",)),
        SnapshotTaken(subtask="source[1]", checkpoint=1, positions=((1, 5),)),
        BarrierSent(channel=CHANNEL, checkpoint=1),
        BarrierReceived(channel=CHANNEL, checkpoint=1),
        CheckpointCompleted(checkpoint=1),
        *batches(20, 40 + more),
        injected("kill", "worker[1]"),
        NodeDied(dead_node="worker-1", cause="kill"),
        AttemptStarted(restored_checkpoint=1),
        TaskStarted(subtask="source[1]", restored_checkpoint=1, positions=((1, 6),)),
        *batches(0, 30),
        CheckpointTriggered(checkpoint=2, participants=("source[1]",)),
        CheckpointCompleted(checkpoint=2),
        faults=FAULTS,
    )
    return history, anomaly(history.of(SnapshotTaken)[0], history.of(TaskStarted)[-1])


def drawn(history: History, found: Anomaly) -> FailurePicture:
    picture = failure_picture(history, found)
    assert picture is not None
    return picture


def test_the_witness_the_fault_and_the_checkpoint_are_there() -> None:
    picture = drawn(*restored_elsewhere())
    assert picture.title == "Around the wrong step: source[1] started from checkpoint 1 in attempt 2"
    named = {step.witness: (picture.lines[step.line], step.label) for step in picture.steps if step.witness}
    assert named == {1: ("source[1]", "snapshot 1 at 5"), 2: ("source[1]", "from CP 1 at 6")}
    assert picture.steps[picture.wrong].witness == 2
    shapes = {(picture.lines[step.line], step.shape, step.label) for step in picture.steps}
    assert {
        ("faults", StepShape.FAULT, "kill worker 1"),
        ("source[1]", StepShape.END, "killed"),
        ("coordinator", StepShape.TRIGGER, "CP 1 triggered"),
        ("coordinator", StepShape.COMPLETE, "CP 1 complete"),
        ("coordinator", StepShape.BEGIN, "attempt 2, from CP 1"),
    } <= shapes


def test_a_message_is_an_arrow_forwards_and_a_kill_one_to_the_death() -> None:
    picture = drawn(*restored_elsewhere())
    steps = picture.steps
    assert all(arrow.start < arrow.end for arrow in picture.arrows)
    found = {(steps[arrow.start].label, steps[arrow.end].label, arrow.kind) for arrow in picture.arrows}
    assert ("kill worker 1", "killed", ArrowKind.FAULT) in found
    assert ("attempt 2, from CP 1", "from CP 1 at 6", ArrowKind.MESSAGE) in found


def test_nothing_is_drawn_that_is_not_of_the_window() -> None:
    history, found = restored_elsewhere()
    picture = drawn(history, found)
    began, ended = (
        next(each for each in history.events if isinstance(each, kind)) for kind in (CheckpointTriggered, NodeDied)
    )
    start_ns = history.events[0].time_ns
    assert picture.first_ms == (began.time_ns - start_ns) / 1e6
    assert picture.last_ms == picture.steps[picture.wrong].at_ms > (ended.time_ns - start_ns) / 1e6
    assert all(picture.first_ms <= step.at_ms <= picture.last_ms for step in picture.steps)
    assert not any("2 complete" in step.label or "CP 2" in step.label for step in picture.steps)


def test_what_is_left_out_is_counted() -> None:
    history, found = restored_elsewhere(more=1_000)
    picture = drawn(history, found)
    assert picture.events > 2_000
    assert picture.drawn <= MOST_EVENTS
    assert sum(step.before for step in picture.steps) > 900
    assert f"Drawn are {picture.drawn} of {picture.events:,} events." in picture.explains


def test_a_history_without_the_witness_is_refused() -> None:
    history, found = restored_elsewhere()
    with pytest.raises(ValueError, match=r"the history holds no event \d+ of node 'worker-1.1'.*on another run"):
        failure_picture(story(AttemptStarted(), *batches(0, 9)), found)
    later = story(1, *restored_elsewhere()[0].events, faults=FAULTS)
    with pytest.raises(ValueError, match="on another run"):
        failure_picture(later, found)
    assert pictures_of_failure(later, [Verdict("RESTORE", Outcome.FAIL, (found,))]) == ()
    assert len(pictures_of_failure(history, [Verdict("RESTORE", Outcome.FAIL, (found,))])) == 1


def test_what_rows_alone_show_has_no_picture() -> None:
    history, _ = restored_elsewhere()
    assert failure_picture(history, anomaly("unit-0, poll 0: key 'a', value 8")) is None


def test_words_of_rows_are_taken_for_no_event() -> None:
    history, found = restored_elsewhere()
    row = f"{found.witness[0].partition(': ')[0]}: what a user has written"
    picture = drawn(history, anomaly(row, history.events[-1]))
    assert [step.witness for step in picture.steps if step.witness] == [2]


def test_a_wide_job_has_no_more_than_a_few_lines() -> None:
    names = [f"source[{index}]" for index in range(40)]
    snapshots = [SnapshotTaken(subtask=name, checkpoint=1) for name in names]
    trigger = CheckpointTriggered(checkpoint=1, participants=tuple(names))
    history = story(AttemptStarted(), trigger, *snapshots, parallelism=40)
    picture = drawn(history, anomaly(*history.of(SnapshotTaken)))
    assert len(picture.lines) == MOST_LINES
    assert picture.lines[picture.steps[picture.wrong].line] == "source[39]"


@pytest.mark.parametrize("oracle", BY_NAME)
def test_whatever_an_oracle_finds_is_drawn_with_its_witness(oracle: str) -> None:
    for exhibit in EXHIBITS.values():
        if exhibit.oracle != oracle or not exhibit.bad:
            continue
        history = exhibit.history()
        verdict = BY_NAME[oracle].judge(history)
        first = first_anomaly(history, [verdict])
        pictures = pictures_of_failure(history, [verdict])
        assert first is not None
        cause = first[1]
        assert len(pictures) == (cause.at is not None)
        for picture in pictures:
            named = {*events_of(cause.witness, history).values()}
            assert {step.witness for step in picture.steps if step.witness} == named
            assert all(arrow.start < arrow.end for arrow in picture.arrows)
        assert pictures == pictures_of_failure(exhibit.history(), [verdict])
