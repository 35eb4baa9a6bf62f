"""What became of a committable."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class OutcomeKind(StrEnum):
    """What the runtime does next depends on it (TPC-05)."""

    COMMITTED = "committed"
    """Its rows are visible now."""
    ALREADY = "already"
    """They were before: an earlier call has done it, this one changed nothing."""
    RETRY = "retry"
    """They are visible or not; the same call decides it later. The runtime goes on trying."""
    FAILED = "failed"
    """They are not visible, and will never be. The runtime fails the job, and says that data is lost (TPC-07)."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """Of one committable.

    Attributes:
        kind: what became of it.
        reason: one sentence where it is RETRY or FAILED, such as that the transaction has expired.
    """

    kind: OutcomeKind
    reason: str = ""
