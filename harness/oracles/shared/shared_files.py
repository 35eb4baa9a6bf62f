"""Shared files, as the acknowledgements of subtasks state them: a name stands for one file of a subtask, for good."""

from __future__ import annotations

from holdfast.harness.model.events import AckSent, FileReference, SharedHandle
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots


class SharedFiles:
    """The shared files of one history.

    Attributes:
        paths: of all of them.
    """

    def __init__(self, history: History) -> None:
        self._claimed = claimed_snapshots(history)
        self._job_of = self._claimed.job_of
        self._files: dict[tuple[int, str, str], FileReference] = {}
        for ack in history.of(AckSent):
            for handle in ack.shared:
                if handle.file is not None:
                    self._files.setdefault((self._job_of(ack), ack.subtask, handle.name), handle.file)
        self.paths = frozenset(file.path for file in self._files.values())

    def file_of(self, ack: AckSent, handle: SharedHandle) -> FileReference | None:
        """What a handle of an acknowledgement stands for; None: no event states it."""
        if handle.file is not None:
            return handle.file
        return self.first_of(ack, handle.name)

    def first_of(self, ack: AckSent, name: str) -> FileReference | None:
        """What the subtask of an acknowledgement first gave a name to, in its job or in one whose snapshot that has
        claimed."""
        job = self._job_of(ack)
        file = self._files.get((job, ack.subtask, name))
        while file is None and job in self._claimed.by_job:
            job, _ = self._claimed.by_job[job].identity
            file = self._files.get((job, ack.subtask, name))
        return file

    def reused_bytes(self, ack: AckSent) -> int | None:
        """Bytes of the shared files that an earlier checkpoint had stored; None: no event states the content of one, or
        its name stands for two."""
        if not ack.shared:
            return 0
        reused = 0
        stored = {file.path for file in ack.files}
        for handle in ack.shared:
            file = self.file_of(ack, handle)
            if file is None or file != self.first_of(ack, handle.name):
                return None
            if not handle.inline and file.path not in stored:
                reused += file.length
        return reused


def shared_files(history: History) -> SharedFiles:
    """Worked out once, however many oracles ask."""
    return history.derived(SharedFiles)
