"""Pictures of stored state: what a checkpoint holds, who owns which key group before and after a rescale, and which
checkpoints refer to which shared files until each is deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.inspection import InspectedCheckpoint, InspectedOperator, InspectedSubtask
from holdfast.harness.model.job import STATEFUL
from holdfast.harness.model.picture import KeyGroupOwner, RescalePicture, SharedPicture, SharedRow
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.submitted_jobs import topologies

WIDTH, LEFT, RIGHT, ROW, BAR = 980, 190, 220, 30, 18
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
"""By operator; distinguishable without seeing red or green."""


def picture_of(checkpoint: InspectedCheckpoint) -> str:
    rows: list[str] = []
    y = 64
    largest = max((part.length for each in checkpoint.operators for part in each.subtasks), default=0) or 1
    for number, operator in enumerate(checkpoint.operators):
        rows.append(_text(12, y + 14, operator.name, "700"))
        for part in operator.subtasks:
            rows += _row(checkpoint, operator, part, y, COLOURS[number % len(COLOURS)], largest)
            y += ROW
        y += 8
    kind = "savepoint" if checkpoint.savepoint else "checkpoint"
    title = f"{kind} {checkpoint.checkpoint}: {_size(_length(checkpoint))} in {len(checkpoint.operators)} operators"
    shared = f", {len(checkpoint.shared)} shared files" if checkpoint.shared else ""
    explains = (
        f"{checkpoint.max_parallelism} key groups from left to right; dark where a group holds state, the darker the "
        f"more{shared}."
    )
    height = y + 12
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" font-family="system-ui, sans-serif" font-size="13">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            _text(12, 24, title, "700", 16),
            _text(12, 44, explains, colour="#555555"),
            *rows,
            "</svg>",
            "",
        )
    )


def _row(
    checkpoint: InspectedCheckpoint,
    operator: InspectedOperator,
    part: InspectedSubtask,
    y: int,
    colour: str,
    largest: int,
) -> list[str]:
    width = WIDTH - LEFT - RIGHT
    label = "at the coordinator" if part.index < 0 else f"[{part.index}]"
    drawn = [_text(118, y + 14, label, colour="#555555")]
    groups, scale = checkpoint.max_parallelism or 1, width / (checkpoint.max_parallelism or 1)
    if part.end_key_group > part.first_key_group:
        x, span = LEFT + part.first_key_group * scale, (part.end_key_group - part.first_key_group) * scale
        drawn.append(_bar(x, y, span, colour, 0.15, f"{operator.name}: key groups of subtask {part.index}"))
        sizes: dict[int, int] = {}
        for file in part.files:
            for group, length in file.key_groups:
                sizes[group] = sizes.get(group, 0) + length
        most = max(sizes.values(), default=1) or 1
        for group, length in sizes.items():
            if group < groups:
                words = f"key group {group}: {_size(length)}"
                drawn.append(_bar(LEFT + group * scale, y, scale, colour, 0.35 + 0.65 * length / most, words))
    elif part.positions:
        words = ", ".join(f"partition {partition} at {offset}" for partition, offset in part.positions)
        drawn.append(_text(LEFT, y + 14, words))
    elif part.transactions:
        drawn.append(_text(LEFT, y + 14, f"{len(part.transactions)} pending transactions"))
    elif not part.files:
        drawn.append(_text(LEFT, y + 14, "finished" if part.finished else "no state", colour="#888888"))
    if part.files:
        words = f"{_size(part.length)} in {len(part.files)} {'file' if len(part.files) == 1 else 'files'}"
        missing = sum(not file.present for file in part.files)
        drawn.append(_bar(WIDTH - RIGHT + 12, y, 60 * part.length / largest, colour, 0.8, words))
        drawn.append(_text(WIDTH - RIGHT + 80, y + 14, words))
        if missing:
            drawn.append(_text(WIDTH - 30, y + 14, f"-{missing}", "700", colour="#cc0000"))
    return drawn


def _bar(x: float, y: int, width: float, colour: str, opacity: float, words: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{max(width, 1):.1f}" height="{BAR}" fill="{colour}" '
        f'fill-opacity="{opacity:.2f}"><title>{escape(words)}</title></rect>'
    )


def _text(x: int, y: int, words: str, weight: str = "400", size: int = 13, colour: str = "#222222") -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}" font-size="{size}" fill="{colour}">{escape(words)}</text>'


def _length(checkpoint: InspectedCheckpoint) -> int:
    return sum(part.length for operator in checkpoint.operators for part in operator.subtasks)


def _size(length: int) -> str:
    return f"{length} bytes" if length < 10_000 else f"{length / 1_000_000:.2f} MB"


class _Change(NamedTuple):
    """A change of parallelism: from which to which, by which checkpoint, and the last attempt at the former one."""

    former: Topology
    now: Topology
    checkpoint: int
    last_attempt: int


def rescale_picture(history: History) -> RescalePicture | None:
    """Of the first keyed operator, at the first change of its parallelism: by another job, or of the running one."""
    vertex = next((each.name for each in history.plan.job.of_kind(*STATEFUL)), "")
    for former, now, checkpoint, last_attempt in (*_submitted(history), *_in_place(history)) if vertex else ():
        taken = {
            each.subtask: each
            for each in history.of(events.SnapshotTaken)
            if each.checkpoint == checkpoint and each.attempt <= last_attempt
        }
        started = {
            each.subtask: each
            for each in reversed(history.of(events.TaskStarted))
            if each.restored_checkpoint == checkpoint and each.attempt > last_attempt
        }
        if not taken or not started:
            continue
        return RescalePicture(
            "rescale",
            f"{vertex} restores checkpoint {checkpoint} at parallelism {now.parallelism}, "
            f"taken at {former.parallelism}",
            now.max_parallelism,
            checkpoint,
            _owners(vertex, former, taken.values()),
            _owners(vertex, now, started.values()),
        )
    return None


def _submitted(history: History) -> Iterator[_Change]:
    """By jobs that are submitted one after the other."""
    submitted = history.of(events.JobSubmitted)
    for (former, now), submission in zip(pairwise(topologies(history.plan)), submitted[1:], strict=False):
        if former.parallelism != now.parallelism and submission.checkpoint is not None:
            yield _Change(former, now, submission.checkpoint, submission.attempt)


def _in_place(history: History) -> Iterator[_Change]:
    """Of the first job while it runs."""
    topology = history.plan.topology
    for attempt in history.of(events.AttemptStarted):
        now = replace(topology, parallelism=attempt.parallelism or topology.parallelism)
        if now != topology and attempt.restored_checkpoint is not None:
            yield _Change(topology, now, attempt.restored_checkpoint, attempt.attempt - 1)
        topology = now


def _owners(
    vertex: str, topology: Topology, recorded: Iterable[events.SnapshotTaken | events.TaskStarted]
) -> tuple[KeyGroupOwner, ...]:
    keys = {each.subtask: tuple(sorted(each.state.entries or ())) for each in recorded if each.state is not None}
    groups, width = topology.max_parallelism, topology.parallelism
    edges = [-(-index * groups // width) for index in range(width + 1)]
    return tuple(
        KeyGroupOwner(f"{vertex}[{index}]", edges[index], edges[index + 1], keys.get(f"{vertex}[{index}]", ()))
        for index in range(width)
    )


MOST_CHECKPOINTS = 5


def shared_picture(history: History) -> SharedPicture | None:
    """The first checkpoints of the first subtask that shares files."""
    acks = [ack for ack in history.of(events.AckSent) if ack.shared]
    completed = [event.checkpoint for event in history.of(events.CheckpointCompleted)][:MOST_CHECKPOINTS]
    if not acks or not completed:
        return None
    subtask = min(ack.subtask for ack in acks)
    of_subtask = [ack for ack in acks if ack.subtask == subtask and ack.checkpoint in completed]
    followed = _Followed(history, completed)
    paths: dict[str, str] = {}
    brought: dict[str, int] = {}
    for ack in of_subtask:
        for handle in ack.shared:
            if handle.file is not None and handle.name not in paths:
                paths[handle.name], brought[handle.name] = handle.file.path, ack.checkpoint
    rows = [
        SharedRow(
            name=name,
            brought=brought[name],
            users=tuple(ack.checkpoint for ack in of_subtask if any(each.name == name for each in ack.shared)),
            uses=tuple(followed.uses[checkpoint].get(path, 0) for checkpoint in completed),
            deleted=followed.deleted.get(path, 0),
        )
        for name, path in paths.items()
    ]
    return SharedPicture(
        name="shared-files",
        title=f"Files that checkpoints of {subtask} share",
        subtask=subtask,
        checkpoints=tuple((checkpoint, followed.dropped.get(checkpoint, 0)) for checkpoint in completed),
        rows=tuple(rows),
    )


class _Followed:
    """What becomes of files and checkpoints, shown at the completion that it follows.

    Attributes:
        uses: by checkpoint, the uses of each path when the next one begins.
        dropped, deleted: by checkpoint, and by path, the completion behind which that was.
    """

    def __init__(self, history: History, completed: list[int]) -> None:
        self.uses: dict[int, dict[str, int]] = {checkpoint: {} for checkpoint in completed}
        self.dropped: dict[int, int] = {}
        self.deleted: dict[str, int] = {}
        latest, now = 0, dict[str, int]()
        begun = 0
        kinds = (
            events.CheckpointTriggered, events.CheckpointCompleted, events.CheckpointDropped, events.FileDeleted,
            events.SharedStateRegistered, events.SharedStateReleased,
        )  # fmt: skip
        for event in history.of_kinds(kinds):
            if isinstance(event, events.CheckpointCompleted):
                latest = event.checkpoint
                if latest > completed[-1]:
                    break
            elif isinstance(event, events.CheckpointDropped):
                self.dropped[event.checkpoint] = latest
            elif isinstance(event, events.FileDeleted):
                self.deleted.setdefault(event.path, latest)
            elif isinstance(event, events.SharedStateRegistered | events.SharedStateReleased):
                now.update((file.path, file.uses) for file in event.files)
            elif isinstance(event, events.CheckpointTriggered):
                begun = event.checkpoint
            if latest in self.uses and begun <= latest:
                self.uses[latest] = dict(now)
