"""Faults of one subtask: its work takes longer, and what is above it has to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from holdfast.faults.landing import window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import BatchProcessed, SourceEmitted, StorageSlowed
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import channel_ends, subtasks
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.process import TaskControl

_DEFAULT_DELAY_MS = 20
_MILLISECOND_NS = 1_000_000
_BACKLOG_INTERVALS = 8


def _has_channels(scene: Scene) -> bool:
    return bool(scene.channels())


def _draw(scene: Scene) -> list[FaultSpec]:
    """The receiver of a channel, so that something comes there whatever is chained."""
    receiver = channel_ends(scene.stream.choice(scene.channels()))[1]
    target = Target(Role.TASK, subtasks(scene.job, scene.topology).index(receiver))
    delay_ms = scene.stream.between(1, max(2, scene.interval_ms // 6))
    schedule = Schedule(after_checkpoint=scene.progress)
    return [FaultSpec("slow-task", target, schedule, 2 * scene.lasting_ms(), {"delay_ms": delay_ms})]


def _draw_backlog(scene: Scene) -> list[FaultSpec]:
    """A slow subtask behind a full channel, and a worker that dies twice: the second time what was in flight at the
    first checkpoint, and was restored, is in flight again."""
    faults = []
    if Capability.SLOW_TASK in scene.able and scene.channels():
        faults += [replace(each, duration_ms=_BACKLOG_INTERVALS * scene.interval_ms) for each in _draw(scene)]
    if Capability.KILL_WORKER in scene.able:
        first = 1 + scene.stream.below(2)
        for progress in (first, first + 1 + scene.stream.below(2)):
            faults.append(FaultSpec("kill", scene.worker(), scene.unaimed(progress)))
    return faults


class SlowTask:
    """Each batch keeps a subtask busy for so long: its inputs fill up, and then the outputs of those above it."""

    kind = "slow-task"
    roles = frozenset({Role.TASK})
    parameters: Mapping[str, tuple[type, str]] = {
        "delay_ms": (int, f"how long a batch takes; {_DEFAULT_DELAY_MS} if not given"),
    }
    colour = "#1b7837"
    control = TaskControl
    leaves = "nothing: what waits is processed later, in order"
    may_cause = frozenset({Consequence.SLOWS_TASK, Consequence.HOLDS_UP_RECORDS})
    lasting = True
    attacks: Sequence[Attack] = (
        Attack("slow-task", _draw, (Capability.SLOW_TASK,), Occasion.MIXED, 2, _has_channels, place=8),
        Attack("backlog", _draw_backlog, occasion=Occasion.BACKLOG, place=1),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SLOW_TASK

    def inject(self, control: TaskControl, spec: FaultSpec) -> None:
        control.slow(spec.target, self._delay_ms(spec))

    def undo(self, control: TaskControl, spec: FaultSpec) -> None:
        control.restore(spec.target, self._delay_ms(spec))

    def healed(self, control: TaskControl, spec: FaultSpec) -> bool:
        return control.whole(spec.target, self._delay_ms(spec))

    def landed(self, history: History, fault: int) -> bool:
        """The subtask processed or read at least two batches meanwhile, most of them so far apart as it was made slow;
        or it reports itself that it was held up twice."""
        window = window_of(history, fault)
        if window is None:
            return False
        plan = history.plan
        spec = plan.faults[fault]
        subtask = subtasks(plan.job, plan.topology)[spec.target.index]
        held_up = [event for event in history.of(StorageSlowed) if event.path == subtask]
        if sum(window.holds(event.time_ns) for event in held_up) > 1:
            return True
        processed = [event for event in history.of(BatchProcessed) if event.channel.endswith(f"->{subtask}")]
        read = [event for event in history.of(SourceEmitted) if event.subtask == subtask]
        times_ns = [event.time_ns for event in (*processed, *read) if window.holds(event.time_ns)]
        gaps_ns = [later - earlier for earlier, later in pairwise(times_ns)]
        apart = sum(4 * gap_ns >= 3 * self._delay_ms(spec) * _MILLISECOND_NS for gap_ns in gaps_ns)
        return bool(gaps_ns) and 2 * apart >= len(gaps_ns)

    @staticmethod
    def _delay_ms(spec: FaultSpec) -> int:
        return int(spec.parameters.get("delay_ms", _DEFAULT_DELAY_MS))


def slow_task(task: Target, delay_ms: int, duration_ms: int = 300) -> FaultSpec:
    """A subtask that takes so long for each batch, from the first attempt on."""
    return FaultSpec("slow-task", task, Schedule(at_event="attempt_started"), duration_ms, {"delay_ms": delay_ms})
