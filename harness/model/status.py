"""The status of a rule or a case."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Status of a rule, from best to worst; NOT_APPLICABLE ranks with PASS."""

    PASS = "PASS"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    WAIVED = "WAIVED"
    UNTESTED = "UNTESTED"
    UNOBSERVED = "UNOBSERVED"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"
    FAIL = "FAIL"


STATUS_RANK = {status: max(rank, 1) for rank, status in enumerate(Status)}
