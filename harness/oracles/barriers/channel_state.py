"""What CUT decides on unaligned checkpoints: the order of a channel on which barriers overtake, and what was stored as
being in flight.

The events of a sender stand in the order in which it sent, so a barrier follows in them what it overtook on the way.
What was in flight at a cut is therefore what stands in front of the barrier there and was not processed by the time of
the receiver's snapshot: first what was restored at the receiver, then at the sender, then what was sent.
"""

from __future__ import annotations

from holdfast.harness.model.events import AttemptStarted, BarrierReceived, BatchProcessed, SnapshotTaken, StateSummary
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.oracles.barriers.channel_trace import ORIGIN, Attempt, Channel, ChannelTrace, Subtask, elements
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.layout import Layout
from holdfast.harness.oracles.shared.options import alignment_timeout_ms, skipped_in_flight
from holdfast.harness.oracles.shared.state_fold import MODULUS, StateFold

CLAUSES = {
    "restored-order": "a batch restored as in flight is not processed once, in order, before every new one",
    "channel-state-missing": "a checkpoint lacks a batch before a barrier that the receiver had not processed",
    "channel-state-extra": "a checkpoint holds as in flight a batch that was processed or is behind the barrier",
    "copies-differ": "two subtasks have different broadcast state in one checkpoint",
    "overtaken-pointwise": "a barrier overtakes, or records are stored as in flight, on a forward or broadcast edge",
}


def named(element: int) -> str:
    if element < 0:
        return f"barrier {~element}"
    origin, position = divmod(element, ORIGIN)
    return f"batch {position} of attempt {origin}" if origin else f"batch {position}"


def judge_overtaking_order(history: History, channel: Channel, findings: Findings) -> None:
    """Batches come out as they went in, what was restored first; a barrier comes out where it went in, or earlier if it
    overtakes."""
    received = channel.received
    batches = [element for element in received if element >= 0]
    entered = channel.entered
    in_flight = len(channel.restored[0]) + len(channel.restored[1])
    findings.check("restored-order", min(in_flight, len(batches)))
    findings.check("channel-order", len(received))
    if batches != entered[: len(batches)]:
        place = next(i for i, element in enumerate(batches) if i >= len(entered) or element != entered[i])
        restored = place < in_flight or batches[place] >= ORIGIN
        wanted = named(entered[place]) if place < len(entered) else "nothing"
        again = " again" if batches[place] in batches[:place] else ""
        message = (
            f"{channel.name} in attempt {channel.attempt} delivers {named(batches[place])}{again}, {wanted} is next"
        )
        witness = elements(history, channel, BatchProcessed)[max(place - 1, 0) : place + 1]
        findings.violated("restored-order" if restored else "channel-order", message, *witness)
        return
    misplaced = _misplaced_barrier(channel)
    if misplaced is not None:
        message = f"{channel.name} in attempt {channel.attempt} delivers {named(received[misplaced])} out of its place"
        witness = elements(history, channel, BatchProcessed, BarrierReceived)[max(misplaced - 1, 0) : misplaced + 1]
        findings.violated("channel-order", message, *witness)


def _misplaced_barrier(channel: Channel) -> int | None:
    """The place of a barrier that comes out behind batches sent after it, or without overtaking in front of others;
    also of one that was never sent."""
    in_front: dict[int, int] = {}
    count = len(channel.restored[0]) + len(channel.restored[1])
    for element in channel.sent:
        if element < 0:
            in_front[element] = count
        else:
            count += 1
    count = 0
    for place, element in enumerate(channel.received):
        if element >= 0:
            count += 1
            continue
        before = in_front.get(element, -1)
        if count > before or (count < before and ~element not in channel.overtaking):
            return place
    return None


def judge_channel_states(attempt: Attempt, layout: Layout, findings: Findings) -> None:
    """What each unaligned checkpoint holds as in flight, channel by channel."""
    for sender in attempt.subtasks.values():
        for channel in sender.outputs:
            if not channel.processed:
                continue
            entered, in_front = channel.entered, _in_front(channel.sent)
            for checkpoint, processed in channel.processed.items():
                if channel.name in layout.pointwise:
                    _judge_pointwise(channel, checkpoint, findings)
                stored_by = (channel.receiver.in_flight.get(checkpoint), sender.in_flight.get(checkpoint))
                if None not in stored_by and checkpoint in in_front:
                    wanted = entered[processed : in_front[checkpoint] + sum(map(len, channel.restored))]
                    _judge_channel_state(channel, checkpoint, wanted, findings)


def _in_front(sent: list[int]) -> dict[int, int]:
    """By checkpoint whose barrier was sent, how many batches were sent before it."""
    batches, found = 0, dict[int, int]()
    for element in sent:
        if element >= 0:
            batches += 1
        else:
            found.setdefault(~element, batches)
    return found


def judge_copies(attempt: Attempt, findings: Findings) -> None:
    """Every subtask has the same broadcast state in a checkpoint, because no barrier overtakes on its edges."""
    firsts: dict[tuple[str, int], SnapshotTaken] = {}
    for subtask in attempt.subtasks.values():
        for snapshot, _ in subtask.snapshots:
            copy = snapshot.state.broadcast if snapshot.state is not None else None
            if copy is None:
                continue
            first = firsts.setdefault((subtask.name.partition("[")[0], snapshot.checkpoint), snapshot)
            if first is snapshot:
                continue
            findings.check("copies-differ")
            if first.state is not None and first.state.broadcast != copy:
                message = f"{first.subtask} and {snapshot.subtask} differ in broadcast state in {snapshot.checkpoint}"
                findings.violated("copies-differ", message, first, snapshot)


def _judge_pointwise(channel: Channel, checkpoint: int, findings: Findings) -> None:
    if ~checkpoint not in channel.received:
        return
    findings.check("overtaken-pointwise")
    if checkpoint in channel.overtaking:
        findings.violated("overtaken-pointwise", f"barrier {checkpoint} overtakes on {channel.name}")
    elif any(channel.stored.get(checkpoint, ())):
        message = f"checkpoint {checkpoint} stores records of {channel.name} as in flight"
        findings.violated("overtaken-pointwise", message)


def _judge_channel_state(channel: Channel, checkpoint: int, wanted: list[int], findings: Findings) -> None:
    at_receiver, at_sender = channel.stored.get(checkpoint, ([], []))
    stored = [*at_receiver, *at_sender]
    findings.check("channel-state-missing", len(wanted))
    findings.check("channel-state-extra", len(stored))
    if stored == wanted:
        return
    missing = [element for element in wanted if element not in stored]
    clause, kind = ("channel-state-missing", "lacks") if missing else ("channel-state-extra", "holds")
    surplus = [element for place, element in enumerate(stored) if element not in wanted or element in stored[:place]]
    culprits = missing or surplus or stored
    message = (
        f"checkpoint {checkpoint} in attempt {channel.attempt} {kind} {', '.join(map(named, culprits[:3]))} of "
        f"{channel.name}, where {plural(len(wanted), 'batch was', 'batches were')} in flight and "
        f"{len(stored)} are stored"
    )
    snapshot = next(each for each, _ in channel.receiver.snapshots if each.checkpoint == checkpoint)
    findings.violated(clause, message, snapshot)


def skipped_in(history: History, trace: ChannelTrace, layout: Layout) -> dict[int, list[StateSummary]]:
    """By attempt, what was in flight at a checkpoint that it goes back to and was left out on purpose."""
    chosen, switches = skipped_in_flight(history.plan), alignment_timeout_ms(history.plan) > 0
    skipped: dict[int, list[StateSummary]] = {}
    for started in history.of(AttemptStarted) if chosen >= 0 else ():
        restored = started.restored_checkpoint
        for number, attempt in trace.attempts.items():
            if number < started.attempt and any(_took(subtask, restored) for subtask in attempt.subtasks.values()):
                skipped[started.attempt] = list(skipped.get(number, ()))
                if restored == chosen:
                    skipped[started.attempt] += in_flight_of(attempt, chosen, layout, switches=switches) or []
    return skipped


def _took(subtask: Subtask, checkpoint: int | None) -> bool:
    return any(snapshot.checkpoint == checkpoint for snapshot, _ in subtask.snapshots)


def judge_skipped(
    fold: StateFold,
    snapshots: list[SnapshotTaken],
    in_flight: list[StateSummary],
    left_out: list[StateSummary],
    findings: Findings,
) -> None:
    """With what was left out the state is the fold of the input again, record by record."""
    positions = dict(pair for snapshot in snapshots for pair in snapshot.positions)
    states = [snapshot.state for snapshot in snapshots if snapshot.state is not None]
    if not fold.covers(positions):
        return
    records, _, digest = fold.below(positions)
    states += in_flight + left_out
    held, digests = sum(state.records for state in states), sum(state.digest for state in states)
    findings.check("skipped-differs")
    if held != records or (digests - digest) % MODULUS:
        message = (
            f"checkpoint {snapshots[0].checkpoint} in attempt {snapshots[0].attempt} and what was left out hold {held} "
            f"records, {records} are before its source positions"
        )
        findings.violated("skipped-differs", message, *snapshots)


def in_flight_of(attempt: Attempt, checkpoint: int, layout: Layout, *, switches: bool) -> list[StateSummary] | None:
    """What a checkpoint holds on the way to the sums; None if that is not known of every subtask, or if something is
    on its way that will not be added as it is."""
    found: list[StateSummary] = []
    for subtask, snapshot in attempt.taken(checkpoint) if attempt.overtaken or switches else ():
        if snapshot.unaligned or switches:
            stored = subtask.in_flight.get(checkpoint)
            if stored is None and not layout.feeding.isdisjoint(_channels(subtask, layout)):
                return None
            for content in stored.channels if stored is not None else ():
                if content.channel not in layout.feeding:
                    continue
                if content.state is None or content.channel not in layout.added:
                    return None
                found.append(content.state)
    return found


def _channels(subtask: Subtask, layout: Layout) -> list[str]:
    return layout.inputs[subtask.name] + layout.outputs[subtask.name]
