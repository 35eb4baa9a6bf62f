"""How statuses and outcomes are shown to people: one word and one style each, for reports and commands alike.

Styles are words that terminals' libraries share: a colour, `bold`, `dim`.
"""

from __future__ import annotations

from holdfast.harness.model.journal import Status
from holdfast.harness.model.verdict import Outcome

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
