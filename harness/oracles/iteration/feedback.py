"""FEEDBACK: of a job with a loop, a restart loses what was in the loop, and nothing else (RULES ITR-02)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from holdfast.harness.model.events import (
    AttemptStarted,
    BatchProcessed,
    BatchSent,
    Event,
    RowsVisible,
    SnapshotTaken,
    SourceEmitted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Contract, Partitioning, VertexKind
from holdfast.harness.model.records import IdentityRow
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.topology import channel_ends
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.output.identity_rows import describe_identities
from holdfast.harness.oracles.output.markers import marked_partitions
from holdfast.harness.oracles.output.missing import Fate, rule_for_missing
from holdfast.harness.oracles.output.two_bit_counters import NAMED
from holdfast.harness.oracles.shared.layout import widest_layout
from holdfast.harness.oracles.shared.lineage import expected_rows

_WHOLE = frozenset({VertexKind.SOURCE, VertexKind.MAP, VertexKind.UNION, VertexKind.ITERATION, VertexKind.SINK})
"""Kinds that pass on batches as they come."""


class FeedbackOracle:
    """Follows batches into the loop, and finds those that were in it at the checkpoints that were restored."""

    name = "FEEDBACK"
    title = "records in loops"
    invariant = "What a restart loses was in a feedback edge when the checkpoint was taken that it goes back to."
    clauses: Mapping[str, str] = {
        "lost-outside-loop": "a record is lost that was in no loop at a checkpoint that was restored",
    }
    evidence: tuple[type[Event], ...] = (SourceEmitted, BatchSent, BatchProcessed, SnapshotTaken, RowsVisible)

    def applies(self, history: History) -> bool:
        job = history.plan.job
        return (
            job.iterative
            and job.contract is Contract.RECORDS
            and all(vertex.kind in _WHOLE and not vertex.socket for vertex in job.vertices)
            and all(edge.partitioning is not Partitioning.HASH for edge in job.edges)
        )

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        restored = {event.restored_checkpoint for event in history.of(AttemptStarted)} - {None}
        if not (restored and self.applies(history) and _is_decided(history)):
            return findings.verdict()
        expected = expected_rows(history.plan.job, history.inputs)
        shown = {(row.partition, row.offset) for row in cast(Iterator[IdentityRow], history.output.rows())}
        lost = sorted(expected.keys() - shown)
        inside = [lap for lap in _Loop(history).left if lap.checkpoint in restored]
        elsewhere = [
            (partition, offset)
            for partition, offset in lost
            if not any(lap.partition == partition and lap.first <= offset < lap.next_offset for lap in inside)
        ]
        findings.check("lost-outside-loop", expected.total())
        if elsewhere:
            what = describe_identities(history.inputs, elsewhere[:NAMED], len(elsewhere))
            findings.violated(
                "lost-outside-loop", f"{plural(len(elsewhere), 'record is', 'records are')} lost, in no loop: {what}"
            )
        if len(lost) > len(elsewhere):
            findings.inform(
                f"{plural(len(lost) - len(elsewhere), 'record is', 'records are')} lost in the loop, as "
                "was to be expected"
            )
        return findings.verdict()


def _is_decided(history: History) -> bool:
    """Whether what is missing is lost: the end is reported, or the marker of every partition has its effect."""
    if rule_for_missing(history, marked=False).fate is Fate.LOST:
        return True
    return rule_for_missing(history, marked=True).fate is Fate.LOST and all(marked_partitions(history))


class _Batch(NamedTuple):
    """What a batch is made of."""

    partition: int
    first: int
    next_offset: int


class _Lap(NamedTuple):
    """A batch that was in the loop when a checkpoint was taken."""

    checkpoint: int
    partition: int
    first: int
    next_offset: int


class _Loop:
    """One pass over a history. A subtask takes a batch and sends it on before it takes another one."""

    def __init__(self, history: History) -> None:
        layout = widest_layout(history)
        self._heads = {member: chain[0] for chain in layout.chains for member in chain}
        self._feedback = frozenset(layout.feedback)
        self._in_hand: dict[tuple[int, str], _Batch] = {}
        self._sent: dict[tuple[int, str, int], _Batch] = {}
        self._taken: set[tuple[int, str, int]] = set()
        self._entered: dict[tuple[int, int, str], int] = {}
        self._came_back: dict[tuple[int, int, str], frozenset[int]] = {}
        replay(
            history,
            {
                SourceEmitted: self._source_emitted,
                BatchSent: self._batch_sent,
                BatchProcessed: self._batch_processed,
                SnapshotTaken: self._snapshot_taken,
            },
        )
        self.left = list(self._laps())

    def _head(self, subtask: str) -> str:
        return self._heads.get(subtask, subtask)

    def _source_emitted(self, event: SourceEmitted) -> None:
        batch = _Batch(event.partition, event.first_offset, event.next_offset)
        self._in_hand[event.attempt, self._head(event.subtask)] = batch

    def _batch_sent(self, event: BatchSent) -> None:
        batch = self._in_hand.get((event.attempt, self._head(channel_ends(event.channel)[0])))
        if batch is not None:
            self._sent[event.attempt, event.channel, event.position] = batch

    def _batch_processed(self, event: BatchProcessed) -> None:
        place = event.origin or event.attempt, event.channel, event.position
        receiver = event.attempt, self._head(channel_ends(event.channel)[1])
        if place in self._sent:
            self._in_hand[receiver] = self._sent[place]
        else:
            self._in_hand.pop(receiver, None)
        if event.channel in self._feedback:
            self._taken.add(place)

    def _snapshot_taken(self, event: SnapshotTaken) -> None:
        """What was sent round by then, and what had come back."""
        for channel in self._feedback:
            sender, receiver = channel_ends(channel)
            place = event.attempt, event.checkpoint, channel
            if event.subtask == sender:
                self._entered[place] = sum(key[:2] == (event.attempt, channel) for key in self._sent)
            if event.subtask == receiver:
                ours = (key[2] for key in self._taken if key[:2] == (event.attempt, channel))
                self._came_back[place] = frozenset(ours)

    def _laps(self) -> Iterator[_Lap]:
        for (attempt, checkpoint, channel), entered in self._entered.items():
            back = self._came_back.get((attempt, checkpoint, channel), frozenset())
            for position in range(entered):
                batch = self._sent.get((attempt, channel, position))
                if position not in back and batch is not None:
                    yield _Lap(checkpoint, *batch)
