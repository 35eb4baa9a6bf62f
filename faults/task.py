"""Faults of one subtask: its work takes longer, and what is above it has to wait."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from holdfast.faults.landing import window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import BatchProcessed
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.model.topology import subtasks
from holdfast.harness.spi.controls import Controls

_DEFAULT_DELAY_MS = 20
_MILLISECOND_NS = 1_000_000


class SlowTask:
    """Each batch keeps a subtask busy for so long: its inputs fill up, and then the outputs of those above it."""

    kind = "slow-task"
    roles = frozenset({Role.TASK})
    parameters: Mapping[str, tuple[type, str]] = {
        "delay_ms": (int, f"how long a batch takes; {_DEFAULT_DELAY_MS} if not given"),
    }
    colour = "#1b7837"
    leaves = "nothing: what waits is processed later, in order"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SLOW_TASK

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.slow_task(spec.target, self._delay_ms(spec))

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.restore_task(spec.target, self._delay_ms(spec))

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return controls.whole(spec.target, self.kind, self._delay_ms(spec))

    def landed(self, history: History, fault: int) -> bool:
        """The subtask processed at least two batches meanwhile, most of them so far apart as it was made slow."""
        window = window_of(history, fault)
        if window is None:
            return False
        plan = history.plan
        spec = plan.faults[fault]
        subtask = subtasks(plan.job, plan.topology)[spec.target.index]
        times_ns = [
            event.time_ns
            for event in history.of(BatchProcessed)
            if event.channel.endswith(f"->{subtask}") and window.holds(event.time_ns)
        ]
        gaps_ns = [later - earlier for earlier, later in pairwise(times_ns)]
        apart = sum(4 * gap_ns >= 3 * self._delay_ms(spec) * _MILLISECOND_NS for gap_ns in gaps_ns)
        return bool(gaps_ns) and 2 * apart >= len(gaps_ns)

    @staticmethod
    def _delay_ms(spec: FaultSpec) -> int:
        return int(spec.parameters.get("delay_ms", _DEFAULT_DELAY_MS))
