"""Options at their limits (RULES CFG)."""

from __future__ import annotations

from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.conformance.plans import CHECKPOINTING, each_of, plan, with_needs

LIMITS = (
    (f"{CHECKPOINTING}.interval", "9 ms", "10 ms"),
    (f"{CHECKPOINTING}.timeout", "9 ms", "10 ms"),
    (f"{CHECKPOINTING}.min-pause", "-1 ms", "0 ms"),
    (f"{CHECKPOINTING}.max-concurrent-checkpoints", "0", "1"),
    (f"{CHECKPOINTING}.tolerable-failed-checkpoints", "-1", "0"),
    (f"{CHECKPOINTING}.num-retained", "0", "1"),
    (f"{CHECKPOINTING}.data-inline-threshold", "1048577 b", "1 mb"),
)
"""Option, the nearest value that must be refused, the limit itself."""
REFUSED = tuple(plan(options={key: bad}, expected_end=ExpectedEnd.REFUSED) for key, bad, _ in LIMITS)
ACCEPTED = tuple(plan(options={key: good}) for key, _, good in LIMITS)

CASES = with_needs(
    Case(
        id="configuration/refused",
        purpose="Is an option beyond its limit refused at submit?",
        method="A job is submitted with each option one step beyond its limit.",
        passes="Each is refused before anything starts.",
        decides=(Decision("CFG-01", "LOUD", ("accepted-bad-option",), "accepts-any-option"),),
        plan=each_of(REFUSED),
        runs=len(REFUSED),
    ),
    Case(
        id="configuration/accepted",
        purpose="Is an option at its limit accepted?",
        method="A job runs with each option exactly at its limit.",
        passes="None is refused.",
        decides=(Decision("CFG-01", "LOUD", ("refused-good-option",), "refuses-limits"),),
        plan=each_of(ACCEPTED),
        runs=len(ACCEPTED),
    ),
)
