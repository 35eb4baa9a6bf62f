"""A place: the line of code where a part of a rule is written down."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Part(StrEnum):
    """What of a rule a place holds, in the order in which a reader goes from one to the next."""

    CASE = "case"
    CLAUSE = "clause"
    VARIANT = "wrong variant"
    REFERENCE = "reference"


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of code.

    Attributes:
        part: what it holds.
        name: such as `barriers/alignment`, `CUT/processed-while-blocked`, `A3` or `InputAlignment.block`.
        path: of the file, from the folder in which its package lies: `suites/conformance/barriers.py`.
        line: counted from 1.
    """

    part: Part
    name: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"
