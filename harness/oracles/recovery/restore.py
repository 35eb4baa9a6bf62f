"""RESTORE: what a checkpoint recorded is what a restore gives, as often as it is restored (RULES REC)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.recovery.moved_state import CLAUSES as MOVED
from holdfast.harness.oracles.recovery.moved_state import judge_moves
from holdfast.harness.oracles.recovery.operator_state import CLAUSES as OPERATOR_STATE
from holdfast.harness.oracles.recovery.operator_state import differ, judge_operator_state
from holdfast.harness.oracles.recovery.rescaled_restore import CLAUSES, RescaledRestores
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import members
from holdfast.harness.oracles.shared.options import gives_again
from holdfast.harness.oracles.shared.recorded import Recorded


class RestoreOracle:
    """Compares starts and audits with the snapshots that they claim to come from."""

    name = "RESTORE"
    title = "restored state"
    invariant = "Restoring a checkpoint gives the state and positions recorded at its cut, every time."
    clauses: Mapping[str, str] = {
        "state-differs": "a subtask starts with other state than it recorded in the restored checkpoint",
        "position-differs": "a source continues elsewhere than at the positions recorded in the restored checkpoint",
        "read-elsewhere": "a restored source reads from another offset than it reports",
        "channel-state-differs": "a subtask puts back other in-flight records than it recorded in the checkpoint",
        "not-initial": "an attempt that restores nothing starts with state, or elsewhere than where the input starts",
        "audit-differs": "a checkpoint that the harness restores gives something else than was recorded",
        "audit-failed": "the harness cannot restore a checkpoint that has completed, or is retained after the run",
        "recovery-not-repeated": "after an attempt failed in its restore, the next restores something older",
        **MOVED,
        **CLAUSES,
        **OPERATOR_STATE,
    }
    evidence: tuple[type[events.Event], ...] = (
        events.AttemptStarted,
        events.TaskStarted,
        events.SnapshotTaken,
        events.SourceEmitted,
    )
    observed = frozenset({"audit-differs", "audit-failed", "read-elsewhere", *MOVED})

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        snapshots = Recorded(history, events.SnapshotTaken)
        in_flight = Recorded(history, events.ChannelStateTaken)
        rescaled = RescaledRestores(history, snapshots, in_flight)
        _judge_starts(history, snapshots, rescaled, findings)
        _judge_reads(history, findings)
        _judge_channel_states(history, in_flight, rescaled, findings)
        rescaled.judge(findings)
        judge_operator_state(history, snapshots, findings)
        _judge_audits(history, snapshots, findings)
        judge_moves(history, snapshots, findings)
        _judge_repetition(history, findings)
        return findings.verdict(history)


def _summary(state: events.StateSummary | None) -> str:
    if state is None:
        return "nothing"
    return (
        f"{plural(state.records, 'record')} of {plural(state.keys, 'key')}, value {state.value}, "
        f"digest {state.digest:#018x}"
    )


def _judge_starts(
    history: History, snapshots: Recorded[events.SnapshotTaken], rescaled: RescaledRestores, findings: Findings
) -> None:
    """States and positions of starting subtasks, and where their sources then really go on."""
    firsts = history.inputs.first_offsets or (0,) * len(history.inputs.partitions)
    sockets = {source.name for source in history.plan.job.of_kind(VertexKind.SOURCE) if source.socket}
    again = gives_again(history.plan)
    awaited: dict[tuple[int, str, int], tuple[int, events.TaskStarted]] = {}
    for started in history.of(events.TaskStarted):
        checkpoint = started.restored_checkpoint
        wanted: dict[int, int] = {}
        if checkpoint is None:
            wanted = {partition: firsts[partition] for partition, _ in started.positions if partition < len(firsts)}
            _judge_initial(started, wanted, findings)
        else:
            snapshot = snapshots.of(started, checkpoint, started.subtask)
            if snapshot is None:
                continue
            if rescaled.is_rescaled(started, snapshot):
                wanted = dict(started.positions)  # Whether these are right is decided for all readers together.
            else:
                wanted = dict(snapshot.positions)
                _judge_restored(started, snapshot, findings)
        if started.subtask.partition("[")[0] in sockets:
            continue  # It goes on wherever the socket is by then.
        for partition, offset in wanted.items():
            awaited[started.attempt, started.subtask, partition] = (offset, started)
    for emitted in history.of(events.SourceEmitted):
        if not awaited:
            break
        known = awaited.pop((emitted.attempt, emitted.subtask, emitted.partition), None)
        if known is None:
            continue
        offset, started = known
        clause = "not-initial" if started.restored_checkpoint is None else "position-differs"
        findings.check(clause)
        if emitted.first_offset != offset and not (again and emitted.first_offset < offset):
            message = (
                f"{emitted.subtask} emits offset {emitted.first_offset} of partition {emitted.partition} first in "
                f"attempt {emitted.attempt}, {offset} is next"
            )
            findings.violated(clause, message, started, emitted)


def _judge_reads(history: History, findings: Findings) -> None:
    """What the source system handed out first, as the harness saw it there. A socket goes on wherever it is."""
    sockets = {source.name for source in history.plan.job.of_kind(VertexKind.SOURCE) if source.socket}
    starts = {
        (started.attempt, started.subtask): started
        for started in history.of(events.TaskStarted)
        if started.restored_checkpoint is not None and started.subtask.partition("[")[0] not in sockets
    }
    for read in history.of(events.InputRead):
        started = starts.get((read.attempt, read.subtask))
        position = dict(started.positions).get(read.partition) if started is not None else None
        if started is None or position is None:
            continue
        findings.check("read-elsewhere")
        if read.first_offset != position:
            message = (
                f"{read.subtask} reports to continue at offset {position} of partition {read.partition} in attempt "
                f"{read.attempt}, and reads from {read.first_offset} on"
            )
            findings.violated("read-elsewhere", message, started, read)


def _judge_initial(started: events.TaskStarted, wanted: Mapping[int, int], findings: Findings) -> None:
    findings.check("not-initial")
    if started.state is not None and started.state.records:
        message = f"{started.subtask} restores nothing and starts with {_summary(started.state)}"
        findings.violated("not-initial", message, started)
    elif started.pending_transactions:
        message = f"{started.subtask} restores nothing and starts with transactions {started.pending_transactions}"
        findings.violated("not-initial", message, started)
    elif any(wanted.get(partition) != offset for partition, offset in started.positions):
        message = f"{started.subtask} restores nothing and starts at {dict(started.positions)}, the input at {wanted}"
        findings.violated("not-initial", message, started)


def _judge_restored(started: events.TaskStarted, snapshot: events.SnapshotTaken, findings: Findings) -> None:
    if started.state is not None and snapshot.state is not None:
        findings.check("state-differs")
        if differ(started.state, snapshot.state):
            message = (
                f"{started.subtask} starts attempt {started.attempt} with {_summary(started.state)}, "
                f"checkpoint {snapshot.checkpoint} recorded {_summary(snapshot.state)}"
            )
            findings.violated("state-differs", message, snapshot, started)
    if snapshot.positions:
        findings.check("position-differs")
        if dict(started.positions) != dict(snapshot.positions):
            message = (
                f"{started.subtask} starts attempt {started.attempt} at {dict(started.positions)}, "
                f"checkpoint {snapshot.checkpoint} recorded {dict(snapshot.positions)}"
            )
            findings.violated("position-differs", message, snapshot, started)


def _judge_channel_states(
    history: History, taken: Recorded[events.ChannelStateTaken], rescaled: RescaledRestores, findings: Findings
) -> None:
    """What was in flight, batch by batch."""
    if not taken:
        return
    restored = {(event.attempt, event.subtask): event for event in history.of(events.ChannelStateRestored)}
    for started in history.of(events.TaskStarted):
        recorded = taken.of(started, started.restored_checkpoint or 0, started.subtask)
        put_back = restored.get((started.attempt, started.subtask))
        if recorded is None or rescaled.is_rescaled(started, recorded) or (put_back is not None and put_back.skipped):
            continue
        wanted = [(each.channel, each.output, each.batches) for each in recorded.channels]
        found = [(each.channel, each.output, each.batches) for each in put_back.channels] if put_back else []
        findings.check("channel-state-differs", sum(len(batches) for _, _, batches in wanted))
        if found != wanted:
            message = (
                f"{started.subtask} puts back {_batches(found)} in attempt {started.attempt}, "
                f"checkpoint {recorded.checkpoint} recorded {_batches(wanted)}"
            )
            witness = (recorded, started) if put_back is None else (recorded, started, put_back)
            findings.violated("channel-state-differs", message, *witness)


def _batches(channels: list[tuple[str, bool, tuple[tuple[int, int], ...]]]) -> str:
    return (
        ", ".join(f"{plural(len(batches), 'batch', 'batches')} of {channel}" for channel, _, batches in channels)
        or "nothing"
    )


def _judge_audits(history: History, snapshots: Recorded[events.SnapshotTaken], findings: Findings) -> None:
    """Checkpoints restored once more by the harness, when they had completed and after the run."""
    exempt = exemptions(history)
    claimed = claimed_snapshots(history)
    for audit in history.of(events.CheckpointAudited):
        if exempt.hold(audit, *exempt.objects_of(audit)):
            continue
        if claimed.broke(history, audit) or claimed.dropped(history, audit):
            continue
        findings.check("audit-failed")
        if audit.problem:
            message = f"checkpoint {audit.checkpoint} cannot be restored by the harness: {audit.problem}"
            findings.violated("audit-failed", message, audit)
    of = -1, -1
    recorded: Mapping[str, events.SnapshotTaken] = {}
    for subtask in history.of(events.SubtaskAudited):
        if of != (subtask.attempt, subtask.checkpoint):  # All subtasks of a checkpoint follow each other.
            of, recorded = (subtask.attempt, subtask.checkpoint), snapshots.all_of(subtask, subtask.checkpoint)
        snapshot = recorded.get(subtask.subtask)
        if snapshot is None:
            continue
        findings.checked["audit-differs"] += 1
        positions, pending = subtask.positions, subtask.pending_transactions
        if (
            differ(subtask.state, snapshot.state)
            or (positions != snapshot.positions and dict(positions) != dict(snapshot.positions))
            or (pending != snapshot.pending_transactions and set(pending) != set(snapshot.pending_transactions))
        ):
            message = f"checkpoint {subtask.checkpoint} gives {subtask.subtask} something else than it recorded"
            findings.violated("audit-differs", message, snapshot, subtask)


def _judge_repetition(history: History, findings: Findings) -> None:
    """An attempt that fails before all its tasks run is followed by one from the same checkpoint, or a newer one, of
    the same job."""
    attempts = history.of(events.AttemptStarted)
    if len(attempts) < 2:
        return
    recovery_points = {event.checkpoint for event in history.of(events.MetadataPublished)}
    recovery_points.update(event.checkpoint for event in history.of(events.CheckpointCompleted))
    recovery_points.update(event.checkpoint for event in history.of(events.SavepointCompleted) if event.recovery_point)
    running: dict[int, int] = {}
    for started in history.of(events.TaskStarted):
        running[started.attempt] = running.get(started.attempt, 0) + 1
    job_of = history.derived(Submissions).of
    for attempt, following in pairwise(attempts):
        if job_of(attempt) != job_of(following):
            continue
        checkpoint, repeated = attempt.restored_checkpoint, following.restored_checkpoint
        if checkpoint is None or running.get(attempt.attempt, 0) >= len(members(history, attempt)):
            continue
        findings.check("recovery-not-repeated")
        newer = repeated is not None and repeated > checkpoint and repeated in recovery_points
        if repeated != checkpoint and not newer:
            message = (
                f"attempt {attempt.attempt} failed restoring checkpoint {checkpoint}, attempt {following.attempt} "
                f"restores {'nothing' if repeated is None else f'checkpoint {repeated}'}"
            )
            findings.violated("recovery-not-repeated", message, attempt, following)
