"""The picture of shared files: which checkpoints refer to each until it is deleted."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import SharedPicture, SharedRow

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
