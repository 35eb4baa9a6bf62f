"""COORD: the coordinator's trace is one that a checkpoint coordinator may write (RULES CRD, REC-01)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.coordinator.coordinator_model import CoordinatorModel
from holdfast.harness.oracles.coordinator.lifecycle import judge_lifecycle
from holdfast.harness.oracles.coordinator.memory import CLAUSES as OF_MEMORY
from holdfast.harness.oracles.coordinator.memory import judge_memory
from holdfast.harness.oracles.coordinator.observed_storage import PUBLISHED, judge_published
from holdfast.harness.oracles.coordinator.splits import CLAUSES as OF_SPLITS
from holdfast.harness.oracles.coordinator.splits import judge_assignments, judge_splits
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.parts import by_part, part_of
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS, milliseconds
from holdfast.harness.oracles.shared.stated_options import texts

DEFAULT_TIMEOUT_MS = 600_000
SLACK_NS = 50 * NS_PER_MS
"""How late a timer may be, besides a tenth of its delay."""
TURN_NS = 20 * NS_PER_MS
"""What was received in front of a timer that is due may take so long, where the machine is busy."""
STANDSTILL_NS = 500 * NS_PER_MS
"""For so long a coordinator that reports nothing may not have been scheduled when the run ends."""


class CoordOracle:
    """Follows the coordinator."""

    name = "COORD"
    title = "checkpoint lifecycle"
    invariant = "A checkpoint has one end, completes only when all acks are in and durable, and is what recovery uses."
    clauses: Mapping[str, str] = {
        "ids-not-increasing": "a checkpoint is triggered under an id that is not above all earlier ones",
        "wrong-first-id": "a job that restores checkpoint k of an earlier one does not begin with id k + 1",
        "triggered-not-a-source": "a trigger goes to a subtask that has inputs from running subtasks",
        "begun-without-barrier": "a subtask with inputs takes its snapshot before any barrier of the checkpoint came",
        "two-ends": "a checkpoint completes and is aborted, or does one of them twice",
        "completed-without-ack": "a checkpoint completes though an ack of a participant and its attempt is missing",
        "notified-before-durable": "a checkpoint completes, or a task is notified, before its metadata is published",
        **PUBLISHED,
        "ack-counted-wrongly": "a repeated ack, or one of another attempt, of an ended or of no checkpoint is counted",
        "completed-after-decline": "a checkpoint completes after a participant declined it",
        "abort-not-notified": "a participant is not notified of an abort although the attempt runs on",
        "state-not-discarded": "files of an ack that counts for nothing are in the storage at the end",
        "not-expired": "a checkpoint is pending longer than its timeout",
        "too-many-pending": "more checkpoints are pending than max-concurrent-checkpoints",
        "wrong-reason": "a checkpoint is aborted for a reason that its history contradicts",
        "not-subsumed": "a checkpoint that waits for acks is not aborted when a later one completes",
        "notices-not-increasing": "a task is notified of a completion after that of a later checkpoint",
        "pending-at-restart": "an attempt starts while a checkpoint of the one before is still pending",
        "slot-not-freed": "no checkpoint is triggered any more after one was aborted",
        "restored-not-latest": "an attempt restores another checkpoint than the latest completed one",
        "tasks-restored-differently": "a task restores another checkpoint than its attempt",
        **OF_SPLITS,
        **OF_MEMORY,
        "started-late-attempt": "an attempt starts under a number that is not above all earlier ones",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.AttemptStarted, events.CheckpointTriggered, events.AckReceived, events.CheckpointCompleted,
        events.CheckpointAborted,
    )  # fmt: skip
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        "wrong-first-id": (events.CheckpointDrawn, events.JobSubmitted),
        "triggered-not-a-source": (events.TriggerSent,),
        "begun-without-barrier": (events.SnapshotTaken, events.BarrierReceived),
        "notified-before-durable": (events.MetadataPublished,),
        **dict.fromkeys(PUBLISHED, (events.MetadataPublished,)),
        "completed-after-decline": (events.DeclineReceived,),
        "abort-not-notified": (events.NotificationSent,),
        "notices-not-increasing": (events.NotificationReceived,),
        "state-not-discarded": (events.AckSent, events.MetadataPublished),
        "wrong-reason": (events.DeclineReceived,),
        "tasks-restored-differently": (events.TaskStarted,),
        **dict.fromkeys(OF_SPLITS, (events.SplitsAssigned, events.SplitsReceived)),
        **dict.fromkeys(OF_MEMORY, (events.AckSent, events.MetadataPublished)),
    }
    observed = frozenset({*PUBLISHED, "state-not-discarded"})

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        coordinator = judge_lifecycle(history, findings)
        exempt = exemptions(history)
        if not exempt.coordinator_paused:  # It would be late with everything
            # The end of the run stands on the harness's clock: the simulator has one clock, and so has one machine
            _judge_expiry(history, coordinator, exempt, findings)
            _judge_slot(history, coordinator, exempt, findings)
        _judge_discards(history, coordinator, exempt, findings)
        _judge_beginnings(history, findings)
        _judge_spoilt_restores(history, exempt, findings)
        judge_splits(history, findings)
        judge_assignments(history, findings)
        judge_published(history, exempt, findings)
        judge_memory(history, findings)
        return findings.verdict(history)


def _judge_expiry(history: History, coordinator: CoordinatorModel, exempt: Exemptions, findings: Findings) -> None:
    """A checkpoint that waits for acks ends when its timeout has passed."""
    timeout_ns = milliseconds(history.plan, profile.TIMEOUT, DEFAULT_TIMEOUT_MS) * NS_PER_MS
    limit_ns = timeout_ns + timeout_ns // 10 + SLACK_NS
    for checkpoint in coordinator.checkpoints.values():
        triggered, ended = checkpoint.triggered, checkpoint.ended
        if triggered is None:
            continue
        if checkpoint.full_ns is not None and checkpoint.full_ns - triggered.time_ns <= limit_ns:
            continue  # All acks came in time: what lasts is the publication
        if ended is None and (triggered.node in exempt.dead or triggered.node != coordinator.node):
            continue
        until_ns = ended.time_ns if ended else history.end.ended_ns
        lasted_ns = until_ns - triggered.time_ns
        if lasted_ns < timeout_ns or (ended is not None and ended.node != triggered.node):
            continue
        findings.check("not-expired")
        if lasted_ns - exempt.stalls.within_ns(triggered.time_ns, until_ns) <= limit_ns:
            continue
        if exempt.real_time and _stood_still(history, triggered, timeout_ns, lasted_ns, over=ended is None):
            late = "is pending at the end" if ended is None else "expired late"
            findings.inform(f"checkpoint {triggered.checkpoint} {late}: its coordinator had no turn before")
            continue
        message = (
            f"checkpoint {triggered.checkpoint} is pending for {lasted_ns // NS_PER_MS} ms, "
            f"its timeout is {timeout_ns // NS_PER_MS} ms"
        )
        findings.violated("not-expired", message, triggered, *([ended] if ended else []))


def _stood_still(history: History, triggered: events.Event, timeout_ns: int, lasted_ns: int, *, over: bool) -> bool:
    """Whether, on a machine that others use too, the coordinator had no whole turn from the timeout to the turn in
    which it ended the checkpoint late, or to the end of the run, if it is `over` soon. What it did in one turn may
    itself stand still before the timer has its say, so only a second turn shows that the first one was over."""
    if over and lasted_ns > timeout_ns + STANDSTILL_NS:
        return False
    due_ns, turn_ns = triggered.time_ns + timeout_ns, triggered.time_ns + lasted_ns - TURN_NS
    times = [event.time_ns for event in history.events if event.node == triggered.node]
    did = sorted(time_ns for time_ns in times if due_ns < time_ns < turn_ns)
    return not any(later - earlier > TURN_NS for earlier, later in pairwise(did))


def _judge_slot(history: History, coordinator: CoordinatorModel, exempt: Exemptions, findings: Findings) -> None:
    """After an abort the next checkpoint is triggered, once nothing is broken any more and two intervals passed."""
    waiting = coordinator.slot_awaits
    if waiting is None or waiting.node in exempt.dead or profile.INTERVAL not in texts(history.plan):
        return
    pause_ms = milliseconds(history.plan, profile.INTERVAL, 0) + milliseconds(history.plan, profile.MIN_PAUSE, 0)
    since_ns = max(waiting.time_ns, history.end.healed_ns)
    idle_ns = history.end.ended_ns - since_ns - exempt.stalls.within_ns(since_ns, history.end.ended_ns)
    if idle_ns > 2 * pause_ms * NS_PER_MS + SLACK_NS:
        message = f"nothing is triggered in the {idle_ns // NS_PER_MS} ms after checkpoint {waiting.checkpoint}"
        findings.violated("slot-not-freed", message, waiting)


def _judge_discards(history: History, coordinator: CoordinatorModel, exempt: Exemptions, findings: Findings) -> None:
    """State of acks that count for nothing is gone, once the same coordinator has completed a later checkpoint."""
    listings = history.of(events.StorageListed)
    if not listings or any("delete" in failure.operation for failure in history.of(events.StorageFailed)):
        return
    named = {file.path for metadata in history.of(events.MetadataPublished) for file in metadata.files}
    left = {file.path for file in listings[-1].files if not exempt.ever_held(file.path)} - named
    left -= exempt.deletions_cut_short()
    sent = by_part(history, events.AckSent).first
    for ack in history.of(events.AckReceived):
        stated = sent.get(part_of(ack))
        if stated is None or not stated.files or ack.outcome is events.AckOutcome.DUPLICATE:
            continue
        checkpoint = coordinator.known(ack, ack.checkpoint)
        if checkpoint is None:
            continue
        since: events.Event = ack
        if ack.outcome is events.AckOutcome.SUCCESS:
            # With all acks in, the publication failed: while its outcome is unknown, the files stay on purpose (CRD-11)
            ended = checkpoint.ended
            if not isinstance(ended, events.CheckpointAborted):
                continue
            if checkpoint.full_ns is not None and ended.reason != FailureReason.FINALIZATION:
                continue
            since = ended
        if coordinator.completions.get(since.node, -1) > since.sequence:
            findings.check("state-not-discarded")
            kept = [file.path for file in stated.files if file.path in left]
            if kept:
                message = f"{', '.join(kept)} of {ack.subtask}, checkpoint {ack.checkpoint}, is never discarded"
                findings.violated("state-not-discarded", message, ack, *([since] if since is not ack else []))


def _judge_spoilt_restores(history: History, exempt: Exemptions, findings: Findings) -> None:
    """A coordinator that began to live without the metadata of a checkpoint, because the harness had spoilt them, goes
    on from a newer one that is published: it cannot know the older one."""
    if not exempt.damaged:
        return
    lives = {event.node: event for event in reversed(history.events)}
    published = by_checkpoint(history, events.MetadataPublished).first
    for started in history.of(events.AttemptStarted):
        job, restored = exempt.job_of(started), started.restored_checkpoint or 0
        metadata = published.get((job, restored))
        if metadata is None or not exempt.hold(lives[started.node], metadata.path):
            continue
        newer = [
            event
            for (other, checkpoint), event in published.items()
            if other == job and checkpoint > restored and history.position(event) < history.position(started)
        ]
        findings.check("restored-not-latest")
        if newer and exempt.hold(started, metadata.path):
            message = f"attempt {started.attempt} restores checkpoint {restored}, whose metadata the harness had spoilt"
            findings.violated("restored-not-latest", message, newer[-1], started)


def _judge_beginnings(history: History, findings: Findings) -> None:
    """Only a source begins by itself. Both events are of the subtask's own node; one that no barrier ever reaches has
    no channels of its own."""
    snapshots = by_part(history, events.SnapshotTaken).first
    for part, (barrier, *_) in by_part(history, events.BarrierReceived).all.items():
        snapshot = snapshots.get(part)
        if snapshot is None or snapshot.node != barrier.node:
            continue
        findings.check("begun-without-barrier")
        if snapshot.sequence < barrier.sequence:
            message = f"{snapshot.subtask} takes its snapshot {barrier.checkpoint} before the first barrier came"
            findings.violated("begun-without-barrier", message, snapshot, barrier)
