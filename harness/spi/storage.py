"""A checkpoint storage: where snapshots live.

Nothing uses this contract yet: it is for storages from outside, whose certification is still to come (version 0).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from holdfast.harness.model.events import FileReference


class CheckpointStorage(Protocol):
    """Files of the checkpoints of one job. Every method raises OSError when the storage fails.

    Rules: a path that `write` or `publish` returned for is durable; a reader sees a published object whole or not at
    all, whatever crashes; nothing is overwritten.
    """

    def write(self, path: str, content: bytes) -> FileReference:
        """Store a state file durably under a new relative path.

        Raises:
            FileExistsError: the path is taken.
        """

    def publish(self, path: str, content: bytes) -> FileReference:
        """As `write`, and atomic: the object appears under its name complete or not at all."""

    def read(self, reference: FileReference) -> bytes:
        """The content, checked against length and checksum.

        Raises:
            ValueError: the content is not what the reference says.
        """

    def open(self, path: str) -> bytes:
        """The content of a path as it is.

        Raises:
            FileNotFoundError: there is none.
        """

    def delete(self, paths: Iterable[str]) -> None:
        """Remove paths; what is gone already is no error."""

    def list(self, prefix: str) -> list[str]:
        """Relative paths below a prefix, in ascending order; unpublished leftovers are not among them."""
