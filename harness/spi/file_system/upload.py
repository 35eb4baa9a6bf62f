"""A file under way."""

from __future__ import annotations

from typing import Protocol


class Upload(Protocol):
    """One file that nobody sees yet. One thread uses it."""

    def write(self, content: bytes) -> None:
        """Append content.

        Raises:
            Transient: nothing can be said of what was written; the upload is of no use any more but for `abandon`.
            Full: nothing fits any more, or the file exceeds `max_file_bytes`; else as Transient.
        """

    def publish(self) -> None:
        """Make the file visible, whole and durable (STO-01, ASY-03).

        May be called again behind Transient, and behind a return: whoever called may have lost the answer to a caller
        of its own. As long as the file is there, that does nothing, or raises FileExistsError.

        Raises:
            FileExistsError: something is at its path. Nothing was changed (STO-02). It may be this very file, where an
                earlier call raised Transient: its reader finds out.
            Transient: it is visible or not.
            Full: it is not visible.
        """

    def abandon(self) -> None:
        """Remove what was written, and leave nothing (STO-02); never the published file. Idempotent.

        Raises:
            Transient: something may be left.
        """
