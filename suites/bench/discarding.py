"""A runtime whose sink throws rows away, as Flink's `blackhole` does, for benchmarks of everything in front of it."""

from __future__ import annotations

from typing import Any

from holdfast.fixtures.mutants.compose import with_task
from holdfast.fixtures.reference.protocol.effects import Effects
from holdfast.fixtures.reference.protocol.tasks.sink_task import SinkTask
from holdfast.harness.model.events import CheckpointCompleted, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.oracles.shared.fold_model import MASK
from holdfast.suites.bench.final_sums import totals


class DiscardingSink(SinkTask):
    """Keeps nothing."""

    def take(self, batch: Any, gate: int, effects: Effects) -> None:
        """Nobody will ask for it."""


VARIANT = f"{__name__}:DISCARDING"
DISCARDING = with_task(VARIANT, DiscardingSink, VertexKind.SINK)


def check_final_state(history: History) -> None:
    """There is no output, so what the sums held at the last checkpoint is compared with the whole input.

    Raises:
        OSError: it is something else.
    """
    last = max((event.checkpoint for event in history.of(CheckpointCompleted)), default=0)
    states = [event.state for event in history.of(SnapshotTaken) if event.checkpoint == last and event.state]
    found = (
        sum(state.records for state in states),
        sum(state.value for state in states),
        sum(state.digest for state in states) & MASK,
    )
    expected = totals(history)
    if found != expected:
        raise OSError(f"the run does not count: the sums hold {found} in the end, and the input {expected}.")
