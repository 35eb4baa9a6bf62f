"""A coordinator that is taken for dead and comes back (RULES CRD-13)."""

from __future__ import annotations

from holdfast.harness.model.case import Case, Decision
from holdfast.suites.conformance.plans import (
    COORDINATOR,
    EVERYWHERE,
    STATE_IN_FILES,
    each_of,
    gate,
    plan,
    supersede,
    with_needs,
)

STOPS_AT = (
    "publish-metadata", "during-publish-metadata", "persist-job-record", "during-persist-job-record", "send-trigger",
    "notify", "delete",
)  # fmt: skip
INTERVALS_MS = 200
"""Long enough for the successor to restart the job and to complete checkpoints."""
STOPPED = tuple(
    plan(supersede(INTERVALS_MS, after_checkpoint=1, gate=gate(effect, COORDINATOR)), options=STATE_IN_FILES)
    for effect in STOPS_AT
)

CASES = with_needs(
    Case(
        id="succession/superseded",
        purpose="Can a coordinator that stood still while another took over still complete or start anything?",
        method="It stands still in front of each of its steps in turn, or in the middle; a successor takes over and "
        "goes on with the job; then the first goes on where it stood.",
        passes="It is refused and ends; it stores nothing, completes nothing that its successor did not find, and no "
        "task hears from it.",
        decides=(
            Decision("CRD-13", "FENCE", ("superseded-acted", "superseded-completed"), "ignores-successor"),
            Decision("CRD-13", "FENCE", ("superseded-heard",), "history:fence/superseded-heard/task-hears-of-it"),
            Decision("CRD-13", "FENCE", ("epoch-not-higher",), "history:fence/epoch-not-higher/claims-what-is-claimed"),
        ),
        plan=each_of(STOPPED),
        runs=len(STOPPED),
        tiers=EVERYWHERE,
        mutant_plan=STOPPED[0],
    ),
)
