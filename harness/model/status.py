"""The status of a rule or a case, and how statuses and outcomes are shown: one word and one style each, for reports and
commands alike. Styles are words that terminals' libraries share: a colour, `bold`, `dim`."""

from __future__ import annotations

from enum import StrEnum

from holdfast.harness.model.verdict import Outcome


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


ON_ITS_WORD = "reports of the system itself, not seen from outside"
"""What a verdict rests on where no observation from outside exists."""
STATUS_WORDS = {
    Status.PASS: "pass",
    Status.NOT_APPLICABLE: "not applicable",
    Status.WAIVED: "waived",
    Status.UNTESTED: "untested",
    Status.UNOBSERVED: "unobserved",
    Status.INCONCLUSIVE: "inconclusive",
    Status.ERROR: "error",
    Status.FAIL: "fail",
}
STATUS_STYLES = {
    Status.PASS: "green",
    Status.NOT_APPLICABLE: "dim",
    Status.WAIVED: "yellow",
    Status.UNTESTED: "dim",
    Status.UNOBSERVED: "blue",
    Status.INCONCLUSIVE: "yellow",
    Status.ERROR: "magenta",
    Status.FAIL: "bold red",
}
OUTCOME_STYLES = {
    Outcome.PASS: STATUS_STYLES[Status.PASS],
    Outcome.INCONCLUSIVE: STATUS_STYLES[Status.INCONCLUSIVE],
    Outcome.FAIL: STATUS_STYLES[Status.FAIL],
}
