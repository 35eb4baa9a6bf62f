"""Runs of the reference runtime on real processes, with what a benchmark wants to know of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    BatchProcessed,
    BatchSent,
    CheckpointCompleted,
    RowsVisible,
    SourceEmitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.topology import channel_ends
from holdfast.harness.spi.system import Deployment
from holdfast.suites.bench.figures import repeated, spent_s
from holdfast.suites.bench.peers.progress import Spent

SAMPLE_S = 0.1


class ObservedReference(ReferenceSystem):
    """The reference runtime. `zero_ns`: when the last deployment's clock, which is that of the events, began on the
    monotonic clock."""

    zero_ns = 0

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        """As the runtime does."""
        deployment = super().deploy(plan, inputs, tier, folder)
        self.zero_ns = time.monotonic_ns() - int(deployment.now_ms * 1e6)
        return deployment


@contextmanager
def processor_time() -> Iterator[list[Spent]]:
    """Processor time of all processes below this one, sampled while the context lasts, on the clock of the events."""
    spent: list[Spent] = []

    def measure() -> None:
        spent.append(Spent(time.monotonic(), spent_s(os.getpid(), without_ancestor=True)))

    with repeated(measure, SAMPLE_S):
        yield spent


class Batches:
    """What became of every batch that the sources emitted in a run without failures.

    Attributes:
        emitted: in the order of the history.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self.emitted = history.of(SourceEmitted)
        self._applied_ns = self._find_applied()
        self._checkpoints = history.of(CheckpointCompleted)
        self._visible_ns = self._find_visible()

    def applied_ns(self, batch: SourceEmitted) -> int:
        """When the last of its records had been added to a sum."""
        return self._applied_ns[id(batch)]

    def visible_ns(self, batch: SourceEmitted) -> int:
        """When the reader saw the output of the first checkpoint that holds it.

        Raises:
            ValueError: none does.
        """
        for checkpoint in self._checkpoints:
            if checkpoint.positions[batch.partition] >= batch.next_offset:
                return self._visible_ns[checkpoint.checkpoint]
        raise ValueError("a batch was in no completed checkpoint: the run was cut short.")

    def committed_samples(self) -> Iterator[tuple[int, int]]:
        """When the reader had seen the output of each checkpoint, with how many records that stands for; first, when
        the first record was read. Checkpoints that hold all input are left out: they had waited for their turn while
        there was nothing to do."""
        yield min(batch.time_ns for batch in self.emitted), 0
        total = self._history.inputs.total_records
        for checkpoint in self._checkpoints:
            if 0 < sum(checkpoint.positions) < total:
                yield self._visible_ns[checkpoint.checkpoint], sum(checkpoint.positions)

    def _find_applied(self) -> Mapping[int, int]:
        """By identity of a source's event. What a source sends is recorded right behind what it emits."""
        processed = {
            (event.attempt, event.channel, event.position): event.time_ns for event in self._history.of(BatchProcessed)
        }
        emitting: dict[str, SourceEmitted] = {}
        applied: dict[int, int] = {}
        for event in self._history.events:
            if isinstance(event, SourceEmitted):
                emitting[event.subtask] = event
            elif isinstance(event, BatchSent) and channel_ends(event.channel)[0] in emitting:
                batch = emitting[channel_ends(event.channel)[0]]
                done = processed[event.attempt, event.channel, event.position]
                applied[id(batch)] = max(done, applied.get(id(batch), 0))
        return applied

    def _find_visible(self) -> Mapping[int, int]:
        seen = {event.name: event.time_ns for event in self._history.of(RowsVisible)}
        visible: dict[int, int] = {}
        for checkpoint in self._checkpoints:
            # Without rows for it there is nothing to see: it counts from its completion.
            visible[checkpoint.checkpoint] = checkpoint.time_ns
        for event in self._history.of(TransactionPrecommitted):
            if event.checkpoint in visible and event.transaction in seen:
                visible[event.checkpoint] = max(visible[event.checkpoint], seen[event.transaction])
        return visible
