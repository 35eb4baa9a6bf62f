"""Faults of split assignment: what an enumerator tells a reader is lost, or comes late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from holdfast.faults.landing import since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import SplitsAssigned, SplitsReceived
from holdfast.harness.model.history import History
from holdfast.harness.model.message_contract import ALL_KINDS, MessageContract, MessageKind
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls

_MILLISECOND_NS = 1_000_000


class LoseSplits:
    """The next messages by which splits are assigned never arrive, or arrive late, behind what was sent after them."""

    kind = "lose-splits"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {
        "occurrences": (int, "how many messages; 1 if not given"),
        "delay_ms": (int, "how late they arrive; 0: never, which is so if not given"),
    }
    colour = "#ddaa33"
    leaves = "nothing: a split that was not confirmed is assigned again"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LOSE_SPLITS

    def beyond(self, spec: FaultSpec, contract: MessageContract) -> str:
        """See spi.fault.ContractBound."""
        delivery = contract[MessageKind.ASSIGN_SPLITS]
        if int(spec.parameters.get("delay_ms", 0)):
            late = "a split assignment is not overtaken by other messages: use delay-messages."
            return "" if delivery.overtaken_by == ALL_KINDS else late
        return "" if delivery.lost_alone else "a split assignment is lost only with its connection: use lose-messages."

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.lose_splits(int(spec.parameters.get("occurrences", 1)), int(spec.parameters.get("delay_ms", 0)))

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.lose_splits(0, 0)

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return True

    def landed(self, history: History, fault: int) -> bool:
        """Of what was assigned after the injection something was received less often than sent, or that much later."""
        delay_ns = int(history.plan.faults[fault].parameters.get("delay_ms", 0)) * _MILLISECOND_NS
        sent = since(history, fault, SplitsAssigned)
        surplus = Counter(map(_pairing, sent))
        surplus.subtract(_pairing(event) for event in history.of(SplitsReceived))
        if any(count > 0 for count in surplus.values()):
            return True
        first: dict[tuple[object, ...], int] = {}
        for event in sent:
            first.setdefault(_pairing(event), event.time_ns)
        return any(
            delay_ns and event.time_ns - first[_pairing(event)] >= delay_ns
            for event in history.of(SplitsReceived)
            if _pairing(event) in first
        )


def _pairing(event: SplitsAssigned | SplitsReceived) -> tuple[object, ...]:
    return event.attempt, event.subtask, event.splits
