"""Faults of the input: a record that no operator can stand, and a rate that nobody planned for."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import RecordFailed, SourceEmitted
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import Partition
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls, Detail

_DEFAULT_PERCENT = 300
_SECOND_NS, _MILLISECOND_NS = 1_000_000_000, 1_000_000


class InputFault:
    """What the faults of the input have in common: they last, and one verb undoes each."""

    kind: str
    roles = frozenset({Role.SOURCE_SYSTEM})
    lasting = True

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.restore_input(self.kind, self._detail(spec))

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return controls.whole(spec.target, self.kind, self._detail(spec))

    def _detail(self, spec: FaultSpec) -> Detail:
        """What tells it from others of its kind."""
        raise NotImplementedError


class Poison(InputFault):
    """A record makes its operator fail, on every attempt, until it is healed."""

    kind = "poison"
    parameters: Mapping[str, tuple[type, str]] = {
        "partition": (int, "of the record; 0 if not given"),
        "offset": (int, "of the record; negative: from the end of the partition; 0 if not given"),
        "unrecoverable": (int, "1: its operator says that no restart can help; 0 if not given"),
    }
    colour = "#aa4466"
    leaves = "nothing: the record is processed once it is healed"

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.POISON_RECORD

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        partition, offset, recoverable = self._detail(spec)
        controls.poison(partition, offset, recoverable=recoverable)

    def landed(self, history: History, fault: int) -> bool:
        """The record made an operator fail after the injection."""
        partition, offset, _ = self._detail(history.plan.faults[fault])
        return any(
            (failed.partition, failed.offset) == (partition, offset % history.inputs.partitions[partition].regular)
            for failed in since(history, fault, RecordFailed)
        )

    def _detail(self, spec: FaultSpec) -> tuple[int, int, bool]:
        given = spec.parameters
        return int(given.get("partition", 0)), int(given.get("offset", 0)), not given.get("unrecoverable", 0)


class Surge(InputFault):
    """Input arrives faster than the workload says."""

    kind = "surge"
    parameters: Mapping[str, tuple[type, str]] = {
        "percent": (int, f"of the rate of the workload, above 100; {_DEFAULT_PERCENT} if not given"),
    }
    colour = "#6699cc"
    leaves = "nothing: no record is lost, and each keeps its place"

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SURGE_INPUT

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.surge(self._detail(spec))

    def landed(self, history: History, fault: int) -> bool:
        """Sources emitted, from the injection on, what by the workload was still to arrive."""
        return any(
            event.next_offset > _arrived(history.inputs.partitions[event.partition], event.time_ns)
            for event in since(history, fault, SourceEmitted)
        )

    def _detail(self, spec: FaultSpec) -> int:
        return int(spec.parameters.get("percent", _DEFAULT_PERCENT))


def _arrived(partition: Partition, time_ns: int) -> int:
    """How many records of a partition have arrived at a time, by the workload; one more, for what is just arriving."""
    since_ns = max(time_ns - partition.starts_ms * _MILLISECOND_NS, 0)
    return partition.preloaded + since_ns * partition.records_per_second // _SECOND_NS + 1
