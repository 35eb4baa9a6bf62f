"""What an engine declares about its committed output: how a process of the harness that only reads can see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from holdfast.harness.model.records import FoldRow, IdentityRow, WindowRow
from holdfast.harness.spi.offered import Offered

Row = FoldRow | IdentityRow | WindowRow
"""Of one contract in all of an output."""


@runtime_checkable
class CommittedTable(Protocol, metaclass=Offered):
    """Output whose rows are replaced in place: a table, a file, a key-value store."""

    def rows(self) -> Sequence[FoldRow] | None:
        """All rows that a reader sees now; None: the same as at the last call.

        Raises:
            ValueError: what is there is no output of this form; the text says why.
            OSError: it cannot be read at the moment; it is called again.
        """


class CommittedLog(Protocol):
    """Output that only grows: a topic, a folder of files. A second one, made anew, reads it from its beginning."""

    def new_rows(self) -> Sequence[tuple[str, Row]]:
        """The rows that became visible since the last call, in order, each with its place (such as a partition and an
        offset), which no other row has.

        Raises:
            ValueError, OSError: as CommittedTable.rows.
        """


class Reader(msgspec.Struct, frozen=True):
    """How the process makes a CommittedTable or a CommittedLog.

    Attributes:
        factory: as `module:name`, called there with the arguments.
        arguments: texts, such as a path or an address.
    """

    factory: str
    arguments: tuple[str, ...] = ()

    @staticmethod
    def of(factory: Callable[..., CommittedTable | CommittedLog], *arguments: str) -> Reader:
        """The reader that a class makes, or a function at the top of a module.

        Raises:
            TypeError: an argument is no text, and goes to another process as one.
        """
        for argument in arguments:
            if not isinstance(argument, str):
                raise TypeError(f"argument {argument!r} of reader {factory.__qualname__} is no text: write str(...).")
        return Reader(f"{factory.__module__}:{factory.__qualname__}", arguments)
