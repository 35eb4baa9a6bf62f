"""Faults of what a coordinator announces: notices of checkpoints and assignments of splits get lost, or come late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.faults.landing import since, window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    NotificationReceived,
    NotificationSent,
    SplitsAssigned,
    SplitsReceived,
    TriggerReceived,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.message_contract import ALL_KINDS, NOTICES, MessageContract, MessageKind
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role
from holdfast.harness.spi.attack import PLAN_STREAM, Attack, Feature, Occasion, Scene
from holdfast.harness.spi.controls.network import NoticeControl, SplitControl

_DEFAULT_PERCENT = 50
_INTERVALS = 4


def _draw_notices(scene: Scene) -> list[FaultSpec]:
    parameters: dict[str, int | str] = {"percent": scene.stream.choice((60, 90))}
    duration_ms = _INTERVALS * scene.interval_ms
    return [FaultSpec("lose-notices", COORDINATOR, scene.unaimed(), duration_ms, parameters)]


class LoseNotices:
    """Notices of completion and abort are lost, each with the same chance."""

    kind = "lose-notices"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {
        "percent": (int, f"of the notices that are lost; {_DEFAULT_PERCENT} if not given"),
    }
    colour = "#aa4499"
    control = NoticeControl
    leaves = "nothing: the next notice covers those that were lost"
    may_cause = frozenset({Consequence.DISTURBS_MESSAGES})
    lasting = True
    attacks: Sequence[Attack] = (
        Attack("lose-notices", _draw_notices, (Capability.LOSE_NOTICES,), Occasion.MIXED, 1, place=13),
    )

    def precludes(self, spec: FaultSpec) -> Collection[Feature]:
        """See spi.attack.Precluding. A sink whose last notice is lost never learns again what it must commit."""
        return (Feature.NO_FINAL_CHECKPOINT,)

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LOSE_NOTICES

    def beyond(self, spec: FaultSpec, contract: MessageContract) -> str:
        """See spi.fault.ContractBound."""
        if all(contract[kind].lost_alone for kind in NOTICES):
            return ""
        return "a notice is lost only with its connection: use lose-messages."

    def inject(self, control: NoticeControl, spec: FaultSpec) -> None:
        control.lose_notices(int(spec.parameters.get("percent", _DEFAULT_PERCENT)))

    def undo(self, control: NoticeControl, spec: FaultSpec) -> None:
        control.lose_notices(0)

    def healed(self, control: NoticeControl, spec: FaultSpec) -> bool:
        return True

    def landed(self, history: History, fault: int) -> bool:
        """A notice that was sent meanwhile was not heard, although its task heard a later one, or its process the
        trigger of a later checkpoint."""
        window = window_of(history, fault)
        if window is None:
            return False
        heard: dict[tuple[int, str], set[int]] = {}
        for event in history.of(NotificationReceived):
            heard.setdefault((event.attempt, event.subtask), set()).add(event.checkpoint)
        arrived = {(event.attempt, event.subtask, event.checkpoint) for event in history.of(TriggerReceived)}
        triggered_ns = {
            (event.attempt, _index(event.subtask)): event.time_ns
            for event in history.of(TriggerSent)
            if (event.attempt, event.subtask, event.checkpoint) in arrived
        }
        for sent in history.of(NotificationSent):
            known = heard.get((sent.attempt, sent.subtask), set())
            if window.start_ns <= sent.time_ns <= window.end_ns and sent.checkpoint not in known:
                if max(known, default=0) > sent.checkpoint:
                    return True
                if triggered_ns.get((sent.attempt, _index(sent.subtask)), 0) > sent.time_ns:
                    return True
        return False


def _index(subtask: str) -> str:
    """Subtasks of one index share a process, and its connection."""
    return subtask.rpartition("[")[2]


def lose_notices(percent: int, duration_ms: int, **when: Any) -> FaultSpec:
    """Notices of completion and abort are lost."""
    return FaultSpec("lose-notices", COORDINATOR, Schedule(**when), duration_ms, {"percent": percent})


_MILLISECOND_NS = 1_000_000


def _draw_splits(scene: Scene) -> list[FaultSpec]:
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
            _draw_splits,
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
        """Whether an assignment after the injection was received less often than sent, or late by that much."""
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
