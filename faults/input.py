"""Faults of the input: records that no operator can process, bursts, partial listings of partitions, and records that
the source system has removed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from holdfast.faults.landing import effects, of_kinds, since, window_of
from holdfast.faults.process import draw_kill
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    InputRead,
    InputTruncated,
    RecordFailed,
    SourceEmitted,
    SplitsListed,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM, Role
from holdfast.harness.spi.attack import Attack, Feature, Occasion, Scene
from holdfast.harness.spi.controls.job import Detail, InputControl, PoisonControl, RetentionControl

_DEFAULT_PERCENT = 300
_SECOND_NS, _MILLISECOND_NS = 1_000_000_000, 1_000_000
_INTERVALS, _INTERVALS_OF_BOUNDED = 6, 12
"""Longer than records arrive."""


def _poison_is_read(scene: Scene) -> bool:
    """The last record of a partition may come when the job is over."""
    return not scene.settled_start and not scene.user_ends


def _draw_poison(scene: Scene) -> list[FaultSpec]:
    """The last record of a partition, from before it arrives."""
    if not scene.input_arrives:
        return draw_kill(scene)
    parameters: dict[str, int | str] = {"partition": scene.stream.below(scene.topology.parallelism), "offset": -1}
    duration_ms = (_INTERVALS_OF_BOUNDED if scene.job.bounded else _INTERVALS) * scene.interval_ms
    schedule = Schedule(after_checkpoint=scene.progress)
    return [FaultSpec("poison", SOURCE_SYSTEM, schedule, duration_ms, parameters)]


def _draw_surge(scene: Scene) -> list[FaultSpec]:
    if not scene.input_arrives:
        return draw_kill(scene)
    parameters: dict[str, int | str] = {"percent": 100 * scene.stream.between(3, 6)}
    return [FaultSpec("surge", SOURCE_SYSTEM, scene.unaimed(), scene.lasting_ms(), parameters)]


class InputFault:
    """What the faults of the input have in common: they last, and one verb undoes each."""

    kind: str
    roles = frozenset({Role.SOURCE_SYSTEM})
    lasting = True
    control: type[RetentionControl] | type[PoisonControl] = InputControl

    def undo(self, control: RetentionControl | PoisonControl, spec: FaultSpec) -> None:
        control.restore(self.kind, self._detail(spec))

    def healed(self, control: RetentionControl | PoisonControl, spec: FaultSpec) -> bool:
        return control.whole(self.kind, self._detail(spec))

    def _detail(self, spec: FaultSpec) -> Detail:
        """What tells it from others of its kind."""
        raise NotImplementedError


class Poison(InputFault):
    """A record makes its operator fail, on every attempt, until it is healed."""

    kind = "poison"
    control = PoisonControl
    parameters: Mapping[str, tuple[type, str]] = {
        "partition": (int, "of the record; 0 if not given"),
        "offset": (int, "of the record; negative: from the end of the partition; 0 if not given"),
        "unrecoverable": (int, "1: its operator reports that no restart can help; 0 if not given"),
    }
    colour = "#aa4466"
    leaves = "nothing: the record is processed once it is healed"
    may_cause = frozenset({Consequence.POISONS_INPUT, Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    attacks: Sequence[Attack] = (
        Attack("poison", _draw_poison, (Capability.POISON_RECORD,), Occasion.MIXED, 2, _poison_is_read, place=10),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.POISON_RECORD

    def inject(self, control: PoisonControl, spec: FaultSpec) -> None:
        partition, offset, recoverable = self._detail(spec)
        control.poison(partition, offset, recoverable=recoverable)

    def beyond_input(self, spec: FaultSpec, inputs: InputLog) -> str:
        """See spi.fault.InputBound. A partition without records is one: nothing comes of a poison there."""
        partition, offset, _ = self._detail(spec)
        if complaint := outside("partition", partition, 0, len(inputs.partitions) - 1):
            return complaint
        records = inputs.partitions[partition].regular
        return outside("offset", offset, -records, records - 1) if records else ""

    def landed(self, history: History, fault: int) -> bool:
        """The record made an operator fail after the injection."""
        partition, offset, _ = self._detail(history.plan.faults[fault])

        def same(spec: FaultSpec) -> bool:
            return spec.kind == self.kind and self._detail(spec)[:2] == (partition, offset)

        def counts(failed: RecordFailed) -> bool:
            return failed.partition == partition and _is_record(failed, offset, history)

        return bool(effects(history, fault, RecordFailed, same, lasting=True, counts=counts))

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
    may_cause: frozenset[Consequence] = frozenset()
    attacks: Sequence[Attack] = (
        Attack(
            "surge",
            _draw_surge,
            (Capability.SURGE_INPUT,),
            Occasion.MIXED,
            2,
            possible=lambda scene: not scene.settled_start,
            place=11,
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SURGE_INPUT

    def inject(self, control: InputControl, spec: FaultSpec) -> None:
        control.surge(self._detail(spec))

    def landed(self, history: History, fault: int) -> bool:
        """Sources read or emitted, from the injection on, what by the workload was still to arrive."""
        rivals = of_kinds(self.kind)
        emitted = effects(history, fault, SourceEmitted, rivals, lasting=False)
        begun = effects(history, fault, InputRead, rivals, lasting=False)
        ends = [(event, event.next_offset) for event in emitted] + [(event, event.first_offset + 1) for event in begun]
        return any(end > _arrived(history.inputs.partitions[event.partition], event.time_ns) for event, end in ends)

    def _detail(self, spec: FaultSpec) -> int:
        return int(spec.parameters.get("percent", _DEFAULT_PERCENT))


def _is_record(failed: RecordFailed, offset: int, history: History) -> bool:
    records = history.inputs.partitions[failed.partition].regular
    return bool(records) and failed.offset == offset % records


def outside(parameter: str, value: int, low: int, high: int) -> str:
    """Why a parameter names no part of the input; empty if it does."""
    return "" if low <= value <= high else f"parameters.{parameter} is {value}; allowed is {low} to {high}: change it."


def _arrived(partition: Partition, time_ns: int) -> int:
    """How many records of a partition have arrived at a time, by the workload; one more, for what is just arriving."""
    since_ns = max(time_ns - partition.starts_ms * _MILLISECOND_NS, 0)
    return partition.preloaded + since_ns * partition.records_per_second // _SECOND_NS + 1


def poison(duration_ms: int = 0, *, offset: int = -1, unrecoverable: bool = False, **when: Any) -> FaultSpec:
    """A record of the first partition, the last one by default, fails its operator, for a while or until the end."""
    parameters: dict[str, int | str] = {"offset": offset, "unrecoverable": int(unrecoverable)}
    return FaultSpec("poison", SOURCE_SYSTEM, Schedule(**when), duration_ms, parameters)


def surge(percent: int, duration_ms: int, **when: Any) -> FaultSpec:
    """Input arrives faster for a while."""
    return FaultSpec("surge", SOURCE_SYSTEM, Schedule(**when), duration_ms, {"percent": percent})


def _draw_listing(scene: Scene) -> list[FaultSpec]:
    """Listings of the input leave one or two partitions out for a while: the first one, or a later one."""
    stream = scene.stream
    sources = len(scene.job.of_kind(VertexKind.SOURCE))
    first = stream.below(max(scene.topology.parallelism, sources))
    partitions = {first, stream.below(max(scene.topology.parallelism, sources))}
    schedule = Schedule(after_checkpoint=stream.choice((0, 0, 1, 2)))
    duration_ms = 2 * scene.lasting_ms()
    return [
        FaultSpec("list-part", SOURCE_SYSTEM, schedule, duration_ms, {"partition": partition})
        for partition in sorted(partitions)
    ]


class ListPart(InputFault):
    """Listings leave a partition out, as metadata of a broker and listings of an object store may."""

    kind = "list-part"
    parameters: Mapping[str, tuple[type, str]] = {
        "partition": (int, "that is left out; 0 if not given"),
    }
    colour = "#0e7c7b"
    leaves = "nothing: a later listing holds every partition"
    may_cause = frozenset({Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    attacks: Sequence[Attack] = (
        Attack(
            "list-part",
            _draw_listing,
            (Capability.LIST_PART,),
            Occasion.FIRST,
            50,
            possible=lambda scene: scene.enumerated,
            stream="listings",
            place=2,
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LIST_PART

    def inject(self, control: InputControl, spec: FaultSpec) -> None:
        control.hide_partition(self._detail(spec))

    def landed(self, history: History, fault: int) -> bool:
        """While it acted, a listing was made that lacks the partition."""
        window = window_of(history, fault)
        partition = self._detail(history.plan.faults[fault])
        return window is not None and any(
            window.holds(event.time_ns) and partition not in event.splits for event in history.of(SplitsListed)
        )

    def _detail(self, spec: FaultSpec) -> int:
        return int(spec.parameters.get("partition", 0))


def list_part(partition: int, after_checkpoint: int = 0) -> FaultSpec:
    """Listings leave a partition out until every other fault has acted."""
    schedule = Schedule(after_checkpoint=after_checkpoint)
    return FaultSpec("list-part", SOURCE_SYSTEM, schedule, parameters={"partition": partition})


_EVERY = -1


def _draw_truncation(scene: Scene) -> list[FaultSpec]:
    """Up to what a completed checkpoint covers, or a little less; a worker dies, so that input is read again."""
    if Capability.MICRO_BATCHES in scene.able:
        return []  # It is one of the mixed ones.
    progress = max(1, scene.progress)
    truncated = _up_to_checkpoint(scene, progress)
    if Capability.KILL_WORKER not in scene.able:
        return [truncated]
    return [truncated, FaultSpec("kill", scene.worker(), scene.unaimed(progress))]


def _draw_between_micro_batches(scene: Scene) -> list[FaultSpec]:
    """The same where only a coordinator begins from a checkpoint: a worker repeats a part of the micro-batch."""
    progress = max(1, scene.progress)
    return [_up_to_checkpoint(scene, progress), FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=progress))]


def _up_to_checkpoint(scene: Scene, progress: int) -> FaultSpec:
    beyond = -scene.stream.choice((0, 0, 1, 10))
    schedule = Schedule(after_checkpoint=progress)
    return FaultSpec("truncate", SOURCE_SYSTEM, schedule, 2 * scene.lasting_ms(), {"beyond": beyond})


class Truncate(InputFault):
    """The oldest records of the input are gone: those that the last completed checkpoint covers, some more or fewer."""

    kind = "truncate"
    roles = frozenset({Role.SOURCE_SYSTEM})
    parameters: Mapping[str, tuple[type, str]] = {
        "partition": (int, "whose; every one if not given"),
        "beyond": (int, "how many more than the checkpoint covers; negative: so many fewer; 0 if not given"),
    }
    colour = "#762a83"
    leaves = "nothing: every record in front of the position of the last completed checkpoint has taken effect"
    may_cause = frozenset({Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    control = RetentionControl
    attacks: Sequence[Attack] = (
        Attack("truncate", _draw_truncation, (Capability.TRUNCATE_INPUT,), Occasion.DISTURBANCE, 2, place=5),
        Attack(
            "truncate-between-micro-batches",
            _draw_between_micro_batches,
            (Capability.TRUNCATE_INPUT, Capability.MICRO_BATCHES, Capability.KILL_COORDINATOR),
            Occasion.MIXED,
            2,
            place=15,
        ),
    )

    def precludes(self, spec: FaultSpec) -> Collection[Feature]:
        """See spi.attack.Precluding. A socket keeps no records that could be removed."""
        return (Feature.SOCKETS,)

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.TRUNCATE_INPUT

    def inject(self, control: RetentionControl, spec: FaultSpec) -> None:
        partition, beyond, _ = self._detail(spec)
        control.truncate(partition, beyond)

    def beyond_input(self, spec: FaultSpec, inputs: InputLog) -> str:
        """See spi.fault.InputBound."""
        partition, _, _ = self._detail(spec)
        return outside("partition", partition, _EVERY, len(inputs.partitions) - 1)

    def landed(self, history: History, fault: int) -> bool | None:
        """A source began from a restored position that such records lie in front of, and, if more are gone than the
        checkpoint covers, from one that is gone itself; or a source reported that its next record is gone. None:
        records are gone, and no source began since."""
        _, beyond, _ = self._detail(history.plan.faults[fault])
        truncated = effects(
            history, fault, InputTruncated, of_kinds(self.kind), lasting=False, about=lambda each: str(each.partition)
        )
        starts = {event.partition: event.next_offset for event in truncated}
        begun = [each for each in _begun(history, fault) if starts.get(each[0])]
        if any(position < starts[partition] if beyond > 0 else True for partition, position in begun):
            return True
        if any(failed.offset < starts.get(failed.partition, 0) for failed in since(history, fault, RecordFailed)):
            return True
        return None if any(starts.values()) else False

    def _detail(self, spec: FaultSpec) -> tuple[int, int, bool]:
        given = spec.parameters
        return int(given.get("partition", _EVERY)), int(given.get("beyond", 0)), False


def _begun(history: History, fault: int) -> Iterator[tuple[int, int]]:
    """By partition, where sources began to read since the injection: as their tasks say, or, where no task ever says
    anything, by the checkpoint that an attempt restored."""
    if history.of(TaskStarted):
        for task in since(history, fault, TaskStarted):
            if task.restored_checkpoint is not None:
                yield from task.positions
        return
    positions = {each.checkpoint: each.positions for each in history.of(CheckpointCompleted)}
    for attempt in since(history, fault, AttemptStarted):
        if attempt.restored_checkpoint is not None:
            yield from enumerate(positions.get(attempt.restored_checkpoint, ()))


def truncate(beyond: int = 0, duration_ms: int = 0, **when: Any) -> FaultSpec:
    """The records that the last completed checkpoint covers are gone, and so many more."""
    return FaultSpec("truncate", SOURCE_SYSTEM, Schedule(**when), duration_ms, {"beyond": beyond})
