"""Pictures that explain a run: values that the engine derives from a history and a report draws.

Each has a `name`, a `title`, and in `explains` one or two sentences on how to read it.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from holdfast.harness.model.state_machine import StateMachine


class DrawnMachine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="state-machine"):
    """A table of states, and how often a run took each of its rows; `taken` is empty if it stands for itself."""

    name: str
    title: str
    machine: StateMachine
    taken: tuple[int, ...] = ()
    explains: str = ""


class Element(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something in a channel, or that went through it.

    Attributes:
        words: what is written on it, such as the numbers of its records; of a barrier its checkpoint.
        barrier: it is one.
        after: it belongs to a later checkpoint than the one that the picture is about.
    """

    words: str
    barrier: bool = False
    after: bool = False


class Segment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one checkpoint covers of a channel: elements in order, and the barrier behind them (0: none yet)."""

    elements: tuple[str, ...]
    checkpoint: int


class StreamPicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="stream"):
    """Barriers that split the stream of a channel, the oldest segment first."""

    name: str
    title: str
    channel: str
    segments: tuple[Segment, ...]
    explains: str = ""


class ChannelScene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A channel at a moment: what it holds, the next one to be taken first. `blocked`: by which checkpoint, or 0."""

    sender: str
    receiver: str
    elements: tuple[Element, ...] = ()
    blocked: int = 0


class SubtaskScene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subtask at a moment.

    Attributes:
        name: `vertex[index]`.
        words: what it holds, such as `offset 3`.
        snapshot: what its snapshot holds, once it is taken.
        down, up: messages on their way from and to the coordinator, such as `trigger 1` and `ack 1`.
        acknowledged: its ack has been counted.
    """

    name: str
    words: str = ""
    snapshot: str = ""
    down: tuple[str, ...] = ()
    up: tuple[str, ...] = ()
    acknowledged: bool = False


class Scene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A moment.

    Attributes:
        caption: what happens.
        at_ms: since the start of the run.
        coordinator: what it knows, in words; empty: not part of the picture.
        subtasks, channels: of the picture.
        chains: pairs of subtasks that call each other.
        focus: the subtask that the picture is about, if it is about one.
    """

    caption: str
    at_ms: float
    coordinator: str
    subtasks: tuple[SubtaskScene, ...]
    channels: tuple[ChannelScene, ...]
    chains: tuple[tuple[str, str], ...] = ()
    focus: str = ""


class Film(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="film"):
    """Moments of one checkpoint in order.

    Attributes:
        columns: subtasks from left to right, and from top to bottom.
    """

    name: str
    title: str
    checkpoint: int
    columns: tuple[tuple[str, ...], ...]
    scenes: tuple[Scene, ...]
    explains: str = ""


class PausedSpan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint in the picture of a pause; `earliest_ms` is when the next one could begin."""

    checkpoint: int
    start_ms: float
    end_ms: float
    earliest_ms: float


class PausePicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="pause"):
    """How interval and pause space the checkpoints. Milliseconds."""

    name: str
    title: str
    interval_ms: float
    pause_ms: float
    duration_ms: float
    spans: tuple[PausedSpan, ...]
    explains: str = ""


class OffsetLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a source partition went on in one attempt: (time, next offset)."""

    partition: int
    attempt: int
    points: tuple[tuple[float, int], ...]


class RecoveryPicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="recovery"):
    """A failure, and how far the sources went back for it. Milliseconds since the start of the run.

    Attributes:
        phases: (start, end, words) of what the job was.
        checkpoints: (id, completed at, next offset by partition).
        failures: (time, cause).
        restores: (time, checkpoint).
    """

    name: str
    title: str
    duration_ms: float
    lines: tuple[OffsetLine, ...]
    phases: tuple[tuple[float, float, str], ...]
    checkpoints: tuple[tuple[int, float, tuple[int, ...]], ...]
    failures: tuple[tuple[float, str], ...]
    restores: tuple[tuple[float, int], ...]
    explains: str = ""


class KeyGroupOwner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subtask with the key groups that it owns, from `first` on and before `end`, and the keys that it holds."""

    name: str
    first: int
    end: int
    keys: tuple[str, ...]


class RescalePicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="rescale"):
    """How the key groups of an operator, and with them its keys, go from one parallelism to another.

    Attributes:
        max_parallelism: number of key groups.
        checkpoint: that is restored.
        before, after: its subtasks.
    """

    name: str
    title: str
    max_parallelism: int
    checkpoint: int
    before: tuple[KeyGroupOwner, ...]
    after: tuple[KeyGroupOwner, ...]
    explains: str = ""


class DrawnCopy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A local copy of a subtask's state in a checkpoint, from when to when it lay there intact. `spoilt` says what was
    done to it at its end; empty: it was pruned, or is still there."""

    subtask: str
    checkpoint: int
    start_ms: float
    end_ms: float
    spoilt: str = ""


class DrawnRestore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subtask that starts from a checkpoint: from its local copy, or why not."""

    subtask: str
    checkpoint: int
    at_ms: float
    local: bool
    reason: str = ""


class LocalRecoveryPicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="local-recovery"):
    """The local copies of state, by subtask, and what each restore reads. Milliseconds since the start of the run.

    Attributes:
        first_ms, last_ms: what is shown.
        subtasks: with local copies, in their order.
        copies, restores: of them.
        deaths: (time, process).
    """

    name: str
    title: str
    first_ms: float
    last_ms: float
    subtasks: tuple[str, ...]
    copies: tuple[DrawnCopy, ...]
    restores: tuple[DrawnRestore, ...]
    deaths: tuple[tuple[float, str], ...]
    explains: str = ""


class SharedRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shared file.

    Attributes:
        name: that its backend gave it.
        brought: the checkpoint that stored it.
        users: checkpoints that refer to it.
        uses: by column of the picture, how many retained checkpoints use it behind that one; 0: it is not needed.
        deleted: the checkpoint behind whose completion it was deleted; 0: it is there at the end.
    """

    name: str
    brought: int
    users: tuple[int, ...]
    uses: tuple[int, ...]
    deleted: int = 0


class SharedPicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="shared"):
    """Which checkpoints of a subtask share which files.

    Attributes:
        subtask: whose files.
        checkpoints: the columns, each with the checkpoint behind whose completion it was dropped; 0: it is retained.
        rows: its files, in the order in which they were stored.
    """

    name: str
    title: str
    subtask: str
    checkpoints: tuple[tuple[int, int], ...]
    rows: tuple[SharedRow, ...]
    explains: str = ""


class StepShape(StrEnum):
    """What kind of step an event is, drawn as a shape of its own."""

    STEP = "step"
    TRIGGER = "trigger"
    SNAPSHOT = "snapshot"
    COMPLETE = "complete"
    ABORT = "abort"
    BEGIN = "begin"
    END = "end"
    FAULT = "fault"
    BLOCK = "block"


class DiagramStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event on a line of a diagram, or several in a row that differ only in whom they are sent to.

    Attributes:
        line: of the diagram, counted from 0.
        shape: what it is drawn as.
        label: a few characters that stand beside it; empty: its arrow has a label.
        words: the event in plain words.
        at_ms: when.
        witness: the number of the line of the witness that names it; 0: none does.
        before: how many events of its line between the step before it and this one are left out.
    """

    line: int
    shape: StepShape
    label: str
    words: str
    at_ms: float
    witness: int = 0
    before: int = 0


class ArrowKind(StrEnum):
    """What goes from one line of a diagram to another."""

    MESSAGE = "message"
    BARRIER = "barrier"
    FAULT = "fault"


class DiagramArrow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From one step of a diagram to a later one, both counted from 0."""

    start: int
    end: int
    kind: ArrowKind = ArrowKind.MESSAGE


class FailurePicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="failure"):
    """The run around the step that broke a clause: a line for each process or subtask, time from left to right.

    Attributes:
        first_ms, last_ms: what is shown, in milliseconds since the start of the run.
        events: how many happened meanwhile, drawn or not.
        drawn: how many of them are drawn.
        lines: names, from top to bottom.
        steps: in causal order.
        arrows: messages between them.
        wrong: the step that broke the clause, counted from 0.
    """

    name: str
    title: str
    first_ms: float
    last_ms: float
    events: int
    drawn: int
    lines: tuple[str, ...]
    steps: tuple[DiagramStep, ...]
    arrows: tuple[DiagramArrow, ...]
    wrong: int
    explains: str = ""


Picture = (
    DrawnMachine
    | StreamPicture
    | Film
    | PausePicture
    | RecoveryPicture
    | RescalePicture
    | LocalRecoveryPicture
    | SharedPicture
    | FailurePicture
)


class Exhibit(msgspec.Struct, frozen=True):
    """A picture of a gallery; `case` is the one whose run it shows, empty: of no case."""

    picture: Picture
    case: str = ""


class Gallery(msgspec.Struct, frozen=True):
    """Pictures on one page.

    Attributes:
        title: of the page.
        words: what is shown, in one paragraph.
        exhibits: in order; no two pictures have one name.
    """

    title: str
    words: str
    exhibits: tuple[Exhibit, ...]
