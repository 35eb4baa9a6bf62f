"""Pictures by name: from the history of a run to what a report draws of it; None where the run has nothing to show. A
state machine is followed through the history: which rows of its table were taken, and which events fit no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from holdfast.harness.engine.pictures.films import alignment_film, checkpoint_film, seven_steps, used_channels
from holdfast.harness.engine.pictures.rescale import rescale_picture
from holdfast.harness.engine.pictures.shared_files import shared_picture
from holdfast.harness.engine.pictures.stage import Stage
from holdfast.harness.model import events, profile
from holdfast.harness.model.events import EVENT_KINDS, Event
from holdfast.harness.model.history import History, of_the_job
from holdfast.harness.model.picture import (
    DrawnCopy,
    DrawnMachine,
    DrawnRestore,
    LocalRecoveryPicture,
    OffsetLine,
    PausedSpan,
    PausePicture,
    Picture,
    RecoveryPicture,
    Segment,
    StreamPicture,
)
from holdfast.harness.model.state_machine import StateMachine, Step, field_of
from holdfast.harness.model.units import duration_ms
from holdfast.harness.spi.system import SelfDescribing, System

Identity = tuple[object, ...]


class Course:
    """What a history made of a table.

    Attributes:
        taken: by row, how often.
        strays: events that fit no row, each with the state that its part was in.
        ended: in which state how many parts are left.
    """

    def __init__(self) -> None:
        self.taken: Counter[int] = Counter()
        self.strays: list[tuple[str, Event]] = []
        self.ended: Counter[str] = Counter()


def follow(machine: StateMachine, history: History) -> Course:
    """Take every event of a kind in the table to its part; what superseded coordinators say is of no part."""
    rows: dict[type[Event], list[Step]] = {}
    for step in machine.steps:
        rows.setdefault(EVENT_KINDS[step.on], []).append(step)
    course = Course()
    states: dict[Identity, str] = {}
    for event in of_the_job(history).events:
        if not any(step.is_shown_by(event) for step in rows.get(type(event), ())):
            continue
        identity = tuple(field_of(event, name) for name in machine.identity)
        state = states.get(identity, machine.initial)
        taken = machine.step_from(state, event)
        if taken is None:
            course.strays.append((state, event))
            continue
        course.taken[machine.steps.index(taken)] += 1
        states[identity] = taken.after
    course.ended.update(states.values())
    return course


MARGIN = 1.6
"""How much is shown, as a multiple of the time until the next job runs."""


def savepoint_picture(history: History, offsets: Callable[[History], RecoveryPicture | None]) -> RecoveryPicture | None:
    """The offsets of both jobs, with the savepoint between them.

    Args:
        history: of a run.
        offsets: draws those of all attempts.
    """
    whole = offsets(history)
    saved = history.of(events.SavepointCompleted)
    if whole is None or not saved:
        return None
    start_ns = min(event.time_ns for event in history.events)
    savepoint = saved[0]
    at_ms = (savepoint.time_ns - start_ns) / _MILLISECOND_NS
    resumed = [time for time, checkpoint in whole.restores if checkpoint == savepoint.checkpoint and time > at_ms]
    if not resumed:
        return None
    shown_ms = min(resumed[0] * MARGIN, whole.duration_ms)
    lines = (
        replace(line, points=tuple(point for point in line.points if point[0] <= shown_ms)) for line in whole.lines
    )
    others = [each for each in whole.checkpoints if each[1] <= shown_ms and each[0] != savepoint.checkpoint]
    return replace(
        whole,
        name="savepoint",
        title=f"A savepoint: one job stops with savepoint {savepoint.checkpoint}, the next goes on from it",
        duration_ms=shown_ms,
        lines=tuple(line for line in lines if line.points),
        phases=tuple((begin, min(end, shown_ms), words) for begin, end, words in whole.phases if begin < shown_ms),
        checkpoints=(*others, (savepoint.checkpoint, at_ms, savepoint.positions)),
        restores=((resumed[0], savepoint.checkpoint),),
    )


MARGIN_MS = 120.0
"""Before the first restore and behind the last."""


def local_recovery_picture(history: History) -> LocalRecoveryPicture | None:
    """Around the first restores."""
    used: list[events.LocalCopyUsed | events.LocalCopyRefused] = [
        *history.of(events.LocalCopyUsed),
        *history.of(events.LocalCopyRefused),
    ]
    written = history.of(events.LocalCopyWritten)
    if not used or not written:
        return None
    start_ns = min(event.time_ns for event in history.events)

    def at_ms(event: events.Event) -> float:
        return (event.time_ns - start_ns) / _MILLISECOND_NS

    restores = tuple(
        DrawnRestore(
            event.subtask,
            event.checkpoint,
            at_ms(event),
            isinstance(event, events.LocalCopyUsed),
            event.reason if isinstance(event, events.LocalCopyRefused) else "",
        )
        for event in sorted(used, key=lambda each: each.time_ns)
    )
    first_ms, last_ms = max(restores[0].at_ms - MARGIN_MS, 0.0), restores[-1].at_ms + MARGIN_MS
    ends: dict[str, tuple[float, str]] = {}
    for pruned in history.of(events.LocalCopiesPruned):
        for path in pruned.paths:
            ends.setdefault(path, (at_ms(pruned), ""))
    for spoilt in history.of(events.LocalCopySpoilt):
        ends.update({path: (at_ms(spoilt), spoilt.way) for path in spoilt.paths})
    copies = tuple(
        DrawnCopy(event.subtask, event.checkpoint, at_ms(event), *ends.get(event.path, (last_ms, "")))
        for event in written
    )
    deaths = tuple(
        (at_ms(event), event.dead_node.rpartition(".")[0])
        for event in history.of(events.NodeDied)
        if first_ms <= at_ms(event) <= last_ms
    )
    return LocalRecoveryPicture(
        "local-recovery",
        "Local copies of state, and what is restored from them",
        first_ms,
        last_ms,
        tuple(sorted({event.subtask for event in written})),
        tuple(copy for copy in copies if copy.end_ms >= first_ms and copy.start_ms <= last_ms),
        restores,
        deaths,
    )


MOST_SEGMENTS, MOST_POINTS = 4, 300
_MILLISECOND_NS = 1_000_000


def stream_picture(history: History) -> StreamPicture | None:
    """How the first barriers split the busiest channel of the first attempt."""
    barriers = [event for event in history.of(events.BarrierSent) if event.attempt == 1]
    counts: dict[str, int] = {}
    for sent in history.of(events.BatchSent):
        if sent.attempt == 1:
            counts[sent.channel] = counts.get(sent.channel, 0) + 1
    if not barriers or not counts:
        return None
    sources = {event.subtask for event in history.of(events.SourceEmitted)}
    channel = max(counts, key=lambda name: (name.partition("->")[0] in sources, counts[name]))
    stage = Stage(history)
    stage.use(used_channels(history))
    segments: list[Segment] = []
    elements: list[str] = []
    for place, event in enumerate(history.events):
        if (
            not isinstance(event, events.BatchSent | events.BarrierSent)
            or event.channel != channel
            or event.attempt != 1
        ):
            continue
        if isinstance(event, events.BarrierSent):
            segments.append(Segment(tuple(elements), event.checkpoint))
            elements = []
            if len(segments) == MOST_SEGMENTS:
                break
        else:
            stage.advance(place + 1)
            elements.append(stage.newest(channel))
    if elements:
        segments.append(Segment(tuple(elements), 0))
    return StreamPicture("stream", f"Barriers split the stream of {channel}", channel, tuple(segments[:MOST_SEGMENTS]))


def pause_picture(history: History) -> PausePicture | None:
    """How interval and pause space the checkpoints of the first attempt."""
    ends: dict[int, events.CheckpointCompleted | events.CheckpointAborted] = {
        event.checkpoint: event for event in history.of(events.CheckpointCompleted)
    }
    ends.update((event.checkpoint, event) for event in history.of(events.CheckpointAborted))
    interval_ms, pause_ms = (_option(history, key) for key in (profile.INTERVAL, profile.MIN_PAUSE))
    triggered = [
        each for each in history.of(events.CheckpointTriggered) if each.attempt == 1 and each.checkpoint in ends
    ]
    if not triggered or not interval_ms:
        return None
    start_ns = min(event.time_ns for event in history.events)
    spans = []
    for event in triggered:
        start_ms, end_ms = ((each.time_ns - start_ns) / _MILLISECOND_NS for each in (event, ends[event.checkpoint]))
        spans.append(PausedSpan(event.checkpoint, start_ms, end_ms, max(start_ms + interval_ms, end_ms + pause_ms)))
    spans = spans[:8]
    words = f"interval {interval_ms:g} ms, " + (f"pause at least {pause_ms:g} ms" if pause_ms else "no pause demanded")
    return PausePicture(
        "pause", f"When checkpoints begin: {words}", interval_ms, pause_ms, spans[-1].end_ms, tuple(spans)
    )


def _option(history: History, key: str) -> float:
    try:
        return float(duration_ms(history.plan.options.get(key, "0")))
    except ValueError:
        return 0.0


def recovery_picture(history: History) -> RecoveryPicture | None:
    """How far the sources went back for each failure; none is drawn of sources that report no offsets."""
    attempts = history.of(events.AttemptStarted)
    if len(attempts) < 2:
        return None
    start_ns = min(event.time_ns for event in history.events)

    def at_ms(time_ns: int) -> float:
        return (time_ns - start_ns) / _MILLISECOND_NS

    points: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for event in history.of(events.TaskStarted):
        for partition, offset in event.positions:
            points.setdefault((event.attempt, partition), []).append((at_ms(event.time_ns), offset))
    for emitted in history.of(events.SourceEmitted):
        key = emitted.attempt, emitted.partition
        points.setdefault(key, [(at_ms(emitted.time_ns), emitted.first_offset)])
        points[key].append((at_ms(emitted.time_ns), emitted.next_offset))
    if not points:
        return None
    last_ms = max(time for line in points.values() for time, _ in line)
    shown_ms = min(at_ms(max(event.time_ns for event in history.events)), last_ms * 1.08)
    switches = [event for event in history.of(events.JobSwitched) if at_ms(event.time_ns) <= shown_ms]
    phases = [
        (at_ms(event.time_ns), at_ms(following.time_ns) if following else shown_ms, event.status.value)
        for event, following in zip(switches, [*switches[1:], None], strict=True)
    ]
    return RecoveryPicture(
        name="recovery",
        title="A recovery: the sources go back to the offsets of the last complete checkpoint",
        duration_ms=shown_ms,
        lines=tuple(
            OffsetLine(partition, attempt, tuple(line[:: len(line) // MOST_POINTS + 1]))
            for (attempt, partition), line in sorted(points.items())
        ),
        phases=tuple(phases),
        checkpoints=tuple(
            (event.checkpoint, at_ms(event.time_ns), event.positions)
            for event in history.of(events.CheckpointCompleted)
            if at_ms(event.time_ns) <= shown_ms
        ),
        failures=tuple((at_ms(event.time_ns), event.cause) for event in history.of(events.FailureCounted)),
        restores=tuple(
            (at_ms(event.time_ns), event.restored_checkpoint)
            for event in attempts
            if event.restored_checkpoint is not None
        ),
    )


class PictureKind(NamedTuple):
    """What makes a picture, and how it is to be read."""

    make: Callable[[History], Picture | None]
    explains: str


_OF_FILMS = (
    "Numbers are records, the next to be taken nearest to its receiver. Green ones belong to the checkpoint; orange "
    "ones are behind its barrier and must not be in it. Below a box is what its snapshot holds; a green box has acked."
)
PICTURES: Mapping[str, PictureKind] = {
    "stream": PictureKind(
        stream_picture,
        "What lies before a barrier and behind the one before it belongs to its checkpoint. The receiver takes from "
        "the right; records and barriers keep their order.",
    ),
    "alignment": PictureKind(alignment_film, _OF_FILMS),
    "trigger-to-complete": PictureKind(checkpoint_film, _OF_FILMS),
    "seven-steps": PictureKind(seven_steps, _OF_FILMS),
    "pause": PictureKind(
        pause_picture,
        "A triangle stands where the interval had passed since the last trigger; an orange one had to wait.",
    ),
    "recovery": PictureKind(
        recovery_picture,
        "A line is how far a source partition had got. Dots are the offsets in completed checkpoints; the dashed line "
        "leads back to those of the one that was restored.",
    ),
    "savepoint": PictureKind(
        lambda history: savepoint_picture(history, recovery_picture),
        "A line is how far a source partition had got. The large dots are the offsets in the savepoint that the first "
        "job stops with; the next job goes on from exactly there.",
    ),
    "rescale": PictureKind(
        rescale_picture,
        "A box is a subtask, as long as the range of key groups that it owns. A key goes with its key group to whoever "
        "owns that now.",
    ),
    "local-recovery": PictureKind(
        local_recovery_picture,
        "A bar is a copy of a checkpoint on the disk of the subtask's worker. A green dot is a restore from it, an "
        "orange one a restore from the checkpoint storage; a cross is a copy that was spoilt.",
    ),
    "shared-files": PictureKind(
        shared_picture,
        "A row is a file, a column a checkpoint. A full dot is a file that the checkpoint stored, a ring one that it "
        "refers to again. The number is how many retained checkpoints use the file then; at a cross it is deleted.",
    ),
}
"""What a case may name, beside `states:MACHINE`."""
STATES = "states:"
_OF_STATES = "Drawn from the table that runs are followed through."
_OF_A_COURSE = "×n is how often this run took the step; what it did not take is pale."


def pictures_of(names: Iterable[str], history: History, machines: Iterable[StateMachine]) -> tuple[Picture, ...]:
    """The named pictures of a run, as far as it has something to show.

    Args:
        names: of PICTURES, or `states:MACHINE`.
        history: of the run.
        machines: the tables of the system.

    Raises:
        KeyError: there is no picture of that name.
    """
    known = {machine.name: machine for machine in machines}
    found: list[Picture] = []
    for name in names:
        if name.startswith(STATES):
            machine = known.get(name.removeprefix(STATES))
            if machine is not None:
                found.append(drawn_machine(machine, history))
            continue
        kind = PICTURES[name]
        made = kind.make(history)
        if made is not None:
            found.append(msgspec.structs.replace(made, explains=kind.explains))
    return tuple(found)


def state_machines(system: System) -> tuple[StateMachine, ...]:
    """The tables of a system that has any."""
    return tuple(system.state_machines()) if isinstance(system, SelfDescribing) else ()


def drawn_machine(machine: StateMachine, history: History | None = None) -> DrawnMachine:
    """A table, with how often a run took its rows if there is one."""
    name = f"states-{machine.name}"
    if history is None:
        return DrawnMachine(name, machine.title, machine, explains=_OF_STATES)
    taken = follow(machine, history).taken
    counts = tuple(taken[row] for row in range(len(machine.steps)))
    return DrawnMachine(name, machine.title, machine, counts, explains=_OF_A_COURSE)
