"""What a source declares of itself."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from holdfast.harness.spi import SPI_VERSION


class SourceFlag(StrEnum):
    """Something that a source can do. What is not declared is never relied upon; what is declared is tried."""

    REPLAYABLE = "replayable"
    """Splits can be read again. Without it the job's guarantee is at most once (E2E-01, E2E-05)."""
    BOUNDED = "bounded"
    """`SourceContext.bounded` works: it reads what is there when it first starts, and ends."""
    UNBOUNDED = "unbounded"
    """It finds what comes later, in splits that it has and in new ones."""
    LATEST = "latest"
    """`SourceContext.latest` works: it passes over what is there when it first starts."""
    WATERMARKS = "watermarks"
    """`SourceReader.watermarks` works."""
    PUBLISHES = "publishes"
    """Positions of completed checkpoints are published outside (E2E-07)."""
    FAULT_POINTS = "fault-points"
    """It calls `SourceContext.arrive` around each step outside of it: the kit lets each of them fail."""


class SourceDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns: the same value at every call, and for every source of one factory.

    Attributes:
        name: of the source, such as `kafka`.
        flags: what it can do; BOUNDED or UNBOUNDED is among them.
        split_version: of the splits that it makes.
        state_version: of the states that its enumerator makes.
        readable_versions: of both, that it understands.
        feeder: whose format it reads, so that others can write input: `files` or `sqlite` as `Feeder` says; else empty,
            and the source's own feeder is believed.
        options: key to (default, meaning in one line); a factory refuses others by ValueError.
        spi_version: that it was written for.
    """

    name: str
    flags: frozenset[SourceFlag]
    split_version: int = 1
    state_version: int = 1
    readable_versions: frozenset[int] = frozenset({1})
    feeder: str = ""
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION
