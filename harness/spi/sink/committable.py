"""What it takes to commit."""

from __future__ import annotations

import msgspec


class Committable(msgspec.Struct, frozen=True, gc=False):
    """One transaction that is prepared, such as the name of a file and where it belongs. Part of a checkpoint.

    Attributes:
        version: of the content's form; one of `SinkDescription.readable_versions`.
        content: as the sink writes it, at most some kilobytes: the rows themselves lie where the sink writes to.
    """

    version: int
    content: bytes
