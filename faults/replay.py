"""The fault that needs no luck: work that was done, and told, is done again."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import injection
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls


class Replay:
    """What a crash right before the completion of a checkpoint leaves behind, made without a crash."""

    kind = "replay"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#117733"
    leaves = "the work of the last checkpoint, which is done twice"
    lasting = False

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.MICRO_BATCHES

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.replay()

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        pass

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return controls.alive(spec.target)

    def landed(self, history: History, fault: int) -> bool:
        """A checkpoint completed twice, the second time after the injection, and it covers more than the one before."""
        injected = injection(history, fault)
        if injected is None:
            return False
        completed: dict[int, list[CheckpointCompleted]] = {}
        for event in history.of(CheckpointCompleted):
            completed.setdefault(event.checkpoint, []).append(event)
        return any(
            len(times) > 1
            and history.position(times[-1]) > history.position(injected)
            and times[0].positions != _positions_before(completed, checkpoint)
            for checkpoint, times in completed.items()
        )


def _positions_before(completed: Mapping[int, list[CheckpointCompleted]], checkpoint: int) -> tuple[int, ...]:
    """Those of the newest checkpoint that is older."""
    older = max((each for each in completed if each < checkpoint), default=None)
    return () if older is None else completed[older][0].positions
