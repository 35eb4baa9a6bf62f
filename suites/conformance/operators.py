"""Operators beside the keyed sum: which of them align, and what they make of the input (RULES BAR, E2E)."""

from __future__ import annotations

from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.job import BROADCAST, DIAMOND, JOIN, PIPELINE, SELF_JOIN, STEPS, UNION
from holdfast.suites.conformance.plans import (
    COORDINATOR,
    EVERYWHERE,
    LATE_CHANNELS,
    WORKERS,
    each_of,
    kill,
    plan,
    slow,
    with_needs,
)

MEETING = (UNION, DIAMOND, JOIN, SELF_JOIN, BROADCAST)
"""Two streams flow together."""
JOBS = (*MEETING, PIPELINE, STEPS)
EXCHANGING = (UNION, JOIN, BROADCAST, PIPELINE)
CRASHES = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3))

CASES = with_needs(
    Case(
        id="operators/several-inputs-wait",
        purpose="Do a union, a join, a diamond and broadcast state align over all of their inputs?",
        method="Two streams flow together; one channel is late. Once a worker is killed.",
        passes="Nothing behind a barrier is processed before the barrier is there on every input of either side, and "
        "rows and states are those of the oracle's own interpretation of the job.",
        decides=(
            Decision("BAR-08", "CUT", ("processed-while-blocked",), "A3"),
            Decision("BAR-03", "CUT", ("processed-while-blocked",), "A3"),
        ),
        plan=each_of(
            [plan(slow(LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=3), job=job) for job in MEETING]
        ),
        runs=len(MEETING),
    ),
    Case(
        id="operators/crashes",
        purpose="Is every operator right when processes die?",
        method="Each job of the model runs once; a worker and the coordinator are killed.",
        passes="Every record that its operators make of the input is in the committed output once, and every "
        "checkpoint is the effect of exactly the records before its barriers, copies of broadcast state included.",
        decides=(
            Decision("E2E-02", "EXACT", ("row-repeated", "input-missing"), "source-repeats-one"),
            Decision("BAR-05", "CUT", ("state-extra", "state-missing"), "A3"),
        ),
        plan=each_of([plan(*CRASHES, job=job) for job in JOBS]),
        runs=len(JOBS),
        tiers=EVERYWHERE,
        mutant_plan=each_of([plan(slow(LATE_CHANNELS[0], 15), CRASHES[0], job=job) for job in EXCHANGING]),
    ),
)
