"""The status of a rule or a case."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Status of a rule, from best to worst; NOT_APPLICABLE ranks with PASS."""

    PASS = "PASS"
    """It was tried, and nothing was refuted."""
    NOT_APPLICABLE = "NOT_APPLICABLE"
    """The system has nothing that it is about."""
    WAIVED = "WAIVED"
    """It is refuted or open, and somebody has taken that upon himself, with a reason and until a day."""
    UNTESTED = "UNTESTED"
    """Nothing has tried it."""
    UNOBSERVED = "UNOBSERVED"
    """It was tried, and what would show a violation is not supplied."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """It was tried, and could not be decided."""
    ERROR = "ERROR"
    """The harness itself broke."""
    FAIL = "FAIL"
    """It is refuted."""


STATUS_RANK = {status: max(rank, 1) for rank, status in enumerate(Status)}
