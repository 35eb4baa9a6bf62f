"""The picture of a failure shows the witness, the fault and the checkpoint, and nothing that is not of its window."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from holdfast.harness.engine.pictures.diagram import MOST_LINES
from holdfast.harness.engine.pictures.failure import MOST_EVENTS, failure_picture, pictures_of_failure
from holdfast.harness.engine.views.finding import first_anomaly
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
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import ArrowKind, FailurePicture, StepShape
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.harness.oracles.findings import Findings, events_of
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS, injected, story

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
