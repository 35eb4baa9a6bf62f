"""What a stored checkpoint or savepoint holds, as whoever inspects it is shown."""

from __future__ import annotations

import msgspec


class InspectedFile(msgspec.Struct, frozen=True):
    """A file that a subtask's state refers to.

    Attributes:
        path: as the metadata names it, within the folder where that is relative.
        length: bytes.
        scope: such as `exclusive` or `shared`; `inline` for what is in the metadata itself.
        key_groups: (group, bytes) of keyed state; empty: it is no keyed state, or none is known.
        present: it is there, with that length.
    """

    path: str
    length: int
    scope: str
    key_groups: tuple[tuple[int, int], ...] = ()
    present: bool = True


class InspectedSubtask(msgspec.Struct, frozen=True):
    """The part of one subtask.

    Attributes:
        index: of the subtask; -1: it is the operator's own at the coordinator.
        first_key_group, end_key_group: that it owned, as in `range`; equal: it has no keyed state.
        formats: of its keyed and operator state.
        states: names of them.
        positions: (partition, next offset) of a source.
        transactions: that are pre-committed.
        finished: the subtask had ended.
        files: that it refers to.
    """

    index: int
    first_key_group: int = 0
    end_key_group: int = 0
    formats: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    positions: tuple[tuple[int, int], ...] = ()
    transactions: tuple[str, ...] = ()
    finished: bool = False
    files: tuple[InspectedFile, ...] = ()

    @property
    def length(self) -> int:
        """Bytes of all its files."""
        return sum(file.length for file in self.files)


class InspectedOperator(msgspec.Struct, frozen=True):
    """One operator, with its subtasks in order."""

    name: str
    subtasks: tuple[InspectedSubtask, ...]


class InspectedCheckpoint(msgspec.Struct, frozen=True):
    """A whole one.

    Attributes:
        path: of its metadata.
        checkpoint: its id.
        savepoint: it is the user's, and may be moved.
        max_parallelism: key groups of every operator.
        metadata_length: bytes of the metadata.
        operators: in the order of the metadata.
    """

    path: str
    checkpoint: int
    savepoint: bool
    max_parallelism: int
    metadata_length: int
    operators: tuple[InspectedOperator, ...]

    @property
    def shared(self) -> tuple[str, ...]:
        """Paths that more than one checkpoint may refer to."""
        return tuple(
            sorted(
                {
                    file.path
                    for operator in self.operators
                    for subtask in operator.subtasks
                    for file in subtask.files
                    if file.scope == "shared"
                }
            )
        )
