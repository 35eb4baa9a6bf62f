"""Objects that the harness damaged: what becomes of them until they are mended is no fault of the system under test."""

from __future__ import annotations

from holdfast.harness.model.events import (
    CheckpointAudited,
    CheckpointCompleted,
    Event,
    MetadataPublished,
    ObjectDamaged,
    ObjectMended,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.traces.submissions import Submissions

OfCheckpoint = MetadataPublished | CheckpointCompleted | CheckpointAudited


class Exemptions:
    """By path, the stretches of a history in which the harness had spoilt an object.

    A stretch begins when the damage is recorded, which is before it acts. It ends when the content is back; where
    nothing was put back, it never ends. What hangs on an object, such as the files that only removed metadata name, is
    for the oracle to say: it passes all paths that a judgement rests on.

    Attributes:
        job_of: the number of the job that an event belongs to.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._damaged: dict[str, list[int]] = {}
        self._mended: dict[str, list[int]] = {}
        for damaged in history.of(ObjectDamaged):
            self._damaged.setdefault(damaged.path, []).append(history.position(damaged))
        for mended in history.of(ObjectMended):
            if mended.length is not None:
                self._mended.setdefault(mended.path, []).append(history.position(mended))
        self.job_of = Submissions(history).of
        self._published: dict[tuple[int, int], MetadataPublished] = {}
        if self._damaged:
            for published in history.of(MetadataPublished):
                self._published[self.job_of(published), published.checkpoint] = published

    def hold(self, event: Event, *paths: str) -> bool:
        """Whether one of the objects was spoilt when an event happened."""
        return bool(self._damaged) and self._spoilt(self._history.position(event), paths)

    def hold_at_end(self, *paths: str) -> bool:
        """Whether one of the objects was still spoilt at the end of the run."""
        return bool(self._damaged) and self._spoilt(len(self._history.events), paths)

    def ever_held(self, path: str) -> bool:
        """Whether the harness ever spoilt an object, or put it back."""
        return path in self._damaged

    def metadata_of(self, event: OfCheckpoint) -> str:
        """The path of the metadata of the checkpoint that an event is about; empty where nothing was damaged, or nobody
        published any."""
        published = self._published_of(event)
        return published.path if published else ""

    def objects_of(self, event: OfCheckpoint) -> tuple[str, ...]:
        """The paths of metadata and files of the checkpoint that an event is about, as far as something was damaged."""
        published = self._published_of(event)
        return (published.path, *(file.path for file in published.files)) if published else ()

    def _published_of(self, event: OfCheckpoint) -> MetadataPublished | None:
        return self._published.get((self.job_of(event), event.checkpoint)) if self._damaged else None

    def _spoilt(self, position: int, paths: tuple[str, ...]) -> bool:
        return any(
            damaged < position and not any(damaged < mended < position for mended in self._mended.get(path, ()))
            for path in paths
            for damaged in self._damaged.get(path, ())
        )
