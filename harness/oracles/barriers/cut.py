"""CUT: barriers keep their place in every channel, and a checkpoint is one consistent cut (RULES BAR)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.events import CheckpointAborted, CheckpointTriggered
from holdfast.harness.model.history import History
from holdfast.harness.model.job import FORGETTING, STATEFUL
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.barriers.alignment_timeout import CLAUSES as TIMEOUT
from holdfast.harness.oracles.barriers.alignment_timeout import judge_alignment_timeout
from holdfast.harness.oracles.barriers.blocking import CLAUSES as BLOCKING
from holdfast.harness.oracles.barriers.blocking import Blocking
from holdfast.harness.oracles.barriers.channel_state import (
    CLAUSES,
    in_flight_of,
    judge_channel_states,
    judge_copies,
    judge_overtaking_order,
    judge_skipped,
    named,
    skipped_in,
)
from holdfast.harness.oracles.barriers.channel_trace import (
    Alignment,
    Channel,
    ChannelTrace,
    SourceWindow,
    Subtask,
    elements,
)
from holdfast.harness.oracles.barriers.held_state import judge_held
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import layout_of, widest_layout
from holdfast.harness.oracles.shared.lineage import is_plain, keyed_input
from holdfast.harness.oracles.shared.options import NS_PER_MS, alignment_timeout_ms, at_least_once, overtakes
from holdfast.harness.oracles.shared.state_fold import StateFold, held_by


def in_order_but_left_behind(history: History, channel: Channel) -> bool:
    """Whether a channel delivers what entered it next, but for barriers that were left behind: a later one overtook
    them, whose checkpoint was triggered when theirs had been aborted."""
    if not overtakes(history.plan):
        return False
    behind = _left_behind(history, channel)
    received = [element for element in channel.received if element not in behind]
    sent = [element for element in channel.sent if element not in behind]
    return bool(behind) and received == sent[: len(received)]


def _left_behind(history: History, channel: Channel) -> set[int]:
    of = channel.attempt
    aborted = {each.checkpoint: each for each in history.of(CheckpointAborted) if each.attempt == of}
    triggered = {each.checkpoint: each for each in history.of(CheckpointTriggered) if each.attempt == of}
    behind: set[int] = set()
    come: set[int] = set()
    for element in channel.received:
        come.add(element)
        trigger = triggered.get(~element) if element in channel.sent else None
        if trigger is not None:
            before = channel.sent[: channel.sent.index(element)]
            behind.update(each for each in before if each not in come and _precedes(aborted.get(~each), trigger))
    return behind


def _precedes(abort: CheckpointAborted | None, trigger: CheckpointTriggered) -> bool:
    return abort is not None and abort.node == trigger.node and abort.sequence < trigger.sequence


STALLED_CHECKPOINTS = 3
"""So many checkpoints without a record from a source that had some to emit are no accident."""

OF_CHANNELS: tuple[type[events.Event], ...] = (
    events.TaskStarted, events.SourceEmitted, events.BatchSent, events.BatchProcessed, events.BarrierSent,
    events.BarrierReceived,
)  # fmt: skip
BLOCKED = ("alignment-outlives", "stale-acted", "blocked-in-at-least-once", "waited-with-one-input")
"""Clauses about channels that are blocked."""
_CLAUSES: Mapping[str, str] = {
    "channel-order": "a channel delivers something other than what entered it next",
    "held-records": "a batch behind the barrier of a blocked channel is not the next one processed afterwards",
    "barrier-once": "a subtask that runs on after snapshot n does not send barrier n once on each output",
    "emission-after-snapshot": "a batch leaves a subtask on a channel between its snapshot n and its barrier n",
    "processed-while-blocked": "a batch behind barrier n is processed before barrier n is there on every input",
    "state-extra": "the state of a checkpoint holds a record behind its source positions, or one of them twice",
    "state-missing": "the state of a checkpoint lacks a record before its source positions",
    "skipped-differs": "after in-flight records were left out on purpose, state lacks others than exactly these",
    "source-position": "a source records another position than the one it had reached",
    **CLAUSES,
    **BLOCKING,
    **TIMEOUT,
    "blocked-in-at-least-once": "a channel is blocked in at-least-once mode",
    "waited-with-one-input": "a subtask with a single input channel blocks it",
    "source-stalled": "sources with input to read never emit between their barrier and its completion",
}


class CutOracle:
    """Decides what the channels and snapshots of a run say about its checkpoints."""

    name = "CUT"
    title = "consistent cut"
    invariant = "Every checkpoint holds the effect of exactly the records before its barriers, once each."
    clauses = _CLAUSES
    evidence: tuple[type[events.Event], ...] = (events.SnapshotTaken,)
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        "begins-aligned": (events.CheckpointTriggered,),
        **dict.fromkeys(_CLAUSES.keys() - {"begins-aligned", *BLOCKED}, OF_CHANNELS),
        **dict.fromkeys(BLOCKED, (*OF_CHANNELS, events.ChannelBlocked)),
    }

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        trace = ChannelTrace(history)
        aligned_mode = not at_least_once(history.plan)
        for attempt in trace.attempts.values():
            for channel in attempt.channels.values():
                _judge_order(history, channel, findings, aligned_mode)
            for subtask in attempt.subtasks.values():
                _judge_barriers(history, subtask, findings)
            judge_channel_states(attempt, attempt.layout, findings)
            if aligned_mode:
                judge_copies(attempt, findings)
        if aligned_mode:
            for alignment in trace.alignments:
                _judge_alignment(history, alignment, findings)
        _judge_blocking(history, trace, findings, aligned_mode)
        Blocking(history, findings)
        judge_alignment_timeout(history, findings)
        _judge_positions(trace, findings)
        _judge_stalls(history, trace, findings)
        _judge_states(history, trace, findings)
        return findings.verdict(history)


def _judge_order(history: History, channel: Channel, findings: Findings, aligned_mode: bool) -> None:
    """The receiver's sequence is a prefix of the sender's; what differs in a held range is named so."""
    received, sent = channel.received, channel.sent
    if not received or (channel.plain and not sent):
        return
    if not channel.plain:
        judge_overtaking_order(history, channel, findings)
        return
    findings.check("channel-order", len(received))
    held = channel.held if aligned_mode else []
    for start, end in held:
        findings.check("held-records", sum(element >= 0 for element in received[start:end]))
    if received == sent[: len(received)] or in_order_but_left_behind(history, channel):
        return
    place = next(i for i, element in enumerate(received) if i >= len(sent) or element != sent[i])
    clause = "held-records" if any(start <= place < end for start, end in held) else "channel-order"
    wanted = named(sent[place]) if place < len(sent) else "nothing"
    again = " again" if received[place] in received[:place] else ""
    witness = elements(history, channel, events.BatchProcessed, events.BarrierReceived)[max(place - 1, 0) : place + 1]
    message = f"{channel.name} in attempt {channel.attempt} delivers {named(received[place])}{again}, {wanted} is next"
    findings.violated(clause, message, *witness)


def _judge_barriers(history: History, subtask: Subtask, findings: Findings) -> None:
    """Barrier n stands in every output where snapshot n was taken, and nowhere else."""
    placed = 0
    for index, (snapshot, marks) in enumerate(subtask.snapshots):
        barrier = ~snapshot.checkpoint
        for channel, mark in zip(subtask.outputs, marks, strict=True):
            sent = channel.sent
            if (mark < len(sent) and sent[mark] == barrier) or (
                mark and mark <= len(sent) and sent[mark - 1] == barrier
            ):
                placed += 1
            elif barrier in sent:
                placed += 1
                _report_emission(history, snapshot, channel, mark, findings)
            elif index + 1 < len(subtask.snapshots) or _sent_since(subtask, marks):
                message = f"{subtask.name} never sends barrier {snapshot.checkpoint} on {channel.name}"
                findings.violated("barrier-once", message, snapshot)
    findings.check("barrier-once", placed)
    findings.check("emission-after-snapshot", placed)
    for channel in subtask.outputs:
        barriers = [element for element in channel.sent if element < 0]
        if len(set(barriers)) < len(barriers):
            repeated = next(element for element in barriers if barriers.count(element) > 1)
            message = f"{subtask.name} sends barrier {~repeated} {barriers.count(repeated)} times on {channel.name}"
            places = [place for place, element in enumerate(channel.sent) if element == repeated]
            entered = elements(history, channel, events.BatchSent, events.BarrierSent)
            findings.violated("barrier-once", message, *(entered[place] for place in places))


def _report_emission(
    history: History, snapshot: events.SnapshotTaken, channel: Channel, mark: int, findings: Findings
) -> None:
    first, last = sorted((mark, channel.sent.index(~snapshot.checkpoint)))
    between = elements(history, channel, events.BatchSent, events.BarrierSent)[first : last + 1]
    message = f"{snapshot.subtask} sends a batch on {channel.name} between snapshot and barrier {snapshot.checkpoint}"
    findings.violated("emission-after-snapshot", message, snapshot, *between)


def _sent_since(subtask: Subtask, marks: list[int]) -> bool:
    """Whether a subtask went on after a snapshot: it may have died in front of its barrier."""
    return any(
        element >= 0 for channel, mark in zip(subtask.outputs, marks, strict=True) for element in channel.sent[mark:]
    )


def _judge_alignment(history: History, alignment: Alignment, findings: Findings) -> None:
    if alignment.progressed:
        findings.check("processed-while-blocked")
    for channel, start, end in alignment.leaks:
        behind = channel.sent[channel.sent.index(~alignment.checkpoint) :] if channel.overtaking else channel.received
        leaked = [place for place in range(start, end) if channel.received[place] in behind]
        if not leaked:
            continue
        place = leaked[0]
        witness = elements(history, channel, events.BatchProcessed, events.BarrierReceived)[place - 1 : place + 1]
        message = (
            f"{channel.receiver.name} processes {named(channel.received[place])} of {channel.name} behind barrier "
            f"{alignment.checkpoint}, which is not there on every input"
        )
        findings.violated("processed-while-blocked", message, *witness)


def _judge_blocking(history: History, trace: ChannelTrace, findings: Findings, aligned_mode: bool) -> None:
    """Who never waits: anybody in at-least-once mode, and a subtask with one input in either."""
    inputs = widest_layout(history).inputs
    if not aligned_mode:
        findings.check("blocked-in-at-least-once", len(trace.begun))
    lone = [
        channel
        for attempt in trace.attempts.values()
        for channel in attempt.channels.values()
        if channel.receiver.input_count == 1
    ]
    findings.check("waited-with-one-input", sum(element < 0 for channel in lone for element in channel.received))
    for event in history.of(events.ChannelBlocked):
        receiver = event.channel.partition("->")[2]
        if not aligned_mode:
            message = f"{event.channel} is blocked for checkpoint {event.checkpoint} in at-least-once mode"
            findings.violated("blocked-in-at-least-once", message, event)
        elif len(inputs.get(receiver, ())) == 1:
            message = f"{receiver} blocks its only input for checkpoint {event.checkpoint}"
            findings.violated("waited-with-one-input", message, event)


def _judge_positions(trace: ChannelTrace, findings: Findings) -> None:
    findings.check("source-position", trace.placed)
    for snapshot, reached in trace.misplaced:
        message = (
            f"{snapshot.subtask} had reached {_positions(reached)} and records {_positions(dict(snapshot.positions))} "
            f"in checkpoint {snapshot.checkpoint}"
        )
        findings.violated("source-position", message, snapshot)


def _judge_stalls(history: History, trace: ChannelTrace, findings: Findings) -> None:
    """Sources emit while others align. Only a window longer than any other gap between two emissions must hold one, and
    none in which a fault of the plan holds up what a source has sent: then its buffers are full."""
    gap_ns, begun, exempt = trace.longest_gap_ns, set(trace.begun), exemptions(history)
    held_up = exempt.held_up_ns()
    windows = [
        window
        for window in trace.windows
        if window.checkpoint in begun
        and 0 < gap_ns < window.until_ns - window.since_ns - exempt.stalls.within_ns(window.since_ns, window.until_ns)
        and (
            window.emissions
            or not any(since <= window.until_ns and window.since_ns <= until for since, until in held_up)
        )
    ]
    owing = [window for window in windows if window.emissions or _unread(history, window, gap_ns)]
    checkpoints = sorted({window.checkpoint for window in owing})
    if any(window.emissions for window in owing):
        findings.check("source-stalled", len(checkpoints))
    elif len(checkpoints) >= STALLED_CHECKPOINTS:
        findings.check("source-stalled", len(checkpoints))
        named = ", ".join(map(str, checkpoints))
        findings.violated(
            "source-stalled", f"no source emits between its barrier and completion of checkpoints {named}"
        )


def _unread(history: History, window: SourceWindow, gap_ns: int) -> bool:
    """Whether there was input to read when there was still time to emit it. The run began with its first event."""
    elapsed_ms = (window.until_ns - gap_ns - history.events[0].time_ns) // NS_PER_MS
    for index, partition in enumerate(history.inputs.partitions):
        arriving_ms = elapsed_ms - partition.starts_ms
        arrived = partition.preloaded + max(arriving_ms, 0) * partition.records_per_second // 1_000
        if arriving_ms >= 0 and not partition.records_per_second:
            arrived = partition.regular
        if 0 <= window.reached.get(index, -1) < min(arrived, partition.regular):
            return True
    return False


def _positions(positions: Mapping[int, int]) -> str:
    return ", ".join(f"offset {offset} of partition {partition}" for partition, offset in sorted(positions.items()))


def _judge_states(history: History, trace: ChannelTrace, findings: Findings) -> None:
    """Source positions and keyed sums of one checkpoint and attempt denote one cut."""
    job = history.plan.job
    if len(job.of_kind(*STATEFUL)) != 1 or job.of_kind(*FORGETTING):
        return  # Sums of sums are not a fold of the input, and what is forgotten is in no sum
    fold: StateFold | None = None
    switches = alignment_timeout_ms(history.plan) > 0
    skipped = skipped_in(history, trace, layout_of(history))
    for number, attempt in trace.attempts.items():
        layout = attempt.layout
        needed = layout.sources + layout.buffers + layout.sums
        holding = len(layout.buffers) + len(layout.sums)
        taken: dict[int, list[events.SnapshotTaken]] = {}
        for name in needed:
            for snapshot, _ in attempt.subtasks[name].snapshots:
                taken.setdefault(snapshot.checkpoint, []).append(snapshot)
        for snapshots in taken.values():
            if len(snapshots) == len(needed):
                in_flight = in_flight_of(attempt, snapshots[0].checkpoint, layout, switches=switches)
                if in_flight is None:
                    continue
                if fold is None:
                    keyed = None if is_plain(job) else keyed_input(job, history.inputs)
                    lanes = () if keyed is None else (*keyed.lanes, *keyed.copied)
                    fold = StateFold(history.inputs, history.plan.digest_key, lanes)
                left_out = skipped.get(number, [])
                if left_out:
                    judge_skipped(fold, snapshots, in_flight, left_out, findings)
                else:
                    _judge_state(history, fold, snapshots, holding, in_flight, findings)


def _judge_state(
    history: History,
    fold: StateFold,
    snapshots: list[events.SnapshotTaken],
    holding: int,
    in_flight: list[events.StateSummary],
    findings: Findings,
) -> None:
    """One checkpoint. More than the model is judged by NO_DUPLICATE, less by NO_LOSS, as many but others by both."""
    positions = dict(pair for snapshot in snapshots for pair in snapshot.positions)
    states = [snapshot.state for snapshot in snapshots if snapshot.state is not None]
    if len(states) != holding or not fold.covers(positions):
        return
    states = states + in_flight
    where = f"checkpoint {snapshots[0].checkpoint} in attempt {snapshots[0].attempt}"
    judge_held(history, fold, fold.below(positions), held_by(states), where, snapshots, findings)
    shared = fold.below(positions, everywhere=True)
    for snapshot in snapshots:
        copy = snapshot.state.broadcast if snapshot.state is not None else None
        if copy is not None:
            held = copy.records, copy.value, copy.digest
            judge_held(history, fold, shared, held, where, [snapshot], findings)
