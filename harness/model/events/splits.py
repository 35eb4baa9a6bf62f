"""Splits on their way between an enumerator and its readers."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event


class SplitsListed(Event, tag="splits_listed"):
    """What a source system answered when it was to list its splits; a later answer may hold more of them, or fewer."""

    splits: tuple[int, ...]


class SplitsAssigned(Event, tag="splits_assigned"):
    """An enumerator sent splits to a reader; `attempt` is the reader's."""

    subtask: str
    splits: tuple[int, ...]


class SplitsReceived(Event, tag="splits_received"):
    """A reader was given splits; it may have some of them already."""

    subtask: str
    splits: tuple[int, ...]


class SplitsLeft(Event, tag="splits_left"):
    """An enumerator's part of a checkpoint: the splits of a source vertex that no reader's part holds."""

    checkpoint: int
    vertex: str
    splits: tuple[int, ...]
