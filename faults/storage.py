"""Faults of a store: its operations fail, before or after they took effect, or take long, and its listings are stale,
as those of a network file system may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import effects, of_kinds, since, window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import CoordinatorClaimed, MetadataPublished, StorageFailed, StorageSlowed
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role
from holdfast.harness.spi.attack import Attack, Occasion, Scene, Weights
from holdfast.harness.spi.controls.storage import ListingControl, SpaceControl, StorageControl

_DEFAULT_OPERATION = "write-state"
_DEFAULT_DELAY_MS = 100
_PUBLICATION = "publish-metadata"
_FAILING: Weights = {
    "write-state": 2,
    _PUBLICATION: 3,
    "pre-commit": 2,
    "commit": 4,
    "read-metadata": 4,
    "read-state": 1,
    "fix-state": 1,
    "persist-job-record": 3,
}
_SLOW: Weights = {"write-state": 2, _PUBLICATION: 2, "delete": 2, "pre-commit": 1, "commit": 1, "persist-job-record": 2}
_READS = {"read-metadata": Capability.KILL_COORDINATOR, "read-state": Capability.KILL_WORKER}
"""Only a recovery reads: a failing read comes with the kill that leads to it."""
_INTERVALS = 4
"""Long, because what fails is over with its occurrences, and a restart may come in between."""


def _draw_error(scene: Scene) -> list[FaultSpec]:
    operation = scene.stream.weighted(scene.possible(_FAILING))
    kill = _READS.get(operation)
    if kill is not None and kill not in scene.able:
        operation, kill = _PUBLICATION, None
    parameters: dict[str, int | str] = {
        "operation": operation,
        "occurrences": scene.stream.between(1, 2),
        "after_effect": int(scene.stream.chance(0.3)),
        "answer_lost": int(scene.stream.chance(0.3)),
    }
    schedule = scene.unaimed()
    error = FaultSpec("storage-error", STORAGE, schedule, _INTERVALS * scene.interval_ms, parameters)
    if kill is None:
        lost = parameters["after_effect"] or parameters["answer_lost"]
        return [error, *(_kill_before_next(scene, schedule) if operation == _PUBLICATION and lost else ())]
    target = COORDINATOR if kill is Capability.KILL_COORDINATOR else scene.worker()
    return [error, FaultSpec("kill", target, schedule)]


def _kill_before_next(scene: Scene, schedule: Schedule) -> list[FaultSpec]:
    """The coordinator dies in front of the next publication, while the outcome of the last is still unknown."""
    if Capability.KILL_COORDINATOR not in scene.able or not scene.aimable({_PUBLICATION: 1}):
        return []
    if not scene.stream.chance(0.5):
        return []
    again = Gate(_PUBLICATION, COORDINATOR, occurrence=2)
    return [FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=schedule.after_checkpoint, gate=again))]


def _draw_slow(scene: Scene) -> list[FaultSpec]:
    parameters: dict[str, int | str] = {
        "operation": scene.stream.weighted(scene.possible(_SLOW)),
        "delay_ms": scene.stream.between(2, 2 * scene.interval_ms),
        "occurrences": scene.stream.below(3),
    }
    return [FaultSpec("slow-storage", STORAGE, scene.unaimed(), _INTERVALS * scene.interval_ms, parameters)]


class StorageError:
    """The next calls of one storage operation fail."""

    kind = "storage-error"
    roles = frozenset({Role.STORAGE, Role.SINK_SYSTEM})
    parameters: Mapping[str, tuple[type, str]] = {
        "operation": (str, f"which operation fails, such as `publish-metadata`; `{_DEFAULT_OPERATION}` if not given"),
        "occurrences": (int, "how many calls fail; 0: until the heal; 1 if not given"),
        "after_effect": (
            int,
            "1: the operation takes effect, and fails all the same; 0 if not given",
        ),
        "answer_lost": (
            int,
            "1: the operation takes no effect, and its caller cannot know that; 0, a refusal, if not given",
        ),
    }
    colour = "#0072b2"
    control = StorageControl
    leaves = "whether the failed operation took effect, as far as its caller knows"
    may_cause = frozenset({Consequence.FAILS_STORAGE, Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    lasting = True
    attacks: Sequence[Attack] = (
        Attack("storage-error", _draw_error, (Capability.STORAGE_ERROR,), Occasion.MIXED, 3, place=9),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.STORAGE_ERROR

    def inject(self, control: StorageControl, spec: FaultSpec) -> None:
        control.fail(
            self._operation(spec),
            int(spec.parameters.get("occurrences", 1)),
            **self._way(spec),
        )

    def undo(self, control: StorageControl, spec: FaultSpec) -> None:
        control.restore(self._operation(spec), **self._way(spec))

    def healed(self, control: StorageControl, spec: FaultSpec) -> bool:
        return control.whole(self._operation(spec), **self._way(spec))

    def landed(self, history: History, fault: int) -> bool:
        """An operation of that name failed on purpose after the injection."""
        operation = self._operation(history.plan.faults[fault])

        def rivals(spec: FaultSpec) -> bool:
            return spec.kind == FullStorage.kind or (spec.kind == self.kind and self._operation(spec) == operation)

        def counts(failed: StorageFailed) -> bool:
            return failed.injected and failed.operation == operation

        found = effects(
            history, fault, StorageFailed, rivals, lasting=True, counts=counts, about=lambda failed: failed.operation
        )
        return bool(found)

    @staticmethod
    def _way(spec: FaultSpec) -> dict[str, bool]:
        """How its calls fail."""
        return {each: bool(int(spec.parameters.get(each, 0))) for each in ("after_effect", "answer_lost")}

    @staticmethod
    def _operation(spec: FaultSpec) -> str:
        return str(spec.parameters.get("operation", _DEFAULT_OPERATION))


class SlowStorage:
    """The next calls of one storage operation take longer."""

    kind = "slow-storage"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {
        "operation": (str, f"which operation is slow, such as `delete`; `{_DEFAULT_OPERATION}` if not given"),
        "delay_ms": (int, f"how much longer each call takes; {_DEFAULT_DELAY_MS} if not given"),
        "occurrences": (int, "how many calls are slow; 0, all until the heal, if not given"),
    }
    colour = "#332288"
    control = StorageControl
    leaves = "nothing: every call takes effect and returns"
    may_cause = frozenset({Consequence.SLOWS_STORAGE})
    lasting = True
    attacks: Sequence[Attack] = (
        Attack("slow-storage", _draw_slow, (Capability.SLOW_STORAGE,), Occasion.MIXED, 1, place=12),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SLOW_STORAGE

    def inject(self, control: StorageControl, spec: FaultSpec) -> None:
        control.slow(self._operation(spec), self._delay_ms(spec), int(spec.parameters.get("occurrences", 0)))

    def undo(self, control: StorageControl, spec: FaultSpec) -> None:
        control.restore(self._operation(spec), delay_ms=self._delay_ms(spec))

    def healed(self, control: StorageControl, spec: FaultSpec) -> bool:
        return control.whole(self._operation(spec), delay_ms=self._delay_ms(spec))

    def landed(self, history: History, fault: int) -> bool:
        """An operation of that name was held up on purpose after the injection."""
        operation = self._operation(history.plan.faults[fault])

        def rivals(spec: FaultSpec) -> bool:
            return spec.kind == self.kind and self._operation(spec) == operation

        def counts(slowed: StorageSlowed) -> bool:
            return slowed.operation == operation

        found = effects(
            history, fault, StorageSlowed, rivals, lasting=True, counts=counts, about=lambda slowed: slowed.operation
        )
        return bool(found)

    @staticmethod
    def _delay_ms(spec: FaultSpec) -> int:
        return int(spec.parameters.get("delay_ms", _DEFAULT_DELAY_MS))

    @staticmethod
    def _operation(spec: FaultSpec) -> str:
        return str(spec.parameters.get("operation", _DEFAULT_OPERATION))


class FullStorage:
    """The storage of checkpoints has no room left."""

    kind = "full-storage"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#5b3a8c"
    control = SpaceControl
    leaves = "nothing: there is room again"
    may_cause = frozenset({Consequence.FAILS_STORAGE, Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.FULL_STORAGE

    def inject(self, control: SpaceControl, spec: FaultSpec) -> None:
        control.fill()

    def undo(self, control: SpaceControl, spec: FaultSpec) -> None:
        control.empty()

    def healed(self, control: SpaceControl, spec: FaultSpec) -> bool:
        return control.has_room()

    def landed(self, history: History, fault: int) -> bool:
        """Something could not be written after the injection, for want of room."""

        def counts(failed: StorageFailed) -> bool:
            return failed.injected

        rivals = of_kinds(self.kind, StorageError.kind)
        return bool(effects(history, fault, StorageFailed, rivals, lasting=True, counts=counts))


def full_storage(duration_ms: int, **when: Any) -> FaultSpec:
    """There is no room left for a while."""
    return FaultSpec("full-storage", STORAGE, Schedule(**when), duration_ms)


def storage_error(operation: str, duration_ms: int = 300, how: Mapping[str, int] = {}, **when: Any) -> FaultSpec:
    """The next call of a storage operation fails, or as many as `how` says."""
    return FaultSpec("storage-error", STORAGE, Schedule(**when), duration_ms, {"operation": operation, **how})


def slow_storage(operation: str, delay_ms: int, duration_ms: int, occurrences: int = 0, **when: Any) -> FaultSpec:
    """The next calls of a storage operation take longer; 0 occurrences: all for as long as it lasts."""
    parameters: dict[str, int | str] = {"operation": operation, "delay_ms": delay_ms, "occurrences": occurrences}
    return FaultSpec("slow-storage", STORAGE, Schedule(**when), duration_ms, parameters)


class StaleListing:
    """Listings of the checkpoint storage stand still, while reading by name shows what is there.

    It is not drawn: leftovers that an older listing hides stay until the next recovery.
    """

    kind = "stale-listing"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#8c6d31"
    control = ListingControl
    leaves = "nothing: a later listing holds everything"
    may_cause = frozenset({Consequence.FAILS_STORAGE})
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.STALE_LISTING

    def inject(self, control: ListingControl, spec: FaultSpec) -> None:
        control.hold_listings()

    def undo(self, control: ListingControl, spec: FaultSpec) -> None:
        control.release_listings()

    def healed(self, control: ListingControl, spec: FaultSpec) -> bool:
        return not control.listings_held()

    def landed(self, history: History, fault: int) -> bool:
        """While it acted, a coordinator looked for checkpoints, behind one that had been published meanwhile."""
        window = window_of(history, fault)
        if window is None:
            return False
        published = [each.time_ns for each in since(history, fault, MetadataPublished)]
        claimed = [each.time_ns for each in history.of(CoordinatorClaimed) if window.holds(each.time_ns)]
        return any(earlier < later for earlier in published for later in claimed)


def stale_listing(duration_ms: int, **when: Any) -> FaultSpec:
    """Listings stand still for so long."""
    return FaultSpec("stale-listing", STORAGE, Schedule(**when), duration_ms)
