"""Faults of news: what a coordinator tells and nobody hears."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.faults.landing import window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import NotificationReceived, NotificationSent, TriggerReceived, TriggerSent
from holdfast.harness.model.history import History
from holdfast.harness.model.message_contract import NOTICES, MessageContract
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role
from holdfast.harness.spi.attack import Attack, Feature, Occasion, Scene
from holdfast.harness.spi.controls.message import NoticeControl

_DEFAULT_PERCENT = 50
_INTERVALS = 4


def _draw(scene: Scene) -> list[FaultSpec]:
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
        Attack("lose-notices", _draw, (Capability.LOSE_NOTICES,), Occasion.MIXED, 1, place=13),
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
