"""Faults of a process: it dies, or it stops for a while."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from holdfast.faults.landing import Momentary, effects, injection, of_kinds, silence_in, window_of
from holdfast.faults.network import draw_slow
from holdfast.faults.process_attacks import draw_lives, draw_struck_region, draw_struck_restart
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    BY_HARNESS,
    LEFT,
    AcknowledgementHeld,
    AckReceived,
    AckSent,
    AttemptStarted,
    BarrierSent,
    ChannelStateTaken,
    CheckpointCompleted,
    CheckpointTriggered,
    CommitTried,
    Event,
    FinishReceived,
    NodeDied,
    NodeStarted,
    NotificationSent,
    ProgramHeld,
    RowsVisible,
    SharedStateRegistered,
    SnapshotTaken,
    SourceEmitted,
    SplitsLeft,
    TaskStarted,
    TaskStopped,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import process_name, process_of
from holdfast.harness.spi.attack import Attack, Occasion, Scene, Weights
from holdfast.harness.spi.controls.process import PARTS, ProcessControl

_PROCESSES = frozenset({Role.WORKER, Role.COORDINATOR})
_PART = "/"
"""Between the name of a process and that of a part of it which has lives of its own."""
_KILLED = BY_HARNESS - {LEFT} | {"SIGKILL"}
"""The causes of death by which systems say that it came from outside."""
_POWER = "lose-power"
"""The kind of fault that ends processes as well."""
_RESTARTS = "restarts"
"""Label of the random stream of strikes."""
_RECOVERY: Weights = {"deploy": 2, "restored": 2}
"""Effects of a recovery that a second strike waits for; the first is that of the coordinator."""
_SECOND_STRIKES = 0.25
"""Of kills: the recovery from it is struck as well."""


def draw_kill(scene: Scene) -> list[FaultSpec]:
    """A worker dies, and sometimes the recovery from that is struck."""
    target = scene.worker()
    kill = FaultSpec("kill", target, scene.schedule(target, timed=True))
    return [kill, *_second_strike(scene, kill)]


def _draw_kill_of_coordinator(scene: Scene) -> list[FaultSpec]:
    return [FaultSpec("kill", COORDINATOR, scene.schedule(COORDINATOR, timed=True))]


def _second_strike(scene: Scene, kill: FaultSpec) -> list[FaultSpec]:
    """While the job recovers from a kill, the recovery is struck: the gate is armed when the kill acts."""
    gates = scene.aimable(_RECOVERY)
    schedule = kill.schedule
    plain = not schedule.gate and schedule.at_time_ms is None
    if not (plain and gates and scene.stream.chance(_SECOND_STRIKES)):
        return []
    effect = scene.stream.weighted(gates)
    target = COORDINATOR if effect == "deploy" else scene.worker()
    if effect != "deploy" and not scene.channels():
        target = kill.target  # the others may be no part of the recovery
    if effect == "deploy" and Capability.KILL_COORDINATOR not in scene.able:
        return []
    return [FaultSpec("kill", target, replace(schedule, gate=Gate(effect, target)))]


def _draw_failures(scene: Scene) -> list[FaultSpec]:
    """Kills that are far enough apart to be so many failures, and behind a slow channel that makes no failure.

    What was acknowledged before a kill may still complete, before anybody has noticed it.
    """
    faults = draw_slow(scene) if scene.channels() and Capability.SLOW_CHANNEL in scene.able else []
    progress = 0
    for _ in range(scene.failures):
        progress += scene.stream.between(1, 2) + scene.overlapping
        faults.append(FaultSpec("kill", scene.worker(), Schedule(after_checkpoint=progress)))
    return faults


def _draw_pause(scene: Scene) -> list[FaultSpec]:
    target = scene.worker()
    return [FaultSpec("pause", target, scene.schedule(target), scene.lasting_ms())]


def draw_pause_of_coordinator(scene: Scene) -> list[FaultSpec]:
    """The coordinator is paused for a while."""
    return [FaultSpec("pause", COORDINATOR, scene.schedule(COORDINATOR), scene.lasting_ms())]


class Kill(Momentary):
    """SIGKILL from outside. The environment starts the process again, so there is nothing to undo."""

    kind = "kill"
    roles = _PROCESSES
    parameters: Mapping[str, tuple[type, str]] = {
        "part": (str, f"which process of a worker, where it has several: {', '.join(PARTS)}"),
        "unread": (int, "1: it lands only where input was still unread when the process died"),
        "unfinished": (int, "1: it lands only where a checkpoint was triggered and not complete when the process died"),
    }
    colour = "#d55e00"
    control = ProcessControl
    leaves = "the outcome of every operation that the process had under way"
    may_cause = frozenset({Consequence.ENDS_PROCESS, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK})
    attacks: Sequence[Attack] = (
        Attack("kill-worker", draw_kill, (Capability.KILL_WORKER,), Occasion.MIXED, 6, place=1),
        Attack(
            "kill-coordinator", _draw_kill_of_coordinator, (Capability.KILL_COORDINATOR,), Occasion.MIXED, 3, place=2
        ),
        Attack("failures", _draw_failures, occasion=Occasion.BOUNDARY, place=1),
        Attack("lives", draw_lives, occasion=Occasion.LIVES, place=1),
        Attack(
            "struck-restart",
            draw_struck_restart,
            (Capability.KILL_WORKER, Capability.RESTART_STRATEGIES),
            share=15,
            possible=lambda scene: not scene.regional,
            stream=_RESTARTS,
            place=1,
        ),
        Attack(
            "struck-region",
            draw_struck_region,
            (Capability.KILL_WORKER,),
            share=100,
            possible=lambda scene: scene.regional,
            stream=_RESTARTS,
            place=2,
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        if _part(spec):
            return Capability.KILL_PART
        return Capability.KILL_COORDINATOR if spec.target.role is Role.COORDINATOR else Capability.KILL_WORKER

    def inject(self, control: ProcessControl, spec: FaultSpec) -> None:
        control.kill(spec.target, _part(spec))

    def healed(self, control: ProcessControl, spec: FaultSpec) -> bool:
        return control.alive(spec.target)

    def landed(self, history: History, fault: int) -> bool:
        """A life of the process was ended by this kill, after the checkpoints that it had to wait for, and in front of
        the effect that it was aimed at, if it was aimed."""
        process = process_name(history.plan.faults[fault].target)

        def counts(died: NodeDied) -> bool:
            return died.cause in _KILLED and process_of(died.dead_node).partition(_PART)[0] == process

        deaths = effects(
            history,
            fault,
            NodeDied,
            of_kinds(self.kind, _POWER),
            lasting=False,
            counts=counts,
            about=lambda died: died.dead_node,
        )
        if not deaths:
            return False
        died = deaths[0]
        schedule = history.plan.faults[fault].schedule
        if not _after_checkpoints(history, died, schedule.after_checkpoint):
            return False
        if history.plan.faults[fault].parameters.get("unread") and not _input_unread(history, died):
            return False
        if history.plan.faults[fault].parameters.get("unfinished") and not checkpoint_unfinished(history, died):
            return False
        return schedule.gate is None or died_in_window(history, died.dead_node, schedule.gate)


class Pause:
    """SIGSTOP: the process keeps its connections and hears nothing."""

    kind = "pause"
    roles = _PROCESSES
    parameters: Mapping[str, tuple[type, str]] = {
        "part": (str, f"which process of a worker, where it has several: {', '.join(PARTS)}"),
    }
    colour = "#e69f00"
    control = ProcessControl
    leaves = "nothing: the process continues where it stopped"
    may_cause = frozenset(
        {
            Consequence.PAUSES_PROCESS,
            Consequence.HOLDS_UP_RECORDS,
            Consequence.DISTURBS_MESSAGES,
            Consequence.LOSES_PROCESS,
            Consequence.FAILS_TASK,
        }
    )
    lasting = True
    attacks: Sequence[Attack] = (
        Attack("pause-worker", _draw_pause, (Capability.PAUSE_WORKER,), Occasion.MIXED, 2, place=3),
        Attack(
            "pause-coordinator", draw_pause_of_coordinator, (Capability.PAUSE_COORDINATOR,), Occasion.MIXED, 1, place=4
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        if _part(spec):
            return Capability.KILL_PART
        return Capability.PAUSE_COORDINATOR if spec.target.role is Role.COORDINATOR else Capability.PAUSE_WORKER

    def inject(self, control: ProcessControl, spec: FaultSpec) -> None:
        control.pause(spec.target, _part(spec))

    def undo(self, control: ProcessControl, spec: FaultSpec) -> None:
        control.resume(spec.target)

    def healed(self, control: ProcessControl, spec: FaultSpec) -> bool:
        return control.alive(spec.target)

    def landed(self, history: History, fault: int) -> bool:
        """The process was silent for most of the pause, and would not have been: another node of the system went on, or
        the process itself went on as soon as it could."""
        injected = injection(history, fault)
        window = window_of(history, fault)
        if injected is None or window is None:
            return False
        process = process_name(history.plan.faults[fault].target)
        deaths_ns = [died.time_ns for died in _deaths(history, process, injected.time_ns)]
        window = window._replace(end_ns=min([window.end_ns, *deaths_ns]))  # The dead are not paused.
        voice = self._voice(history, process, injected.time_ns)
        silence = silence_in(window, (event.time_ns for event in voice))
        if not voice or silence is None:
            return False
        start_ns, end_ns = silence
        soon_ns = end_ns + silence.length_ns // 4
        if any(end_ns <= event.time_ns < soon_ns for event in voice):
            return True
        return any(start_ns < event.time_ns < end_ns and event.node != injected.node for event in history.events)

    @staticmethod
    def _voice(history: History, process: str, since_ns: int) -> list[Event]:
        """What a process says. One that is seen from outside only is heard through its output.

        One that is given up while it stands still gets a successor; what that says is not of the one that was paused.
        """
        beginning = f"{process}."
        lives = {node for node in {event.node for event in history.events} if node.startswith(beginning)}
        own = [event for event in history.events if event.node in lives]
        if all(type(event) is NodeStarted for event in own):
            return list(history.of(RowsVisible))
        later = {event.node for event in history.of(NodeStarted) if event.time_ns > since_ns}
        others = later | {event.dead_node for event in history.of(NodeDied) if event.time_ns <= since_ns}
        paused = [event for event in own if event.node not in others]
        return paused or own


def _part(spec: FaultSpec) -> str:
    return str(spec.parameters.get("part", ""))


def _deaths(history: History, process: str, since_ns: int) -> list[NodeDied]:
    """How lives of a process, or of a part of it, ended, from a time on."""
    return [
        died
        for died in history.of(NodeDied)
        if process_of(died.dead_node).partition(_PART)[0] == process and died.time_ns >= since_ns
    ]


def _after_checkpoints(history: History, died: NodeDied, wanted: int) -> bool:
    """Whether so many checkpoints had completed when a process died."""
    completed = history.of(CheckpointCompleted)[:wanted]
    return len(completed) == wanted and all(history.position(each) < history.position(died) for each in completed)


def checkpoint_unfinished(history: History, then: Event) -> bool:
    """Whether the newest checkpoint that was triggered before an event, such as a death, had not completed by then."""
    end = history.position(then)
    newest = max((e.checkpoint for e in history.of(CheckpointTriggered) if history.position(e) < end), default=None)
    completed = {e.checkpoint for e in history.of(CheckpointCompleted) if history.position(e) < end}
    return newest is not None and newest not in completed


def _input_unread(history: History, died: NodeDied) -> bool:
    """Whether a record that no source had emitted yet was left when a process died. Markers arrive later."""
    death = history.position(died)
    emitted = [0] * len(history.inputs.partitions)
    for event in history.of(SourceEmitted):
        if history.position(event) < death:
            emitted[event.partition] = max(emitted[event.partition], event.next_offset)
    return any(end < each.regular for end, each in zip(emitted, history.inputs.partitions, strict=True))


def kill(target: Target, **when: Any) -> FaultSpec:
    """SIGKILL."""
    return FaultSpec("kill", target, Schedule(**when))


def pause(target: Target, duration_ms: int, **when: Any) -> FaultSpec:
    """SIGSTOP for a while."""
    return FaultSpec("pause", target, Schedule(**when), duration_ms)


LAST_STEPS: dict[str, type[Event] | tuple[type[Event], ...]] = {
    "send-trigger": TriggerSent,
    "send-barrier": BarrierSent,
    "write-state": (SnapshotTaken, ChannelStateTaken),
    "pre-commit": SnapshotTaken,
    "acknowledge": (AckSent, AcknowledgementHeld),
    "publish-metadata": (AckReceived, SharedStateRegistered, SplitsLeft),
    "notify": NotificationSent,
    "commit": CommitTried,
    "deploy": (AttemptStarted, FinishReceived),
    "restored": TaskStarted,
    "cancelled": TaskStopped,
}
"""By effect, the step, or one of those, that comes right before it. An intent is recorded before it is tried: an ack as
sent before the message leaves. Of an effect that is not named here nothing more can be proved than that the process
died, unless a program said that it stood there."""


def died_in_window(history: History, node: str, gate: Gate) -> bool:
    """Whether the last step of a dead node is the one that leads to the effect of a gate: a process that is held
    stands still, so the last thing that it recorded is that step."""
    expected = LAST_STEPS.get(gate.effect)
    last = next((event for event in reversed(history.events) if event.node == node), None)
    if expected is None:
        named = history.of(ProgramHeld)
        return not named or (isinstance(last, ProgramHeld) and last.gate == gate.effect)
    return last is not None and isinstance(last, expected) and _of_vertex(last, gate.vertex)


def _of_vertex(step: Event, vertex: str) -> bool:
    """Whether a step is one of a vertex; of any if it is not said, or if the step names none."""
    place = getattr(step, "channel", None) or getattr(step, "subtask", None)
    return not vertex or place is None or place.startswith(f"{vertex}[")
