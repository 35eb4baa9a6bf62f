"""The fault that needs no luck: work that was done, and told, is done again."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import injection
from holdfast.faults.momentary import Momentary
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import CheckpointCompleted, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls.job import ReplayControl


class Replay(Momentary):
    """What a crash right before the completion of a checkpoint leaves behind, made without a crash."""

    kind = "replay"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#117733"
    control = ReplayControl
    leaves = "the work of the last checkpoint, which is done twice"

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.MICRO_BATCHES

    def inject(self, control: ReplayControl, spec: FaultSpec) -> None:
        control.replay()

    def healed(self, control: ReplayControl, spec: FaultSpec) -> bool:
        return control.running()

    def landed(self, history: History, fault: int) -> bool:
        """A checkpoint completed twice, the second time after the injection, and there had been work in it."""
        injected = injection(history, fault)
        if injected is None:
            return False
        completed: dict[int, list[CheckpointCompleted]] = {}
        for event in history.of(CheckpointCompleted):
            completed.setdefault(event.checkpoint, []).append(event)
        return any(
            len(times) > 1
            and history.position(times[-1]) > history.position(injected)
            and _worked(history, completed, checkpoint)
            for checkpoint, times in completed.items()
        )


def _worked(history: History, completed: Mapping[int, list[CheckpointCompleted]], checkpoint: int) -> bool:
    """Whether a checkpoint covers more than the one before it, or rows became visible since that."""
    older = max((each for each in completed if each < checkpoint), default=None)
    if older is None or completed[older][0].positions != completed[checkpoint][0].positions:
        return True
    since, until = (history.position(each) for each in (completed[older][0], completed[checkpoint][-1]))
    return any(since < history.position(event) < until for event in history.of(RowsVisible))
