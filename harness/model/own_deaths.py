"""Deaths of a system under test that no fault caused: how often it ended by itself, and what it wrote last."""

from __future__ import annotations

import re

import msgspec

_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")


class OwnDeaths(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Several deaths that are alike.

    Attributes:
        times: how often it ended.
        ended: how, such as `exit code 3` or `SIGSEGV`.
        last_words: the last line that it wrote to its standard error; empty: there is none.
    """

    times: int
    ended: str
    last_words: str = ""

    @property
    def cause(self) -> str:
        """How it ended the last time, with its last words."""
        return f"{self.ended}: {self.last_words}" if self.last_words else self.ended

    def alike(self, other: OwnDeaths) -> bool:
        """Whether two ended in the same way; their last words may differ in numbers, such as the id of a process."""
        return (self.ended, _NUMBER.sub("n", self.last_words)) == (other.ended, _NUMBER.sub("n", other.last_words))
