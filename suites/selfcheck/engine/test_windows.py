"""Which windows a run hits, that a demanded one which no run hit leaves a case and its rules open, and what a fault
waits for that counts from the start of a life."""

from __future__ import annotations

from itertools import count

import pytest

from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.cases.case_status import case_result
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.cases.swarm_case import swarm_case
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.executor.conductor import Milestones
from holdfast.harness.engine.executor.windows import windows_hit
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.case import MEANINGS, REMEDIES, Tier, Window, missed_in_words
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import (
    AttemptStarted,
    ChannelContent,
    ChannelStateRestored,
    ChannelStateTaken,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    FailureCounted,
    FileReference,
    InputAcknowledged,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    MetadataPublished,
    NodeDied,
    RescaleAccepted,
    RescaleRequested,
    RowsVisible,
    SourceEmitted,
    StateFound,
    TaskStarted,
    TransactionAborted,
    TransactionCommitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.journal import Status
from holdfast.harness.model.plan import Gate, Schedule
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.engine.results import case, missed, result, tally
from holdfast.suites.selfcheck.engine.scripted import WORKER, Checkpoints, Item, ScriptedSystem, kill, plan, played

SINK = "sink[0]"
HELD = (ChannelContent("source[0]->sum[0]", output=False, batches=((1, 4),)),)
EMPTY = (ChannelContent("source[0]->sum[0]", output=False, batches=()),)


BEGUN = CheckpointTriggered(checkpoint=2, participants=())
VISIBLE = RowsVisible(name="batch=1", poll=3, records=2, checksum=7)
DRIVER_DIED = NodeDied(dead_node="coordinator.0", cause="kill")


def story(*events: Event) -> History:
    return History(plan(), Claims(), InputLog((), ()), Output(), events, RunEnd(reached=True))


def read(attempt: int, first: int, end: int) -> SourceEmitted:
    return SourceEmitted(attempt=attempt, subtask="source[0]", partition=0, first_offset=first, next_offset=end)


def attempt(number: int, checkpoint: int | None) -> AttemptStarted:
    return AttemptStarted(attempt=number, restored_checkpoint=checkpoint)


def life(number: int, *positions: int) -> StateFound:
    return StateFound(attempt=number, positions=positions)


def precommitted(node: str = "worker-0.0") -> TransactionPrecommitted:
    return TransactionPrecommitted(node=node, subtask=SINK, transaction="t", checkpoint=1, records=2)


DIED = NodeDied(dead_node="worker-0.0", cause="kill")
FAILED = FailureCounted(attempt=1, cause="worker 0")
RUNS = JobSwitched(attempt=2, status=JobStatus.RUNNING)
ALONE = AttemptStarted(attempt=2, restored_checkpoint=1, subtasks=("source[0]",))
SUBMITTED = JobSubmitted(attempt=10, path="chk-1/_metadata", checkpoint=1)


def published(attempt: int, folder: str, state: str = "") -> MetadataPublished:
    files = (FileReference(state or f"{folder}/state", 1, 1),)
    return MetadataPublished(attempt=attempt, checkpoint=attempt, path=f"{folder}/_metadata", files=files)


WIDE = AttemptStarted(attempt=1, parallelism=3)
NARROW = AttemptStarted(attempt=2, restored_checkpoint=1, parallelism=2)
REQUIRED, ACCEPTED = RescaleRequested(attempt=1, parallelism=2), RescaleAccepted(attempt=1, parallelism=2)
ABORTED = CheckpointAborted(attempt=1, checkpoint=2, reason=FailureReason.SUSPENDED)


def pending(number: int) -> TaskStarted:
    return TaskStarted(attempt=number, subtask=SINK, restored_checkpoint=1, pending_transactions=("t",))


HITS: list[tuple[Window, list[Event]]] = [
    (Window.RESTORED_STATE, [attempt(1, None), attempt(2, 3)]),
    (Window.RESTORED_STATE, [attempt(2, 3), TaskStarted(attempt=2, subtask="sum[0]", restored_checkpoint=3)]),
    (Window.RESTORED_STATE, [CheckpointCompleted(checkpoint=1, positions=(0, 4)), attempt(2, 1)]),
    (Window.RESTORED_STATE, [life(1, 0, 0), life(2, 0, 7)]),
    (Window.READ_AGAIN, [attempt(1, None), read(1, 0, 9), attempt(2, 3), read(2, 6, 12)]),
    (Window.READ_AGAIN, [life(1, 0), read(1, 0, 9), life(2, 6), read(2, 6, 9)]),
    (Window.SENT_AGAIN, [life(1, 0), read(1, 0, 9), life(2, 6), read(2, 5, 9)]),
    (Window.SENT_WITH_NEW, [life(1, 0), read(1, 0, 9), life(2, 6), read(2, 5, 9)]),
    (Window.RESTARTED_EMPTY, [attempt(1, None), read(1, 0, 9), attempt(2, None), read(2, 0, 3)]),
    (Window.RESTARTED_EMPTY, [life(1, 0), read(1, 0, 9), life(2, 0), read(2, 0, 3)]),
    (Window.TRANSACTION_IN_DOUBT, [precommitted(), DIED]),
    (
        Window.TRANSACTION_IN_DOUBT,
        [precommitted(), DIED, TransactionCommitted(node="worker-0.1", subtask=SINK, transaction="t")],
    ),
    (Window.OVERTAKING, [ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=HELD)]),
    (Window.RESTORED_IN_FLIGHT, [ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=HELD)]),
    (Window.RESTART_STRUCK, [FAILED, DIED]),
    (Window.RESTART_STRUCK, [FAILED, attempt(2, 1), DIED, RUNS]),
    (Window.REGION_RESTARTED, [ALONE]),
    (Window.REGION_STRUCK, [ALONE, RUNS, FAILED]),
    (Window.BUILT_ON_SNAPSHOT, [published(1, "chk-1"), SUBMITTED, published(11, "chk-2", "chk-1/state")]),
    (Window.RESCALED, [WIDE, NARROW]),
    (Window.RESCALED_PENDING, [WIDE, NARROW, pending(2)]),
    (Window.RESCALE_STRUCK, [REQUIRED, DIED]),
    (Window.RESCALE_STRUCK, [REQUIRED, ACCEPTED, NARROW, DIED, RUNS]),
    (Window.RESCALE_CUT_CHECKPOINT, [REQUIRED, ACCEPTED, ABORTED]),
    (Window.OUTPUT_WITHOUT_COMMIT, [BEGUN, VISIBLE, DRIVER_DIED]),
    (Window.OUTPUT_WITHOUT_COMMIT, [BEGUN, DRIVER_DIED, VISIBLE, attempt(2, 1)]),
]
NEAR: list[tuple[Window, list[Event]]] = [
    (Window.RESTORED_STATE, [attempt(1, None), attempt(2, None)]),
    (Window.RESTORED_STATE, [attempt(1, None), TaskStarted(attempt=1, subtask="sum[0]"), attempt(2, 3)]),
    (Window.RESTORED_STATE, [life(1, 0, 0), life(2, 0, 0)]),
    (Window.READ_AGAIN, [attempt(1, None), read(1, 0, 9), attempt(2, 3), read(2, 9, 12)]),
    (Window.READ_AGAIN, [attempt(1, None), read(1, 0, 9), read(1, 9, 12), attempt(2, 3)]),
    (Window.SENT_AGAIN, [life(1, 0), read(1, 0, 9), life(2, 6), read(2, 6, 9)]),
    (Window.SENT_WITH_NEW, [life(1, 0), read(1, 0, 9), life(2, 6), read(2, 2, 6), read(2, 6, 9)]),
    (Window.RESTARTED_EMPTY, [attempt(1, None), attempt(2, None), read(2, 0, 3)]),
    (
        Window.TRANSACTION_IN_DOUBT,
        [precommitted(), TransactionCommitted(node="worker-0.0", subtask=SINK, transaction="t"), DIED],
    ),
    (
        Window.TRANSACTION_IN_DOUBT,
        [precommitted(), TransactionAborted(node="worker-0.0", subtask=SINK, transaction="t"), DIED],
    ),
    (Window.TRANSACTION_IN_DOUBT, [precommitted("worker-1.0"), DIED]),
    (Window.RESTORED_STATE, [attempt(1, None), CheckpointCompleted(checkpoint=1, positions=(0, 0)), attempt(2, 1)]),
    (
        Window.READ_AGAIN,
        [read(1, 0, 5), CheckpointCompleted(checkpoint=1, positions=(0, 0)), attempt(2, 1), read(2, 0, 5)],
    ),
    (Window.RESTART_STRUCK, [DIED, FAILED, RUNS]),
    (Window.RESTART_STRUCK, [FAILED, attempt(2, 1), RUNS, DIED]),
    (Window.REGION_RESTARTED, [attempt(2, 1)]),
    (Window.REGION_STRUCK, [ALONE, RUNS, CheckpointCompleted(checkpoint=2), FAILED]),
    (Window.REGION_STRUCK, [FAILED, ALONE, RUNS]),
    (Window.REGION_STRUCK, [attempt(2, 1), RUNS, FAILED]),
    (Window.BUILT_ON_SNAPSHOT, [published(1, "chk-1"), SUBMITTED, published(11, "chk-2", "chk-2/state")]),
    (Window.BUILT_ON_SNAPSHOT, [published(1, "chk-1"), published(1, "chk-2", "chk-1/state"), SUBMITTED]),
    (Window.BUILT_ON_SNAPSHOT, [published(1, "chk-1"), published(11, "chk-2", "chk-1/state")]),
    (Window.RESCALED, [WIDE, AttemptStarted(attempt=2, parallelism=2)]),
    (Window.RESCALED, [WIDE, JobSubmitted(attempt=1, path="chk-1", checkpoint=1), NARROW]),
    (Window.RESCALED, [WIDE, AttemptStarted(attempt=2, restored_checkpoint=1, parallelism=3)]),
    (Window.RESCALED_PENDING, [WIDE, NARROW, TaskStarted(attempt=2, subtask=SINK, restored_checkpoint=1)]),
    (Window.RESCALED_PENDING, [WIDE, pending(1), NARROW]),
    (Window.RESCALE_STRUCK, [DIED, REQUIRED, ACCEPTED, NARROW, RUNS]),
    (Window.RESCALE_STRUCK, [REQUIRED, ACCEPTED, NARROW, RUNS, DIED]),
    (Window.RESCALE_CUT_CHECKPOINT, [ABORTED, REQUIRED, ACCEPTED]),
    (Window.RESCALE_CUT_CHECKPOINT, [REQUIRED, ABORTED, ACCEPTED]),
    (Window.OVERTAKING, [ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=EMPTY)]),
    (
        Window.RESTORED_IN_FLIGHT,
        [ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=HELD, skipped=True)],
    ),
    (Window.OUTPUT_WITHOUT_COMMIT, [VISIBLE, BEGUN, DRIVER_DIED, attempt(2, 1), VISIBLE]),
    (Window.OUTPUT_WITHOUT_COMMIT, [BEGUN, VISIBLE, CheckpointCompleted(checkpoint=2), DRIVER_DIED]),
    (Window.OUTPUT_WITHOUT_COMMIT, [BEGUN, VISIBLE, DIED]),
]


@pytest.mark.parametrize(("window", "events"), HITS, ids=count())
def test_a_window_is_hit(window: Window, events: list[Event]) -> None:
    assert window in windows_hit(story(*events))


@pytest.mark.parametrize(("window", "events"), NEAR, ids=count())
def test_a_near_miss_is_no_hit(window: Window, events: list[Event]) -> None:
    assert window not in windows_hit(story(*events))


def test_each_window_has_a_hit_and_a_near_miss_and_says_what_would_hit_it() -> None:
    assert {window for window, _ in HITS} == {window for window, _ in NEAR} == set(Window)
    assert MEANINGS.keys() == REMEDIES.keys() == set(Window)
    assert missed_in_words("restored-state") == (
        "no run hit restored-state, in which a life began from state that an earlier one had persisted; "
        "what would hit it: persist state earlier, or let input arrive for longer"
    )


HIT, MISSED = {"restored-state": True}, {"restored-state": False}


@pytest.mark.parametrize(
    ("runs", "demanded", "status"),
    [
        (tally(result(windows=MISSED)), 1, Status.INCONCLUSIVE),
        (tally(result(windows=MISSED), result(windows=HIT)), 2, Status.PASS),
        (tally(result(windows=MISSED), missed(windows=HIT)), 1, Status.INCONCLUSIVE),
        (tally(missed(windows=MISSED), result(windows=MISSED)), 1, Status.INCONCLUSIVE),
    ],
    ids=[
        "never",
        "once",
        "only where the run does not count",
        "aimed at where one run counts",
    ],
)
def test_a_case_and_its_rules_stay_open_until_a_run_that_counts_hits_the_window(
    runs: Tally, demanded: int, status: Status
) -> None:
    asked = case(windows=(Window.RESTORED_STATE,))
    found = case_result(asked, Tier.SIM, demanded, runs, [], {})
    assert (found.status, found.rules["BAR-01"]) == (status, status)
    if status is Status.PASS:
        return
    [row] = rule_results([rule for rule in registry.rules() if rule.id == "BAR-01"], [asked], [found], {}, "RT")
    assert row.status is Status.INCONCLUSIVE
    assert "no run hit restored-state, in which a life began from state" in row.reason
    card = certificate([row], [found], [runs], "RT", ())
    assert card.windows_missed == ("restored-state",)


def test_a_window_that_only_a_run_aimed_at_that_does_not_count_leaves_no_case_open() -> None:
    found = case_result(case(), Tier.SIM, 1, tally(missed(windows=MISSED), result(windows={})), [], {})
    assert (found.status, found.rules["BAR-01"]) == (Status.PASS, Status.PASS)


def test_a_window_that_nobody_demands_leaves_no_case_open() -> None:
    """A run that does not count hit it, and another did not: the case was open for want of it."""
    events: list[Item] = [(5.0, attempt(1, None)), (10.0, DIED), (20.0, attempt(2, 1))]
    run, _ = played(ScriptedSystem(Checkpoints(until_ms=400), events), plan(kill(after_acknowledged=99)))
    assert run.outcome is Outcome.INCONCLUSIVE
    assert run_result(run, "area/case", 0, 1.0).windows == {}
    assert run_result(run, "area/case", 0, 1.0, [Window.RESTORED_STATE]).windows == {"restored-state": True}


def test_cases_that_recover_demand_what_shows_a_recovery() -> None:
    """Where a kill is to lead to a restore, a run without one shows nothing."""
    silent = {
        each.id
        for each in registry.cases()
        if each.id.partition("/")[0] in ("programs", "processes", "delivery", "succession", "unaligned", "sockets")
        and each.decides
        and not each.windows
        and any(
            spec.kind in ("kill", "supersede") for number in range(each.runs) for spec in each.plan_for(number).faults
        )
        and not is_control(each)
    }
    assert silent == set()


def test_progress_counts_from_the_start_of_a_life() -> None:
    schedule = Schedule(after_acknowledged=2, after_restored=1)
    milestones, held = Milestones(), []
    for event in (
        life(1, 0),
        *[InputAcknowledged(partition=0, next_offset=offset) for offset in (1, 2, 3)],
        DIED,
        life(2, 3),
        InputAcknowledged(partition=0, next_offset=4),
        CheckpointCompleted(checkpoint=1),
        attempt(3, None),
    ):
        milestones.observe(event)
        held.append(milestones.hold(schedule))
    assert held == [False] * 7 + [True, False]
    assert milestones.lacking(schedule) == "2 acknowledgements (0 in this life)"
    assert Milestones().lacking(schedule) == (
        "1 life (0 began from persisted state) and 2 acknowledgements (0 in this life)"
    )


def test_a_restore_of_a_checkpoint_that_holds_nothing_counts_for_none() -> None:
    schedule, milestones, held = Schedule(after_restored=1), Milestones(), []
    for event in (
        CheckpointCompleted(checkpoint=1, positions=(0, 0)),
        attempt(2, 1),
        CheckpointCompleted(checkpoint=2, positions=(0, 3)),
        attempt(3, 2),
    ):
        milestones.observe(event)
        held.append(milestones.hold(schedule))
    assert held == [False, False, False, True]


def test_two_faults_that_wait_for_the_same_hit_two_lives() -> None:
    lives: list[Item] = [
        (10.0, life(1, 0)),
        (20.0, InputAcknowledged(partition=0, next_offset=1)),
        (21.0, InputAcknowledged(partition=0, next_offset=2)),
        (210.0, life(2, 1)),
        (220.0, InputAcknowledged(partition=0, next_offset=3)),
    ]
    system = ScriptedSystem(lives)
    system.restart_ms = 100
    _, calls = played(system, plan(kill(after_acknowledged=1), kill(after_acknowledged=1)))
    assert [call for call in calls if "kill" in call] == ["20 kill worker[0]", "220 kill worker[0]"]


def test_a_fault_whose_time_never_comes_says_what_it_waited_for() -> None:
    fault = kill(after_acknowledged=3, after_restored=2, gate=Gate("commit", WORKER))
    run, _ = played(ScriptedSystem(Checkpoints(until_ms=400)), plan(fault))
    assert run.reason == "faults[0] (kill) never acted: it waited for 2 lives (0 began from persisted state)"


def test_drawn_plans_of_programs_place_their_faults_in_lives_and_watch_the_output_afterwards() -> None:
    """A settle window of nothing took the last row of a right program for one that came too late."""
    swarm = swarm_case(registry.system("persists-first"))
    assert set(swarm.windows) == {Window.RESTORED_STATE, Window.SENT_AGAIN}
    for seed in range(1, 200):
        drawn = swarm.plan_for(seed)
        assert drawn.bounds.settle_ms >= 300
        kills = [spec.schedule for spec in drawn.faults if spec.kind == "kill" and not spec.schedule.at_event]
        assert [each.after_restored for each in kills] == list(range(len(kills)))
        assert all(each.after_acknowledged for each in kills)
        assert any(each.gate for each in kills[1:])
        assert not any(spec.schedule.after_rows for spec in drawn.faults)
