"""Moments of one checkpoint, found in the history of a real run: the steps of an alignment, a checkpoint from its
trigger to its end, and the seven steps of seeds/002.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from holdfast.harness.engine.pictures.stage import Stage
from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import Film, Scene
from holdfast.harness.model.topology import all_channels, channel_ends, subtasks


class Alignment(NamedTuple):
    """The alignment that a film shows.

    Attributes:
        subtask, checkpoint: whose and for what.
        first, last: places in the history of its first and its last barrier.
        held: how many batches waited in the end.
    """

    subtask: str
    checkpoint: int
    first: int
    last: int
    held: int


class _Places:
    """Where in a history things of one checkpoint happened."""

    def __init__(self, history: History, checkpoint: int) -> None:
        self.history = history
        self.checkpoint = checkpoint
        self.attempt = next(
            each.attempt for each in history.of(events.CheckpointTriggered) if each.checkpoint == checkpoint
        )

    def of(self, kind: type[events.Event], subtasks: Container[str] | None = None) -> list[int]:
        """Places of all events of a kind for this checkpoint, in order; of some subtasks, if any are named."""
        return [
            self.history.position(event)
            for event in self.history.of(kind)
            if getattr(event, "checkpoint", self.checkpoint) == self.checkpoint
            and event.attempt == self.attempt
            and (subtasks is None or _subtask(event) in subtasks)
        ]


def used_channels(history: History) -> set[str]:
    """Channels that carried anything."""
    return {event.channel for event in history.of(events.BatchSent)} | {
        event.channel for event in history.of(events.BarrierSent)
    }


def longest_alignment(history: History) -> Alignment | None:
    """The alignment of a completed checkpoint that held back most batches, or the longest of these; None: none did."""
    completed = {event.checkpoint for event in history.of(events.CheckpointCompleted)}
    first: dict[tuple[int, str, int], int] = {}
    found: list[Alignment] = []
    for place, event in enumerate(history.events):
        if isinstance(event, events.BarrierReceived) and event.checkpoint in completed:
            receiver = channel_ends(event.channel)[1]
            began = first.setdefault((event.attempt, receiver, event.checkpoint), place)
            if event.held_bytes:
                found.append(Alignment(receiver, event.checkpoint, began, place, event.held_bytes))
    return max(found, key=lambda each: (each.held > 0, _lasted(history, each)), default=None)


def _lasted(history: History, alignment: Alignment) -> int:
    return history.events[alignment.last].time_ns - history.events[alignment.first].time_ns


def alignment_film(history: History) -> Film | None:
    """The four steps of an alignment, as the subtask sees it that waited longest."""
    alignment = longest_alignment(history)
    if alignment is None:
        return None
    subtask, checkpoint = alignment.subtask, alignment.checkpoint
    places = _Places(history, checkpoint)
    inputs = [
        name for name in all_channels(history.plan.job, history.plan.topology) if channel_ends(name)[1] == subtask
    ]
    unblocked = places.of(events.ChannelUnblocked, [subtask])
    snapshot = places.of(events.SnapshotTaken, [subtask])
    blocked = [channel_ends(name)[0] for name in _blocked(history, alignment)]
    after = _processed_after(history, unblocked[-1] if unblocked else alignment.last, inputs)
    late = channel_ends(history.events[alignment.last].channel)[0]  # type: ignore[attr-defined]
    moments = (
        (
            alignment.first + 2,
            f"1. Barrier {checkpoint} of {blocked[0]} is there: {subtask} takes nothing more from it.",
        ),
        (
            alignment.last,
            f"2. What {_listed(blocked)} sends waits; what comes from {late} before its barrier is processed.",
        ),
        (
            (unblocked[0] if unblocked else snapshot[-1] + 1),
            f"3. Barrier {checkpoint} is there on every input: snapshot, and the barrier is sent on.",
        ),
        (after, "4. What waited is processed, then what comes."),
    )
    around = {end for name in used_channels(history) if subtask in channel_ends(name) for end in channel_ends(name)}
    shown = [name for name in subtasks(history.plan.job, history.plan.topology) if name in around | {subtask}]
    scenes = _scenes(history, checkpoint, moments, only=shown, focus=subtask)
    return Film(
        "alignment",
        f"An alignment: {subtask}, checkpoint {checkpoint}",
        checkpoint,
        _columns(history, shown),
        tuple(scenes),
    )


def checkpoint_film(history: History) -> Film | None:
    """A checkpoint from its trigger to its completion, over the whole graph."""
    checkpoint = _whole_checkpoint(history)
    if checkpoint is None:
        return None
    places = _Places(history, checkpoint)
    columns = _columns(history, subtasks(history.plan.job, history.plan.topology))
    moments = [(_behind(places.of(events.TriggerSent)), "1. The coordinator triggers the sources, and nobody else.")]
    for number, column in enumerate(columns, start=2):
        done = [*places.of(events.SnapshotTaken, column), *places.of(events.BarrierSent, column)]
        vertices = sorted({name.partition("[")[0] for name in column})
        if number == 2:
            words = "Sources record their offsets and send the barrier to everyone below."
        elif number == len(columns) + 1:
            words = f"{_listed(vertices)}: the barrier has come to the end."
        else:
            words = f"{_listed(vertices)}: snapshot behind the barriers, then onwards."
        moments.append((_behind(done), f"{number}. {words}"))
    number = len(columns) + 2
    moments.append(
        (_behind(places.of(events.AckReceived)), f"{number}. Every subtask has acknowledged; metadata is published.")
    )
    moments.append(
        (
            _behind([*places.of(events.CheckpointCompleted), *places.of(events.NotificationSent)]),
            f"{number + 1}. It is complete, and every task is notified.",
        )
    )
    scenes = _scenes(history, checkpoint, sorted(moments, key=lambda moment: moment[0]))
    return Film(
        "trigger-to-complete", f"Checkpoint {checkpoint} from trigger to completion", checkpoint, columns, tuple(scenes)
    )


def seven_steps(history: History) -> Film | None:
    """The steps in which seeds/002 explains a checkpoint."""
    alignment = longest_alignment(history)
    if alignment is None:
        return None
    checkpoint, subtask = alignment.checkpoint, alignment.subtask
    places = _Places(history, checkpoint)
    fed = {edge.downstream for edge in history.plan.job.edges}
    sources = [name for name in subtasks(history.plan.job, history.plan.topology) if name.partition("[")[0] not in fed]
    inputs = [
        name for name in all_channels(history.plan.job, history.plan.topology) if channel_ends(name)[1] == subtask
    ]
    snapshots = places.of(events.SnapshotTaken, sources)
    sent = places.of(events.BarrierSent, sources)
    unblocked = places.of(events.ChannelUnblocked, [subtask])
    moments = (
        (places.of(events.CheckpointTriggered)[0], "1. The job runs."),
        (
            _behind(places.of(events.TriggerSent)),
            f"2. The coordinator starts checkpoint {checkpoint}: a message to each source.",
        ),
        (_behind([*snapshots, *sent]), "3. Sources record their offsets, report, and send barriers to everyone below."),
        (alignment.first + 2, f"4. {subtask} receives the first barrier."),
        (alignment.last, "5. Alignment: what is behind a barrier waits, the other input continues."),
        (
            _processed_after(history, unblocked[-1] if unblocked else alignment.last, inputs),
            "6. All barriers are there: snapshot, the barrier is sent on, what waited is processed.",
        ),
        (
            _behind(places.of(events.CheckpointCompleted)),
            "7. The last acknowledgement is in: the checkpoint is complete.",
        ),
    )
    scenes = _scenes(history, checkpoint, moments, focus=subtask)
    columns = _columns(history, subtasks(history.plan.job, history.plan.topology))
    return Film("seven-steps", f"Seven steps of checkpoint {checkpoint}", checkpoint, columns, tuple(scenes))


# --- moments ---


def _scenes(
    history: History, checkpoint: int, moments: Sequence[tuple[int, str]], *, only: Iterable[str] = (), focus: str = ""
) -> list[Scene]:
    stage = Stage(history)
    stage.use(used_channels(history))
    scenes = []
    for place, caption in moments:
        stage.advance(place)
        scenes.append(stage.scene(caption, checkpoint, only=only, focus=focus))
    return scenes


def _behind(places: Sequence[int]) -> int:
    """Just after the last of them."""
    return max(places) + 1


def _blocked(history: History, alignment: Alignment) -> list[str]:
    """Channels that were blocked for an alignment."""
    return [
        event.channel
        for event in history.events[alignment.first : alignment.last]
        if isinstance(event, events.ChannelBlocked)
        and event.checkpoint == alignment.checkpoint
        and channel_ends(event.channel)[1] == alignment.subtask
    ]


def _processed_after(history: History, place: int, inputs: Sequence[str]) -> int:
    """Just after the first batch from one of these channels that was processed behind a place."""
    for number in range(place, len(history.events)):
        event = history.events[number]
        if isinstance(event, events.BatchProcessed) and event.channel in inputs:
            return number + 1
    return place + 1


def _whole_checkpoint(history: History) -> int | None:
    """One that completed in the first attempt, with as much under way as any."""
    first = next((event.attempt for event in history.of(events.AttemptStarted)), 0)
    completed = [event.checkpoint for event in history.of(events.CheckpointCompleted) if event.attempt == first]
    alignment = longest_alignment(history)
    if alignment is not None and alignment.checkpoint in completed:
        return alignment.checkpoint
    return completed[0] if completed else None


def _columns(history: History, shown: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Subtasks by how far their vertex is from a source."""
    job = history.plan.job
    depth = {vertex.name: 0 for vertex in job.vertices}
    for _ in job.vertices:
        for edge in [edge for edge in job.edges if not edge.feedback]:
            depth[edge.downstream] = max(depth[edge.downstream], depth[edge.upstream] + 1)
    columns: dict[int, list[str]] = {}
    for name in shown:
        columns.setdefault(depth[name.partition("[")[0]], []).append(name)
    return tuple(tuple(columns[number]) for number in sorted(columns))


def _subtask(event: events.Event) -> str:
    """Whom an event is about: who sent the barrier, or whose input is blocked."""
    sender, receiver = channel_ends(getattr(event, "channel", ""))
    return getattr(event, "subtask", "") or (sender if isinstance(event, events.BarrierSent) else receiver)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)
