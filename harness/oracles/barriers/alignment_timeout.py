"""What CUT decides on the moment at which barriers begin to overtake (RULES UNA-04, UNA-08).

It is the trigger of the checkpoint plus the alignment timeout, which may be nothing. Until then snapshots are aligned
and barriers keep their place; from then on no barrier waits for the records in front of it. The time since the trigger
is by definition the subtask's clock less the coordinator's; it orders nothing. Which of the coordinator's readings a
barrier carries is its own affair, from when it has the id to when the checkpoint is pending; whoever overtakes early is
early after the first of them, whoever aligns for too long does so after the last.
"""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    CheckpointDrawn,
    CheckpointTriggered,
    Event,
    NotificationReceived,
    SnapshotTaken,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.target import Role
from holdfast.harness.model.topology import channel_ends, network_channels
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.shared.clocks import Clocks
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.oracles.shared.layout import Layout, widest_layout
from holdfast.harness.oracles.shared.options import NS_PER_MS, alignment_timeout_ms, overtakes

CLAUSES = {
    "begins-aligned": "a snapshot is aligned though barriers may overtake from the trigger on",
    "aligned-too-long": "a snapshot is aligned though the alignment timeout has passed since the trigger",
    "overtook-early": "a barrier overtakes, or a snapshot takes along what is in flight, before that time",
    "barrier-waits": "a barrier waits for the records in front of it after the alignment timeout has passed",
}
WAY_MS = 5.0
"""A barrier is on its way for so long at most, and records that went before it still come before it."""
FEW = 2
"""A batch may be in hand, and another was taken before the news came."""


def judge_alignment_timeout(history: History, findings: Findings) -> None:
    """Judge every snapshot and barrier of a plan whose barriers may overtake. Where messages are forged or processes
    are paused, the times are unknown, and nothing is decided."""
    exempt = exemptions(history)
    if overtakes(history.plan) and not exempt.forged_triggers:
        _Timeout(history, exempt, findings)


class _Timeout:
    """One pass over a history.

    Attributes:
        drawn: by coordinator and number, when the turn of a checkpoint came that is not triggered yet.
        begun: by attempt and number, the first time that its barriers may carry.
        waiting: by attempt and channel, the barrier that was sent last and has not come, with the batches processed
            there since it could overtake.
        sources: sources, and what is chained to them. They have no inputs to align; that their barriers overtake is
            seen where these are received.
        aligning: subtasks into which a channel leads that no barrier overtakes on. Flink aligns all channels of such a
            one (StreamGraphGenerator), the reference that channel alone.
        aborted: attempt, subtask and checkpoint, where the subtask was notified that it was aborted. The barrier of
            such a checkpoint is of no use: it does not overtake.
    """

    def __init__(self, history: History, exempt: Exemptions, findings: Findings) -> None:
        plan = history.plan
        self.findings = findings
        self.clocks = Clocks(history, exempt)
        self.timeout_ms = alignment_timeout_ms(plan)
        self.triggered: dict[tuple[int, int], CheckpointTriggered] = {}
        self.drawn: dict[tuple[str, int], CheckpointDrawn] = {}
        self.begun: dict[tuple[int, int], CheckpointDrawn | CheckpointTriggered] = {}
        self.waiting: dict[tuple[int, str], tuple[BarrierSent, list[BatchProcessed]]] = {}
        self.aborted: set[tuple[int, str, int]] = set()
        channels = network_channels(plan.job, plan.topology)
        disturbed = {
            channels[fault.target.index]
            for fault in exempt.planned(Consequence.HOLDS_UP_RECORDS)
            if fault.target.role is Role.CHANNEL
        }
        layout = widest_layout(history)
        self.aside = layout.pointwise | disturbed
        self.aligning = _with_chains({channel_ends(channel)[1] for channel in layout.pointwise}, layout)
        self.sources = _with_chains(set(layout.sources), layout)
        self.steady = not exempt.stopped_within_steps
        replay(
            history,
            {
                CheckpointDrawn: self._draw,
                CheckpointTriggered: self._trigger,
                SnapshotTaken: self._snapshot,
                BarrierSent: self._sent,
                BatchProcessed: self._processed,
                BarrierReceived: self._received,
                NotificationReceived: self._notified,
            },
        )

    def _draw(self, event: CheckpointDrawn) -> None:
        self.drawn[event.node, event.checkpoint] = event

    def _trigger(self, event: CheckpointTriggered) -> None:
        if event.origin is CheckpointOrigin.SAVEPOINT:
            return  # A savepoint is aligned, however long that takes.
        self.triggered[event.attempt, event.checkpoint] = event
        self.begun[event.attempt, event.checkpoint] = self.drawn.pop((event.node, event.checkpoint), event)

    def _snapshot(self, event: SnapshotTaken) -> None:
        triggered = self.triggered.get((event.attempt, event.checkpoint))
        if triggered is None or (event.subtask in self.aligning and not event.unaligned):
            return
        if not self.timeout_ms:
            self.findings.check("begins-aligned")
            if not event.unaligned:
                message = f"{event.subtask} takes snapshot {event.checkpoint} aligned, and no timeout is set"
                self.findings.violated("begins-aligned", message, triggered, event)
            return
        since = self.clocks.between(triggered, event)
        if event.unaligned:
            self.findings.check("aligned-too-long")
            self._early(event, f"{event.subtask} takes snapshot {event.checkpoint} unaligned", event.checkpoint)
        elif since.low > self.timeout_ms and event.subtask not in self.sources:
            message = (
                f"{event.subtask} takes snapshot {event.checkpoint} aligned {since} after its trigger, the timeout is "
                f"{self.timeout_ms} ms"
            )
            self.findings.violated("aligned-too-long", message, triggered, event)
        elif since.high < self.timeout_ms:
            self.findings.check("overtook-early")

    def _early(self, event: Event, what: str, checkpoint: int) -> None:
        if not self.timeout_ms:
            return
        begun = self.begun[event.attempt, checkpoint]
        since = self.clocks.between(begun, event)
        if since.low >= self.timeout_ms:
            self.findings.check("overtook-early")
        if since.high < self.timeout_ms:
            message = f"{what} {since} after its checkpoint's turn came, the timeout is {self.timeout_ms} ms"
            self.findings.violated("overtook-early", message, begun, event)

    def _sent(self, event: BarrierSent) -> None:
        if event.channel not in self.aside and (event.attempt, event.checkpoint) in self.triggered:
            self.waiting[event.attempt, event.channel] = event, []

    def _processed(self, event: BatchProcessed) -> None:
        waiting = self.waiting.get((event.attempt, event.channel))
        if waiting is None or not self.steady:
            return
        sent, batches = waiting
        triggered = self.triggered[sent.attempt, sent.checkpoint]
        if event.time_ns - triggered.time_ns <= (self.timeout_ms + WAY_MS) * NS_PER_MS:
            return  # However the clocks were read.
        # Neither side lets a barrier overtake of which it knows that it was given up.
        if any((event.attempt, side, sent.checkpoint) in self.aborted for side in event.channel.split("->")):
            return
        if (
            self.clocks.between(triggered, event).low > self.timeout_ms + WAY_MS
            and self.clocks.between(sent, event).low > WAY_MS
        ):
            batches.append(event)

    def _notified(self, event: NotificationReceived) -> None:
        if not event.completed:
            self.aborted.add((event.attempt, event.subtask, event.checkpoint))

    def _received(self, event: BarrierReceived) -> None:
        if event.overtaking and (event.attempt, event.checkpoint) in self.triggered:
            self._early(event, f"barrier {event.checkpoint} overtakes on {event.channel}", event.checkpoint)
        waiting = self.waiting.get((event.attempt, event.channel))
        if waiting is None or waiting[0].checkpoint != event.checkpoint:
            return
        sent, batches = self.waiting.pop((event.attempt, event.channel))
        if not self.steady:
            return
        since_ns = event.time_ns - self.triggered[sent.attempt, sent.checkpoint].time_ns
        self.findings.check("barrier-waits", since_ns > self.timeout_ms * NS_PER_MS)
        if len(batches) > FEW:
            message = (
                f"barrier {event.checkpoint} waits on {event.channel} for "
                f"{plural(len(batches), 'batch', 'batches')}, {since_ns / NS_PER_MS:.3g} ms after its trigger; the "
                f"alignment timeout is {self.timeout_ms} ms"
            )
            self.findings.violated("barrier-waits", message, sent, *batches[:2], event)


def _with_chains(heads: set[str], layout: Layout) -> set[str]:
    """Subtasks, and what is chained to them."""
    return heads | {one for chain in layout.chains if chain[0] in heads for one in chain}
