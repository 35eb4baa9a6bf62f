"""Faults of a link: between two subtasks, coordinator and workers, or the system under test and a service of its."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from holdfast.faults.landing import Crossing, crossings, effects, operations, silence_in, window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import ANY_FAILURE, Consequence
from holdfast.harness.model.events import CommitFailed, FailureCounted, FaultInjected, StorageFailed
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.network import BOTH, Detail, LinkControl, LinkImpairment, LinkReset

LINKS = frozenset({Role.CHANNEL, Role.COORDINATOR, Role.STORAGE, Role.BROKER, Role.SINK_SYSTEM})
_WITH_SOURCES = LINKS | {Role.SOURCE_SYSTEM}
"""Queues send ahead of what is read: nobody sees how long a record took, but whether any came."""
_MILLISECOND_NS = 1_000_000
_ROUNDING_NS = 1_000
"""Virtual times are fractions of milliseconds, and cut to whole nanoseconds."""
_DEFAULT_DELAY_MS = 100
_DEFAULT_KILOBYTES_PER_SECOND = 1
_OTHERS = {
    Role.COORDINATOR: Capability.IMPAIR_COORDINATOR,
    Role.STORAGE: Capability.IMPAIR_STORAGE,
    Role.BROKER: Capability.IMPAIR_BROKER,
    Role.SOURCE_SYSTEM: Capability.IMPAIR_SOURCE,
    Role.SINK_SYSTEM: Capability.IMPAIR_SINK,
}


_LONG_DELAY_INTERVALS = 4
"""More than heartbeats and short checkpoint timeouts wait."""


def _has_channels(scene: Scene) -> bool:
    return bool(scene.channels())


def _channel(scene: Scene) -> Target:
    return Target(Role.CHANNEL, scene.stream.below(len(scene.channels())))


def _draw_cut(scene: Scene) -> list[FaultSpec]:
    return [FaultSpec("cut", _channel(scene), scene.unaimed(), scene.lasting_ms())]


def draw_slow(scene: Scene) -> list[FaultSpec]:
    """A channel is late for a while, and for as long again as it is late."""
    longest = _LONG_DELAY_INTERVALS if scene.is_long() else 1
    delay_ms = scene.stream.between(2, longest * scene.interval_ms)
    target, schedule = _channel(scene), scene.unaimed()
    return [FaultSpec("slow", target, schedule, scene.lasting_ms() + delay_ms, {"delay_ms": delay_ms})]


class LinkFault:
    """What the faults of a link have in common: they last, and one verb undoes each."""

    kind: str
    roles = LINKS
    parameters: Mapping[str, tuple[type, str]] = {}
    lasting = True
    may_cause = frozenset(
        {Consequence.HOLDS_UP_RECORDS, Consequence.DISTURBS_MESSAGES, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK}
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return _OTHERS.get(spec.target.role, Capability.IMPAIR_CHANNEL)

    def undo(self, control: LinkControl, spec: FaultSpec) -> None:
        control.restore(spec.target, self.kind, self._detail(spec))

    def healed(self, control: LinkControl, spec: FaultSpec) -> bool:
        return control.whole(spec.target, self.kind, self._detail(spec))

    def _detail(self, spec: FaultSpec) -> Detail:
        """What tells it from others of its kind."""
        return ""


class Cut(LinkFault):
    """Everything on a link is held back and delivered after the heal; its connections stay open."""

    kind = "cut"
    roles = _WITH_SOURCES
    parameters: Mapping[str, tuple[type, str]] = {
        "direction": (
            str,
            "`forward` (from the sender, or from the system under test), `backward`; `both` if not given",
        ),
    }
    colour = "#cc79a7"
    control = LinkControl
    leaves = "nothing: what was held back arrives in order"
    attacks: Sequence[Attack] = (
        Attack("cut", _draw_cut, (Capability.CUT_CHANNEL,), Occasion.MIXED, 2, _has_channels, place=6),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        one_way = self._detail(spec) != BOTH
        return Capability.CUT_CHANNEL if spec.target.role is Role.CHANNEL and not one_way else super().needs(spec)

    def inject(self, control: LinkControl, spec: FaultSpec) -> None:
        control.cut(spec.target, self._detail(spec))

    def _detail(self, spec: FaultSpec) -> str:
        return str(spec.parameters.get("direction", BOTH))

    def landed(self, history: History, fault: int) -> bool:
        """Nothing came through for most of the cut, although something was on its way."""
        return _held_back(history, fault)


class BlackHole(LinkFault):
    """Everything on a link is taken and never delivered; at the heal its connections are reset."""

    kind = "black-hole"
    roles = _WITH_SOURCES
    colour = "#882255"
    control = LinkImpairment
    leaves = "the outcome of every request that was on its way"

    def inject(self, control: LinkImpairment, spec: FaultSpec) -> None:
        control.black_hole(spec.target)

    def landed(self, history: History, fault: int) -> bool:
        """Nothing came through for most of the time, although something was on its way."""
        return _held_back(history, fault)


class Slow(LinkFault):
    """Everything on a link is delayed, in order."""

    kind = "slow"
    parameters: Mapping[str, tuple[type, str]] = {
        "delay_ms": (int, f"milliseconds added to everything; {_DEFAULT_DELAY_MS} if not given"),
    }
    colour = "#56b4e9"
    control = LinkControl
    leaves = "nothing: everything arrives in order"
    attacks: Sequence[Attack] = (
        Attack("slow", draw_slow, (Capability.SLOW_CHANNEL,), Occasion.MIXED, 2, _has_channels, place=7),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SLOW_CHANNEL if spec.target.role is Role.CHANNEL else super().needs(spec)

    def inject(self, control: LinkControl, spec: FaultSpec) -> None:
        control.slow(spec.target, self._detail(spec))

    def landed(self, history: History, fault: int) -> bool:
        """Whether at least half of what was sent while it was slow took the delay or longer.

        What the heal let pass early is no objection.
        """
        window = window_of(history, fault)
        if window is None:
            return False
        delay_ns = self._detail(history.plan.faults[fault]) * _MILLISECOND_NS
        delayed = undelayed = 0
        for each in _passages(history, fault):
            if each.received_ns is not None and window.holds(each.sent_ns):
                if each.received_ns - each.sent_ns + _ROUNDING_NS >= delay_ns:
                    delayed += 1
                elif each.sent_ns + delay_ns <= window.end_ns:
                    undelayed += 1
        return delayed > 0 and delayed >= undelayed

    def _detail(self, spec: FaultSpec) -> int:
        return int(spec.parameters.get("delay_ms", _DEFAULT_DELAY_MS))


class Limit(LinkFault):
    """A link carries only so much."""

    kind = "limit"
    parameters: Mapping[str, tuple[type, str]] = {
        "kilobytes_per_second": (int, f"each way; {_DEFAULT_KILOBYTES_PER_SECOND} if not given"),
    }
    colour = "#44aa99"
    control = LinkImpairment
    leaves = "nothing: everything arrives in order"

    def inject(self, control: LinkImpairment, spec: FaultSpec) -> None:
        control.limit(spec.target, self._detail(spec))

    def _detail(self, spec: FaultSpec) -> int:
        return int(spec.parameters.get("kilobytes_per_second", _DEFAULT_KILOBYTES_PER_SECOND))

    def landed(self, history: History, fault: int) -> bool:
        """Whether what was sent under the limit usually took longer than what was sent without."""
        window = window_of(history, fault)
        if window is None:
            return False
        inside: list[int] = []
        outside: list[int] = []
        for each in _passages(history, fault):
            if each.received_ns is not None:
                (inside if window.holds(each.sent_ns) else outside).append(each.received_ns - each.sent_ns)
        return bool(inside and outside) and median(inside) > median(outside)


class Reset(LinkFault):
    """The connections of a link are reset at both ends, once."""

    kind = "reset"
    roles = _WITH_SOURCES
    colour = "#999933"
    control = LinkReset
    leaves = "the outcome of every request that was on its way"
    may_cause = frozenset({Consequence.DISTURBS_MESSAGES, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK})
    lasting = False

    def inject(self, control: LinkReset, spec: FaultSpec) -> None:
        control.reset(spec.target)

    def undo(self, control: LinkControl, spec: FaultSpec) -> None:
        """New connections were never kept out."""

    def healed(self, control: LinkControl, spec: FaultSpec) -> bool:
        """Nothing of it stays."""
        return True

    def landed(self, history: History, fault: int) -> bool:
        """Somebody complained afterwards: a client that reconnects without a word leaves no proof."""
        harm = {
            event.fault
            for event in history.of(FaultInjected)
            if event.may_cause is None or _HARM.intersection(event.may_cause)
        }
        specs = history.plan.faults
        harmful = [spec for number, spec in enumerate(specs) if number in harm]
        return any(
            effects(history, fault, kind, harmful.__contains__, lasting=False)
            for kind in (FailureCounted, StorageFailed, CommitFailed)
        )


_HARM = ANY_FAILURE | {Consequence.ENDS_PROCESS}
"""What somebody may complain about."""


def _passages(history: History, fault: int) -> Iterable[Crossing]:
    """What went, or was to go, through the link that a fault aims at."""
    plan = history.plan
    target = plan.faults[fault].target
    if target.role is Role.CHANNEL:
        return crossings(history, network_channels(plan.job, plan.topology)[target.index])
    return operations(history, target.role)


def _held_back(history: History, fault: int) -> bool:
    window = window_of(history, fault)
    if window is None:
        return False
    passages = list(_passages(history, fault))
    silence = silence_in(window, (each.received_ns for each in passages if each.received_ns is not None))
    if silence is None:
        return False
    end_ns = silence.end_ns - silence.length_ns // 4
    return any(
        each.sent_ns < end_ns and (each.received_ns is None or each.received_ns >= silence.end_ns) for each in passages
    )


def slow(channel: Target, delay_ms: int, duration_ms: int = 300) -> FaultSpec:
    """A late channel, from the first attempt on."""
    return FaultSpec("slow", channel, Schedule(at_event="attempt_started"), duration_ms, {"delay_ms": delay_ms})
