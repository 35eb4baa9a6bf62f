"""Faults of processes: what proves a death, a successor, work done twice and a next version, and what does not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.faults.upgrade import upgrade
from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AckSent,
    AttemptStarted,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    JobStatus,
    JobSwitched,
    NodeDied,
    NodeStarted,
    RowsVisible,
    SourceEmitted,
    SplitsLeft,
)
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.selfcheck.faults.scene import WORKER, at, emitted, landed

KILL = FaultSpec("kill", WORKER)


def died(node: str, cause: str = "kill", time_ms: float = 101) -> list[Event]:
    return [at(time_ms, "harness.0", NodeDied(dead_node=node, cause=cause))]


@pytest.mark.parametrize("node", ["worker-1.0", "worker-1.3"])
@pytest.mark.parametrize("cause", ["kill", "killed", "SIGKILL"])
def test_any_life_of_the_process_may_have_died(node: str, cause: str) -> None:
    assert landed(KILL, died(node, cause), end_ms=None)


@pytest.mark.parametrize(("completed_ms", "expected"), [((60, 99), True), ((60,), False), ((60, 102), False)])
def test_the_checkpoints_that_it_waited_for_completed_before_the_death(
    completed_ms: tuple[float, ...], expected: bool
) -> None:
    spec = FaultSpec("kill", WORKER, Schedule(after_checkpoint=2))
    completed = [at(ms, "coordinator.0", CheckpointCompleted(checkpoint=n)) for n, ms in enumerate(completed_ms, 1)]
    assert landed(spec, [*completed, *died("worker-1.0")]) is expected


@pytest.mark.parametrize(("records", "unread"), [(2, True), (1, False)])
def test_a_kill_while_input_is_unread(records: int, unread: bool) -> None:
    spec = FaultSpec("kill", WORKER, parameters={"unread": 1})
    death = at(101, "harness.0", NodeDied(dead_node="worker-1.0", cause="kill"))
    later = at(150, "worker-0.0", SourceEmitted(subtask="source[0]", partition=0, first_offset=1, next_offset=records))
    assert landed(spec, [emitted(50, "worker-0.0"), death, later], records=records) is unread


@pytest.mark.parametrize("step", [AckReceived(checkpoint=1, subtask="sink[1]", outcome=AckOutcome.SUCCESS),
                                  SplitsLeft(checkpoint=1, vertex="source", splits=())])  # fmt: skip
def test_an_enumerator_adds_its_part_before_the_metadata_is_published(step: Event) -> None:
    spec = FaultSpec("kill", COORDINATOR, Schedule(gate=Gate("publish-metadata", COORDINATOR)))
    assert landed(spec, [at(98, "coordinator.0", step), *died("coordinator.0")])


PAUSE = FaultSpec("pause", WORKER, duration_ms=100)


@pytest.mark.parametrize(("visible_ms", "expected"), [(201, True), (150, False)])
def test_a_process_seen_from_outside_is_heard_through_its_output(visible_ms: int, expected: bool) -> None:
    rows = at(visible_ms, "reader.0", RowsVisible(name="version-1", poll=9, records=1, checksum=0))
    life = at(1, "worker-1.0", NodeStarted())
    fed = [emitted(time, "source.0") for time in (120, 180)]
    assert landed(PAUSE, [life, rows, *fed], end_ms=199) is expected


SPEC = FaultSpec("supersede", Target(Role.COORDINATOR))
FORMER, SUCCESSOR = "coordinator.0", "coordinator.1"


def story(*events: Event, spec: FaultSpec = SPEC) -> bool | None:
    return landed(spec, [at(0, FORMER, NodeStarted()), *events])


def says(time_ms: float, node: str = FORMER) -> Event:
    return at(time_ms, node, JobSwitched(status=JobStatus.RESTARTING))


@pytest.mark.parametrize(("completed_ms", "lands"), [(99, False), (103, False), (106, True)])
def test_where_it_must_stop_within_a_checkpoint(completed_ms: float, lands: bool) -> None:
    """A successor may complete it, but one that begins from it has nothing to do again."""
    spec = replace(SPEC, parameters={"unfinished": 1})
    begun = at(90, FORMER, CheckpointTriggered(checkpoint=1, participants=()))
    done = at(completed_ms, FORMER if completed_ms < 100 else SUCCESSOR, CheckpointCompleted(checkpoint=1))
    attempt = at(105, SUCCESSOR, AttemptStarted())
    assert story(begun, done, at(101, SUCCESSOR, NodeStarted()), attempt, says(201), spec=spec) is lands


def test_what_it_begins_beside_its_successor_is_not_what_it_stopped_within() -> None:
    spec = replace(SPEC, parameters={"unfinished": 1})
    before = (
        at(80, FORMER, CheckpointTriggered(checkpoint=1, participants=())),
        at(90, FORMER, CheckpointCompleted(checkpoint=1)),
    )
    late = at(103, FORMER, CheckpointTriggered(checkpoint=2, participants=()))
    attempt = at(105, SUCCESSOR, AttemptStarted())
    assert not story(*before, at(101, SUCCESSOR, NodeStarted()), late, attempt, says(201), spec=spec)


REPLAY = FaultSpec("replay", COORDINATOR)


def completed(checkpoint: int, time_ms: float, position: int) -> Event:
    return at(time_ms, "coordinator.0", CheckpointCompleted(checkpoint=checkpoint, positions=(position,)))


def acknowledging(subtask: str = "sink[1]", node: str = "worker-1.0") -> Event:
    return at(98, node, AckSent(subtask=subtask, checkpoint=1))


def says_at(node: str, *times_ms: float) -> list[Event]:
    return [emitted(time_ms, node) for time_ms in times_ms]


def born(time_ms: float, node: str) -> Event:
    return at(time_ms, node, NodeStarted())


AIMED = FaultSpec("kill", WORKER, Schedule(gate=Gate("acknowledge", WORKER, vertex="sink")))
WITHOUT_STEP = FaultSpec("kill", WORKER, Schedule(gate=Gate("read-state", WORKER)))
DEATH = died("worker-1.0")
OURS, OTHERS, NEXT = "worker-1.0", "worker-0.0", "worker-1.1"
NEW_LIFE = says_at(NEXT, *range(125, 200, 5))
FORMER_BEGAN, SUCCEEDED = born(0, FORMER), born(101, SUCCESSOR)
EFFECTS: dict[str, tuple[FaultSpec, list[Event]]] = {
    "a part of the process may have lives of its own": (KILL, died("worker-1/python-worker.2")),
    "the coordinator is a process too": (FaultSpec("kill", COORDINATOR), died("coordinator.0")),
    "the last step leads to the effect": (AIMED, [*says_at(OURS, 97), acknowledging(), *DEATH]),
    "others do something afterwards": (AIMED, [acknowledging(), *DEATH, *says_at(OTHERS, 99), *says_at(NEXT, 103)]),
    "without a recorded step the death is enough": (WITHOUT_STEP, DEATH),
    "silence while another node goes on": (PAUSE, [*says_at(OURS, 99, 201), *says_at(OTHERS, 150)]),
    "it still speaks around the signals": (PAUSE, [*says_at(OURS, 101, 199), *says_at(OTHERS, 150)]),
    "silence everywhere ends with the pause": (PAUSE, says_at(OURS, 99, 200.1)),
    "a pause ends with the life that was paused": (
        PAUSE,
        [*says_at(OURS, 99), *says_at(OTHERS, 110), *died(OURS, time_ms=120), *NEW_LIFE],
    ),
    "a successor that speaks does not break the silence": (PAUSE, [*says_at(OURS, 99), born(120, NEXT), *NEW_LIFE]),
    "it came back": (SPEC, [FORMER_BEGAN, SUCCEEDED, says(201)]),
    "a checkpoint completes again": (REPLAY, [completed(1, 50, 3), completed(2, 90, 5), completed(2, 150, 5)]),
    "it completes for the first time while the job is stopped": (
        REPLAY,
        [completed(1, 50, 3), completed(2, 110, 5), completed(2, 150, 5)],
    ),
}
NO_EFFECTS: dict[str, tuple[FaultSpec, list[Event]]] = {
    **{
        f"the death of {node}": (KILL, died(node))
        for node in ("worker-0.0", "worker-10.0", "worker-11.1", "coordinator.0", "worker-0/python-worker.0")
    },
    "a death of another cause": (KILL, died(OURS, cause="exit code 1")),
    "an earlier death": (KILL, died(OURS, time_ms=99)),
    "a node that went on was not held": (AIMED, [acknowledging(), *says_at(OURS, 99), *DEATH]),
    "the effect of another vertex": (AIMED, [acknowledging("sum[1]"), *DEATH]),
    "the effect of another node": (AIMED, [acknowledging(node=OTHERS), *DEATH]),
    "no death": (WITHOUT_STEP, []),
    "a process that goes on": (PAUSE, [*says_at(OURS, *range(100, 200, 20)), *says_at(OTHERS, 150)]),
    "silence everywhere": (PAUSE, [*says_at(OURS, 99), *says_at(OTHERS, 201)]),
    "silence everywhere beyond the pause": (PAUSE, says_at(OURS, 99, 240)),
    "who died at once is not paused": (PAUSE, [*died(OURS, time_ms=100), *NEW_LIFE]),
    "who goes on beside a successor": (PAUSE, [*says_at(OURS, *range(105, 200, 5)), born(120, NEXT), *NEW_LIFE]),
    "a process that never says anything": (PAUSE, [born(1, OURS), *says_at(OTHERS, 150)]),
    "it never said anything again": (SPEC, [FORMER_BEGAN, SUCCEEDED, says(150, SUCCESSOR)]),
    "nobody took over": (SPEC, [FORMER_BEGAN, says(201)]),
    "it was dead when its successor began": (SPEC, [FORMER_BEGAN, *died(FORMER, time_ms=50), SUCCEEDED, says(201)]),
    "its successor had begun before": (SPEC, [FORMER_BEGAN, born(90, SUCCESSOR), says(201)]),
    "only new checkpoints": (REPLAY, [completed(1, 50, 3), completed(2, 90, 5), completed(3, 150, 7)]),
    "a checkpoint again before the fault": (REPLAY, [completed(1, 50, 3), completed(1, 60, 3), completed(2, 150, 5)]),
}


@pytest.mark.parametrize("what", EFFECTS)
def test_its_effect_proves_a_fault(what: str) -> None:
    assert landed(*EFFECTS[what])


@pytest.mark.parametrize("what", NO_EFFECTS)
def test_a_near_miss_is_no_proof(what: str) -> None:
    assert not landed(*NO_EFFECTS[what])


@pytest.mark.parametrize(("visible_ms", "expected"), [(None, False), (40, False), (95, True), (160, False)])
def test_an_empty_checkpoint_proves_nothing_unless_rows_came_of_it(visible_ms: float | None, expected: bool) -> None:
    events = [completed(1, 50, 3), completed(2, 90, 3), completed(2, 150, 3)]
    if visible_ms is not None:
        events.append(at(visible_ms, "reader.0", RowsVisible(name="batch", poll=1, records=1, checksum=0)))
    assert landed(REPLAY, events) is expected


@pytest.mark.parametrize(("visible_ms", "expected"), [((), True), ((40,), False), ((40, 95), True), ((95,), True)])
def test_input_of_which_no_row_came_proves_nothing_where_rows_come(
    visible_ms: tuple[float, ...], expected: bool
) -> None:
    """A filter may leave nothing of a batch; a query that keeps all in its state shows no row for long."""
    rows = [at(each, "reader.0", RowsVisible(name="batch", poll=1, records=1, checksum=0)) for each in visible_ms]
    events = sorted(
        [completed(1, 50, 3), completed(2, 90, 5), completed(2, 150, 5), *rows], key=lambda each: each.time_ns
    )
    assert landed(REPLAY, events) is expected


@pytest.mark.parametrize(
    ("before_ms", "behind_ms", "expected"),
    [(900, 1_000, True), (1_000, 1_999, False), (0, 0, False), (None, 1_000, False), (900, None, False)],
    ids=["passed-an-end", "within-one", "stood", "unknown-before", "unknown-behind"],
)
def test_where_windows_are_wanted_the_watermark_has_passed_the_end_of_one(
    before_ms: int | None, behind_ms: int | None, expected: bool
) -> None:
    spec = FaultSpec("replay", COORDINATOR, parameters={"windows": 1})
    times = [(1, 50, 3, before_ms), (2, 90, 5, behind_ms), (2, 150, 5, behind_ms)]
    events = [
        at(
            time_ms,
            "coordinator.0",
            CheckpointCompleted(checkpoint=number, positions=(end,), watermark_ms=watermark_ms),
        )
        for number, time_ms, end, watermark_ms in times
    ]
    assert landed(spec, events) is expected


def test_the_first_checkpoint_has_passed_no_window() -> None:
    spec = FaultSpec("replay", COORDINATOR, parameters={"windows": 1})
    twice = [CheckpointCompleted(checkpoint=1, positions=(3,), watermark_ms=5_000) for _ in range(2)]
    assert not landed(
        spec, [at(time_ms, "coordinator.0", each) for time_ms, each in zip((50, 150), twice, strict=True)]
    )


@pytest.mark.parametrize(("completed_ms", "unfinished"), [(90, False), (102, True), (None, True)])
def test_a_kill_in_the_middle_of_a_checkpoint(completed_ms: float | None, unfinished: bool) -> None:
    spec = FaultSpec("kill", COORDINATOR, parameters={"unfinished": 1})
    events = [
        completed(1, 50, 3),
        at(80, "coordinator.0", CheckpointTriggered(checkpoint=2, participants=())),
        at(101, "harness.0", NodeDied(dead_node="coordinator.0", cause="kill")),
    ]
    if completed_ms is not None:
        events.append(completed(2, completed_ms, 5))
    assert landed(spec, events) is unfinished


def test_a_kill_before_the_first_checkpoint_is_in_none() -> None:
    spec = FaultSpec("kill", COORDINATOR, parameters={"unfinished": 1})
    assert not landed(spec, [at(101, "harness.0", NodeDied(dead_node="coordinator.0", cause="kill"))])


STOPPED, REPLAYED = upgrade("stop"), upgrade("replay")
BEGUN = (2, 130)


def started(attempt: int, time_ms: float) -> Event:
    return at(time_ms, "coordinator.1", AttemptStarted(attempt=attempt, restored_checkpoint=1))


def completed_checkpoint(attempt: int, time_ms: float, checkpoint: int, position: int) -> Event:
    return at(
        time_ms,
        "coordinator.1",
        CheckpointCompleted(attempt=attempt, checkpoint=checkpoint, positions=(position,)),
    )


FIRST = [completed_checkpoint(1, 50, 1, 3), completed_checkpoint(1, 90, 2, 5)]


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_the_next_version_completed_a_checkpoint(way: str) -> None:
    assert landed(upgrade(way), [*FIRST, started(*BEGUN), completed_checkpoint(2, 150, 3, 7)])


@pytest.mark.parametrize(
    "events",
    [
        [],
        [completed_checkpoint(1, 110, 3, 7)],
        [started(*BEGUN)],
        [completed_checkpoint(1, 110, 3, 7), started(*BEGUN)],
        [started(2, 80), completed_checkpoint(2, 150, 3, 7)],
    ],
    ids=["nothing", "of-the-former", "none-of-the-next", "of-the-former-alone", "begun-before-the-fault"],
)
def test_nothing_of_the_next_version_proves_nothing(events: list[Event]) -> None:
    assert not landed(STOPPED, [*FIRST, *events])


@pytest.mark.parametrize(("checkpoint", "expected"), [(2, True), (3, False)])
def test_where_that_is_the_way_it_did_a_checkpoint_again(checkpoint: int, expected: bool) -> None:
    events = [*FIRST, started(*BEGUN), completed_checkpoint(2, 150, checkpoint, 5)]
    assert landed(REPLAYED, events) is expected


@pytest.mark.parametrize(("time_ms", "expected"), [(150, True), (95, False)])
def test_one_that_fails_has_taken_its_place(time_ms: float, expected: bool) -> None:
    failed = at(time_ms, "coordinator.1", JobSwitched(status=JobStatus.FAILED, reason="it does not start"))
    assert landed(REPLAYED, [*FIRST, failed]) is expected
