"""A part of a source's input."""

from __future__ import annotations

import msgspec


class SourceSplit(msgspec.Struct, frozen=True):
    """A partition, an object, a range of keys: what one reader reads in order, and how far it was read.

    Attributes:
        id: the same however far it was read; no other split of the source has it.
        version: of the content's form; one of `SourceDescription.readable_versions`.
        content: as the source writes it, with the position of the next record.
    """

    id: str
    version: int
    content: bytes
