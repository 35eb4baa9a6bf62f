"""Faults of split assignment: what an enumerator tells a reader is lost, or comes late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from holdfast.faults.landing import since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import SplitsAssigned, SplitsReceived
from holdfast.harness.model.history import History
from holdfast.harness.model.message_contract import ALL_KINDS, MessageContract, MessageKind
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role
from holdfast.harness.spi.attack import PLAN_STREAM, Attack, Occasion, Scene
from holdfast.harness.spi.controls.message import SplitControl

_MILLISECOND_NS = 1_000_000


def _draw(scene: Scene) -> list[FaultSpec]:
    """Some of the messages by which an enumerator assigns splits at the start do not arrive, or arrive late."""
    parameters: dict[str, int | str] = {
        "occurrences": scene.stream.between(1, 2),
        "delay_ms": scene.stream.choice((0, scene.interval_ms)),
    }
    return [FaultSpec("lose-splits", COORDINATOR, Schedule(), scene.lasting_ms(), parameters)]


class LoseSplits:
    """The next messages by which splits are assigned never arrive, or arrive late, behind what was sent after them."""

    kind = "lose-splits"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {
        "occurrences": (int, "how many messages; 1 if not given"),
        "delay_ms": (int, "how late they arrive; 0: never, which is so if not given"),
    }
    colour = "#ddaa33"
    control = SplitControl
    leaves = "nothing: a split that was not confirmed is assigned again"
    may_cause = frozenset({Consequence.DISTURBS_MESSAGES, Consequence.FAILS_TASK})
    lasting = True
    attacks: Sequence[Attack] = (
        Attack(
            "lose-splits",
            _draw,
            (Capability.LOSE_SPLITS,),
            Occasion.FIRST,
            60,
            possible=lambda scene: scene.enumerated,
            stream=PLAN_STREAM,
            place=1,
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LOSE_SPLITS

    def beyond(self, spec: FaultSpec, contract: MessageContract) -> str:
        """See spi.fault.ContractBound."""
        delivery = contract[MessageKind.ASSIGN_SPLITS]
        if int(spec.parameters.get("delay_ms", 0)):
            late = "a split assignment is not overtaken by other messages: use delay-messages."
            return "" if delivery.overtaken_by == ALL_KINDS else late
        return "" if delivery.lost_alone else "a split assignment is lost only with its connection: use lose-messages."

    def inject(self, control: SplitControl, spec: FaultSpec) -> None:
        control.lose_splits(int(spec.parameters.get("occurrences", 1)), int(spec.parameters.get("delay_ms", 0)))

    def undo(self, control: SplitControl, spec: FaultSpec) -> None:
        control.lose_splits(0, 0)

    def healed(self, control: SplitControl, spec: FaultSpec) -> bool:
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


def lose_splits(occurrences: int = 1, delay_ms: int = 0) -> FaultSpec:
    """The first assignments of splits."""
    parameters: dict[str, int | str] = {"occurrences": occurrences, "delay_ms": delay_ms}
    return FaultSpec("lose-splits", COORDINATOR, Schedule(), 1_000, parameters)
