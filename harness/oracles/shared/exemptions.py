"""Who may not be blamed for what: processes that were dead, paused, superseded, impersonated or waited for a processor,
and objects that the harness damaged. Worked out here and nowhere else.

Only a fault that acted exempts anybody. It is recorded before it acts, so what it leads to comes behind it. What it
exempts from follows from what it declares that it may cause (model.consequence), and from no name.
"""

from __future__ import annotations

from collections.abc import Collection

from holdfast.harness.model import events
from holdfast.harness.model.consequence import ANY_FAILURE, Consequence
from holdfast.harness.model.history import History, superseded
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.options import NS_PER_MS
from holdfast.harness.oracles.shared.stalls import Stalls

OfCheckpoint = (
    events.MetadataPublished | events.CheckpointCompleted | events.CheckpointAudited | events.SavepointCompleted
)


class Exemptions:
    """What one history exempts; `exemptions` makes it, once for each history.

    By path, it knows the stretches of the history in which the harness had spoilt an object. A stretch begins when the
    damage is recorded, which is before it acts. It ends when the content is back; where nothing was put back, it never
    ends. What hangs on an object, such as the files that only removed metadata name, is for the oracle to say: it
    passes all paths that a judgement rests on.

    Attributes:
        undisturbed: no fault acted.
        dead: lives of processes that ended during the run: they cannot have done what was still due.
        real_time: the machine had other things to do: who is late may only have had to wait.
        coordinator_paused: it stood still for a while: then its timers say nothing.
        gated: a step may have been stopped half way through, at a gate.
        superseded: a coordinator lost its job to a successor while it lived.
        stalls: stretches in which the machine kept processes waiting.
        job_of: the number of the job that an event belongs to.
    """

    def __init__(self, history: History) -> None:
        self._plan = history.plan
        self._acted = history.of(events.FaultInjected)
        self.undisturbed = not self._acted
        paused = self.acted(Consequence.PAUSES_PROCESS)
        self.coordinator_paused = any(event.target.startswith(Role.COORDINATOR) for event in paused)
        self._healed_ns = {event.fault: event.time_ns for event in history.of(events.FaultHealed)}
        self._died = history.of(events.NodeDied)
        self._slowed = history.of(events.StorageSlowed)
        self._ended_ns = history.end.ended_ns
        self.dead = frozenset(death.dead_node for death in self._died)
        self.real_time = history.end.real_time
        self.gated = any(fault.schedule.gate for fault in history.plan.faults)
        self.superseded = bool(superseded(history))
        self.stalls = Stalls(history)
        self.job_of = history.derived(Submissions).of
        self._damaged: dict[str, list[int]] = {}
        self._mended: dict[str, list[int]] = {}
        for damaged in history.of(events.ObjectDamaged):
            self._damaged.setdefault(damaged.path, []).append(history.position(damaged))
        for mended in history.of(events.ObjectMended):
            if mended.length is not None:
                self._mended.setdefault(mended.path, []).append(history.position(mended))
        self._position = {id(event): place for place, event in enumerate(history.events)} if self._damaged else {}
        self._published = by_checkpoint(history, events.MetadataPublished).first if self._damaged else {}

    # --- faults ---

    def acted(self, consequence: Consequence) -> list[events.FaultInjected]:
        """The faults that acted and may cause this, in the order in which they did."""
        return [event for event in self._acted if self.may_cause(event, consequence)]

    @staticmethod
    def may_cause(event: events.FaultInjected, consequence: Consequence) -> bool:
        """Whether a fault declares that it may cause this; one that declares nothing may cause any failure."""
        return consequence in _declared(event)

    @staticmethod
    def is_only(event: events.FaultInjected, consequence: Consequence, *besides: Consequence) -> bool:
        """Whether a fault may cause this, and of all else at most what stands besides."""
        declared = _declared(event)
        return consequence in declared and all(each is consequence or each in besides for each in declared)

    @staticmethod
    def is_within(event: events.FaultInjected, allowed: Collection[Consequence]) -> bool:
        """Whether a fault may cause nothing but these."""
        return all(each in allowed for each in _declared(event))

    def only(self, consequence: Consequence, *besides: Consequence) -> bool:
        """Whether that is so of every fault that acted, if any did."""
        return all(self.is_only(event, consequence, *besides) for event in self._acted)

    def planned(self, consequence: Consequence | None = None) -> list[FaultSpec]:
        """The specs of the plan's faults that acted and may cause this, or anything."""
        faults = self._plan.faults
        acted = self._acted if consequence is None else self.acted(consequence)
        return [faults[event.fault] for event in acted if event.fault < len(faults)]

    # --- processes ---

    @property
    def punctual(self) -> bool:
        """Whether a coordinator that is late has no excuse: it has the machine for itself, and never stood still."""
        return not self.real_time and not self.coordinator_paused

    @property
    def stopped_within_steps(self) -> bool:
        """Whether processes stood still in the middle of a step, paused or at a gate."""
        return self.gated or bool(self.acted(Consequence.PAUSES_PROCESS))

    @property
    def exact_clocks(self) -> bool:
        """Whether an event carries the very time that its step read."""
        return not self.real_time and not self.gated

    def deaths(self, nodes: Collection[str]) -> list[tuple[int, str]]:
        """When these lives ended, in nanoseconds, each with its node, in the order of time."""
        return sorted((death.time_ns, death.dead_node) for death in self._died if death.dead_node in nodes)

    def deaths_ns(self, nodes: Collection[str]) -> list[int]:
        """When these lives ended, in nanoseconds and in this order."""
        return [time_ns for time_ns, _ in self.deaths(nodes)]

    def next_death(self, nodes: Collection[str], time_ns: int) -> tuple[int, str] | None:
        """The first of these lives that ended at that time, in nanoseconds, or later: when, and whose."""
        return next((death for death in self.deaths(nodes) if death[0] >= time_ns), None)

    def held_up_ns(self) -> list[tuple[int, int]]:
        """From when until when, in nanoseconds, each fault acted that holds up records, whoever it hit but the
        coordinator."""
        return [
            (event.time_ns, self._healed_ns.get(event.fault, self._ended_ns))
            for event in self.acted(Consequence.HOLDS_UP_RECORDS)
            if not event.target.startswith(Role.COORDINATOR)
        ]

    def paused_workers(self) -> list[tuple[events.FaultInjected, int]]:
        """Each pause of a worker, with when it ended, in nanoseconds: a process goes on at the first end of any pause
        of it, though another one lasts."""
        pauses = [each for each in self.acted(Consequence.PAUSES_PROCESS) if each.target.startswith(Role.WORKER)]
        ends_ns = [(each.target, self._healed_ns.get(each.fault, self._ended_ns)) for each in pauses]
        return [
            (pause, min(end for target, end in ends_ns if target == pause.target and end >= pause.time_ns))
            for pause in pauses
        ]

    # --- messages ---

    @property
    def forged_acknowledgements(self) -> frozenset[str]:
        """The subtasks in whose name the harness sent an acknowledgement."""
        return frozenset(str(fault.parameters.get("subtask")) for fault in self._forgeries("acknowledge"))

    @property
    def forged_triggers(self) -> bool:
        """Whether the harness sent a trigger: a barrier may be on its way before the coordinator triggers it."""
        return bool(self._forgeries("trigger"))

    def _forgeries(self, message: str) -> list[FaultSpec]:
        forged = self.planned(Consequence.FORGES_MESSAGES)
        return [fault for fault in forged if fault.parameters.get("message") == message]

    # --- objects ---

    @property
    def damaged(self) -> bool:
        """Whether the harness ever spoilt an object."""
        return bool(self._damaged)

    def hold(self, event: events.Event, *paths: str) -> bool:
        """Whether one of the objects was spoilt when an event happened."""
        return bool(self._damaged) and self._spoilt(self._position[id(event)], paths)

    def hold_at_end(self, *paths: str) -> bool:
        """Whether one of the objects was still spoilt at the end of the run."""
        return bool(self._damaged) and self._spoilt(len(self._position), paths)

    def ever_held(self, path: str) -> bool:
        """Whether the harness ever spoilt an object, or put it back."""
        return path in self._damaged

    def deletions_cut_short(self) -> frozenset[str]:
        """The paths whose deletion the harness was holding up when a user ended the job, or its process died."""
        if not self.acted(Consequence.SLOWS_STORAGE):
            return frozenset()
        ended_ns = [(event.time_ns, "") for event in self.acted(Consequence.ENDS_JOB)]
        ended_ns += [(death.time_ns, death.dead_node) for death in self._died]
        return frozenset(
            slowed.path
            for slowed in self._slowed
            if "delete" in slowed.operation
            and any(
                slowed.time_ns <= time_ns <= slowed.time_ns + slowed.delay_ms * NS_PER_MS and node in ("", slowed.node)
                for time_ns, node in ended_ns
            )
        )

    def metadata_of(self, event: OfCheckpoint) -> str:
        """The path of the metadata of the checkpoint that an event is about; empty where nothing was damaged, or none
        was published."""
        published = self._published_of(event)
        return published.path if published else ""

    def objects_of(self, event: OfCheckpoint) -> tuple[str, ...]:
        """The paths of metadata and files of the checkpoint that an event is about, as far as something was damaged."""
        published = self._published_of(event)
        return (published.path, *(file.path for file in published.files)) if published else ()

    def _published_of(self, event: OfCheckpoint) -> events.MetadataPublished | None:
        return self._published.get((self.job_of(event), event.checkpoint))

    def _spoilt(self, position: int, paths: tuple[str, ...]) -> bool:
        return any(
            damaged < position and not any(damaged < mended < position for mended in self._mended.get(path, ()))
            for path in paths
            for damaged in self._damaged.get(path, ())
        )


def _declared(event: events.FaultInjected) -> Collection[Consequence]:
    return ANY_FAILURE if event.may_cause is None else event.may_cause


def exemptions(history: History) -> Exemptions:
    """What a history exempts, worked out once however many oracles judge by it."""
    return history.derived(Exemptions)
