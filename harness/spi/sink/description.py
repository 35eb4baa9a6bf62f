"""What a sink declares of itself."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from holdfast.harness.spi import SPI_VERSION


class DeliveryGuarantee(StrEnum):
    """How often each row is visible, if the job repeats what it wrote behind its last checkpoint (E2E-01)."""

    EXACTLY_ONCE = "exactly-once"
    """Once: with TWO_PHASE each row, with UPSERT each key as it was written last."""
    AT_LEAST_ONCE = "at-least-once"
    """Once or more: everything is visible when `prepare` returns."""


class SinkFlag(StrEnum):
    """Something that a sink can do. What is not declared is never relied upon; what is declared is tried."""

    TWO_PHASE = "two-phase"
    """Rows are invisible until their committables are committed."""
    UPSERT = "upsert"
    """A row replaces the visible one of the same key: what is repeated changes nothing (TPC-09)."""
    ORDERED = "ordered"
    """The rows of one key are read in the order in which one writer wrote them; with UPSERT the last one (E2E-06)."""
    FAULT_POINTS = "fault-points"
    """It calls `SinkContext.arrive` around each step outside of it: the kit lets each of them fail."""


class SinkDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns: the same value at every call, and for every sink of one factory.

    Attributes:
        name: of the sink, such as `kafka`.
        guarantee: that it can keep.
        flags: what it can do.
        committable_version: of the committables that `prepare` returns.
        readable_versions: of those that `commit` and `begin` understand; `committable_version` is one of them.
        transaction_timeout_ms: from `prepare` on a transaction may expire that was not committed in this time (TPC-07);
            None: it never does.
        committed_reader: whose format it is, so that others can read what is visible: `files` or `sqlite` as
            `CommittedReader` says; else empty, and the sink's own reader is believed.
        options: key to (default, meaning in one line); a factory refuses others by ValueError.
        spi_version: that it was written for.
    """

    name: str
    guarantee: DeliveryGuarantee
    flags: frozenset[SinkFlag]
    committable_version: int = 1
    readable_versions: frozenset[int] = frozenset({1})
    transaction_timeout_ms: int | None = None
    committed_reader: str = ""
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION
