"""From one checkpoint to the next: it is requested, triggered, taken, acknowledged and ended, and commits end, too."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import profile
from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AckSent,
    AttemptStarted,
    BarrierReceived,
    ChannelStateTaken,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointDrawn,
    CheckpointTriggered,
    CommitFailed,
    CommitTried,
    DeclineSent,
    EndOfPartitionReceived,
    Event,
    FailureCounted,
    FinishReceived,
    JobSwitched,
    NotificationReceived,
    SavepointCompleted,
    SnapshotTaken,
    TransactionAborted,
    TransactionCommitted,
)
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.parts import by_part, part_of
from holdfast.harness.oracles.liveness.last_state import LastState
from holdfast.harness.oracles.shared.options import (
    NS_PER_MS,
    checkpoints_after_finish,
    interval_ms,
    milliseconds,
)

CLAUSES: Mapping[str, str] = {
    "no-checkpoint-begun": "a running job with an interval begins no checkpoint any more, and none is under way",
    "checkpoint-not-triggered": "an id is drawn for a checkpoint that is neither triggered nor aborted",
    "snapshot-not-acknowledged": "a subtask takes its snapshot and neither acknowledges nor declines the checkpoint",
    "checkpoint-not-ended": "a checkpoint has every acknowledgement and neither completes nor is aborted",
    "commit-not-ended": "a sink is to commit a transaction, and it neither is committed nor fails",
}
ANSWER_NS = 100 * NS_PER_MS
"""Time enough to write a snapshot where nothing is slow, for who never writes one again."""

_SUCCESS = AckOutcome.SUCCESS
"""A member by its own name, as a look-up in the enumeration is slow in Python 3.11."""


def judge(state: LastState, findings: Findings) -> None:
    """Judge steps of checkpoints that were begun and have not ended, of processes that live at the end."""
    _judge_snapshots(state, findings)
    _judge_commits(state, findings)
    if state.coordinator and not state.over:
        _judge_checkpoints(state, findings)
        _judge_beginning(state, findings)


def _judge_checkpoints(state: LastState, findings: Findings) -> None:
    """Judge the checkpoints of the last coordinator, since it last counted a failure or started an attempt."""
    history = state.history
    begun = [
        event.sequence
        for kind in (AttemptStarted, FailureCounted)
        for event in history.of(kind)
        if event.node == state.coordinator
    ]
    since = max(begun, default=-1)
    ends: list[CheckpointCompleted | CheckpointAborted | SavepointCompleted] = [
        *history.of(CheckpointCompleted), *history.of(CheckpointAborted), *history.of(SavepointCompleted)
    ]  # fmt: skip
    ended = {event.checkpoint for event in ends if event.node == state.coordinator and event.sequence > since}
    triggered = {event.checkpoint: event for event in history.of(CheckpointTriggered) if event.sequence > since}
    for drawn in history.of(CheckpointDrawn):
        if drawn.node != state.coordinator or drawn.sequence < since:
            continue
        findings.check("checkpoint-not-triggered")
        if drawn.checkpoint not in triggered and drawn.checkpoint not in ended and state.is_due(drawn.time_ns):
            message = f"id {drawn.checkpoint} is drawn, and no checkpoint is triggered"
            findings.violated("checkpoint-not-triggered", message, drawn)
    acknowledged: dict[int, dict[str, AckReceived]] = {}
    for ack in history.of(AckReceived):
        if ack.node == state.coordinator and ack.outcome is _SUCCESS and ack.sequence > since:
            acknowledged.setdefault(ack.checkpoint, {})[ack.subtask] = ack
    for checkpoint, acks in acknowledged.items():
        event = triggered.get(checkpoint)
        if event is None or event.node != state.coordinator or not acks.keys() >= set(event.participants):
            continue
        findings.check("checkpoint-not-ended")
        last = max(acks.values(), key=lambda ack: ack.sequence)
        if checkpoint not in ended and state.is_due(last.time_ns):
            message = f"checkpoint {checkpoint} has every acknowledgement and does not end"
            findings.violated("checkpoint-not-ended", message, event, last)


def _judge_beginning(state: LastState, findings: Findings) -> None:
    """Judge a run that stands still: two intervals and pauses have passed since the last event of a checkpoint at the
    coordinator. A job that takes none when some tasks have finished is not judged."""
    history = state.history
    interval_ns = (interval_ms(history.plan) + milliseconds(history.plan, profile.MIN_PAUSE, 0)) * NS_PER_MS
    triggers = history.of(CheckpointTriggered)
    findings.check("no-checkpoint-begun", len(triggers))
    finished = bool(history.of(FinishReceived)) and not checkpoints_after_finish(history.plan)
    if (
        history.end.reached
        or not interval_ns
        or not state.runs
        or state.switched is None
        or finished
        or state.all_finished
    ):
        return
    last: Event = state.switched
    ends = (CheckpointCompleted, CheckpointAborted, SavepointCompleted)
    for kind in (CheckpointDrawn, CheckpointTriggered, AckReceived, *ends):
        events = [event for event in history.of(kind)[-1:] if event.node == state.coordinator]
        last = max((last, *events), key=lambda event: event.sequence)
    nothing_is_under_way = isinstance(last, (*ends, JobSwitched))
    if nothing_is_under_way and state.is_due(last.time_ns + 2 * interval_ns):
        findings.violated("no-checkpoint-begun", "no checkpoint begins any more", last)


def _judge_snapshots(state: LastState, findings: Findings) -> None:
    """Judge the snapshots of subtasks that run on, since each last acknowledged: a completed checkpoint makes older
    ones needless, and so does an abort unless there was time for an acknowledgement before."""
    history = state.history
    answers: list[AckSent | DeclineSent] = [*history.of(AckSent), *history.of(DeclineSent)]
    findings.check("snapshot-not-acknowledged", len(answers))
    completions = [notice for notice in history.of(NotificationReceived) if notice.completed]
    answered: dict[tuple[int, str], int] = {}
    for answer in (*answers, *completions):
        key = answer.attempt, answer.subtask
        answered[key] = max(answered.get(key, 0), answer.checkpoint)
    for snapshot in history.of(SnapshotTaken):
        key = snapshot.attempt, snapshot.subtask
        if snapshot.checkpoint <= answered.get(key, 0):  # Nearly all are.
            continue
        task = state.task(snapshot.subtask)
        if task is None or task.attempt != snapshot.attempt:
            continue
        notices = by_part(history, NotificationReceived).all.get(part_of(snapshot), ())
        aborted_ns = [notice.time_ns for notice in notices if not notice.completed]
        until_ns = aborted_ns[0] if aborted_ns else history.end.ended_ns
        if until_ns - snapshot.time_ns < ANSWER_NS or not state.is_due(snapshot.time_ns):
            continue
        if _in_flight_is_known(state, snapshot):
            message = f"{snapshot.subtask} has taken its snapshot {snapshot.checkpoint} and does not acknowledge it"
            findings.violated("snapshot-not-acknowledged", message, snapshot)


def _in_flight_is_known(state: LastState, snapshot: SnapshotTaken) -> bool:
    """Whether the barriers of a checkpoint are through at either side of a subtask, whichever way they took."""
    history, layout = state.history, state.layout
    if part_of(snapshot) in by_part(history, ChannelStateTaken).things:
        return True
    if snapshot.subtask not in layout.inputs or layout.feedback:
        return False
    through = {
        event.channel
        for event in history.of(BarrierReceived)
        if (event.attempt, event.checkpoint) == (snapshot.attempt, snapshot.checkpoint)
    }
    through |= {event.channel for event in history.of(EndOfPartitionReceived) if event.attempt == snapshot.attempt}
    return through.issuperset((*layout.inputs[snapshot.subtask], *layout.outputs[snapshot.subtask]))


def _judge_commits(state: LastState, findings: Findings) -> None:
    """Commits of subtasks that still run in the attempt in which they were notified."""
    history = state.history
    ends: list[TransactionCommitted | CommitFailed | TransactionAborted] = [
        *history.of(TransactionCommitted), *history.of(CommitFailed), *history.of(TransactionAborted)
    ]  # fmt: skip
    ended = {(event.attempt, event.transaction) for event in ends if event.transaction}
    findings.check("commit-not-ended", len(ended))
    for tried in history.of(CommitTried):
        task = state.task(tried.subtask)
        if (tried.attempt, tried.transaction) in ended or task is None or task.attempt != tried.attempt:
            continue
        if state.is_due(tried.time_ns):
            message = f"{tried.transaction} of {tried.subtask} is to be committed, and neither is nor fails"
            findings.violated("commit-not-ended", message, tried)
