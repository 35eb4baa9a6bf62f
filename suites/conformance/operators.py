"""Operators beside the keyed sum: which of them align, and what they make of the input (RULES BAR, E2E)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.user import command
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.jobs import (
    BROADCAST,
    DEBOUNCE,
    DEDUPLICATE,
    DIAMOND,
    JOIN,
    PIPELINE,
    SELF_JOIN,
    SESSION_SUM,
    STEPS,
    THROTTLE,
    TOP_SUM,
    UNION,
)
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import (
    EVERYWHERE,
    LATE_CHANNELS,
    RESTORED,
    STATE_IN_FILES,
    WORKERS,
    plan,
    with_needs,
)
from holdfast.suites.conformance.rescaling import RETAIN, rescaled

MEETING = (UNION, DIAMOND, JOIN, SELF_JOIN, BROADCAST)
"""Two streams flow together."""
JOBS = (*MEETING, PIPELINE, STEPS)
CHAINS = tuple(
    plan(kill(WORKERS[0], after_checkpoint=2), job=job, options={"pipeline.operator-chaining.enabled": chaining})
    for job in (PIPELINE, STEPS, SELF_JOIN)
    for chaining in ("true", "false")
)
EXCHANGING = (UNION, JOIN, BROADCAST, PIPELINE)
CRASHES = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3))

TIES = {"value_limit": 2}
"""Few values, so that many are equal."""
KEYED = tuple(
    made
    for job in (TOP_SUM, DEDUPLICATE, SESSION_SUM)
    for made in (
        plan(*CRASHES, job=job, records=TIES),
        plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES, records=TIES),
        rescaled(2, 3, job=job),
        rescaled(3, 2, job=job),
    )
)

EXPIRING = tuple(
    made
    for job in (THROTTLE, DEBOUNCE)
    for made in (
        plan(*CRASHES, job=job),
        plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
        plan(
            kill(WORKERS[0], after_checkpoint=2),
            job=job,
            options={**STATE_IN_FILES, "execution.checkpointing.incremental": "true", "state.backend.type": "rocksdb"},
        ),
        rescaled(2, 3, job=job),
        rescaled(3, 2, job=job, faults=(kill(WORKERS[0], after_checkpoint=5),)),
    )
)
"""A downtime is longer than the time to live in some of them, shorter in others."""


def versioned(first: int, second: int, *faults: FaultSpec, **fields: Any) -> Plan:
    """A top list is cancelled, and goes on from what it has left with another format of its state."""
    vertices = tuple(
        replace(vertex, state_version=first) if vertex.kind is VertexKind.TOP_SUM else vertex
        for vertex in TOP_SUM.vertices
    )
    return plan(
        command("cancel", after_checkpoint=3),
        command("submit", {"edit": f"sum@{second}"}, after_checkpoint=3, at_event="checkpoint_retained"),
        *faults,
        job=replace(TOP_SUM, vertices=vertices),
        options=RETAIN,
        **fields,
    )


COMPATIBLE = (versioned(1, 2), versioned(1, 2, kill(WORKERS[0], after_checkpoint=5)))
INCOMPATIBLE = versioned(2, 1, expected_end=ExpectedEnd.FAILED)

CASES = with_needs(
    Case(
        id="operators/several-inputs-wait",
        purpose="Do a union, a join, a diamond and broadcast state align over all of their inputs?",
        method="Two streams flow together; one channel is late. Once a worker is killed.",
        passes="Nothing behind a barrier is processed before the barrier is there on every input of either side, and "
        "rows and states are those of the oracle's own interpretation of the job.",
        decides=(Decision("BAR-08", "CUT", ("processed-while-blocked",), "A3"),),
        windows=RESTORED,
        plan=[plan(slow(LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=3), job=job) for job in MEETING],
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
        windows=(Window.RESTORED_STATE,),
        plan=[plan(*CRASHES, job=job) for job in JOBS],
        tiers=EVERYWHERE,
        mutant_plan=[plan(slow(LATE_CHANNELS[0], 15), CRASHES[0], job=job) for job in EXCHANGING],
    ),
    Case(
        id="operators/chaining",
        purpose="Is a job the same with its operators chained and unchained?",
        method="Each job runs chained and unchained; a worker is killed.",
        passes="States, rows and restored states are those of one model either way; a chain takes each barrier once, "
        "through no channel, for all its operators at one point; and every operator is in each checkpoint.",
        decides=(
            Decision("BAR-12", "CHAIN", ("crossed",), "never-chains"),
            Decision("BAR-12", "CHAIN", ("without-barrier",), "always-chains"),
            Decision("BAR-12", "CHAIN", ("snapshot-apart",), "snapshots-chain-apart"),
            Decision("BAR-12", "CHAIN", ("snapshot-twice",), "snapshots-chain-twice"),
            Decision("BAR-12", "CHAIN", ("operator-missing",), "stores-heads"),
            Decision("BAR-12", "CUT", ("state-extra", "state-missing"), "loses-in-chain"),
            Decision("BAR-12", "EXACT", ("row-wrong", "row-repeated", "input-missing"), "source-repeats-one"),
        ),
        windows=(Window.RESTORED_STATE,),
        plan=CHAINS,
        tiers=EVERYWHERE,
    ),
    Case(
        id="operators/keyed-state",
        purpose="Do lists, times to live and sessions come back from a checkpoint as they were?",
        method="A top list in map state, repeats that are dropped for a time to live, and sessions that merge run once "
        "each; workers and the coordinator are killed, and the job is rescaled.",
        passes="Every row is what the oracle's own interpretation of the job has at that prefix of the input, equal "
        "values, expired entries and merged sessions included.",
        decides=(
            Decision("REC-03", "EXACT", ("row-wrong",), "loses-ties"),
            Decision("REC-03", "EXACT", ("input-missing",), "renews-time-to-live"),
            Decision("REC-07", "WINDOW", ("window-wrong", "window-unknown"), "ends-sessions-by-steady-clock"),
        ),
        windows=RESTORED,
        plan=KEYED,
    ),
    Case(
        id="operators/time-to-live",
        purpose="Does state expire when its time is over, and not before, if it was restored in between?",
        method="State lives for a while of processing time behind its last write, or behind its last read as well; "
        "workers and the coordinator are killed, and the job is rescaled.",
        passes="State is found until it expires by the clock of its subtask, and never behind that; and exactly the "
        "records are in the output for which none was found.",
        decides=(
            Decision("REC-03", "TTL", ("expired-returned",), "lives-again"),
            Decision("REC-03", "TTL", ("expired-returned",), "returns-expired"),
            Decision("REC-03", "TTL", ("forgotten-early",), "forgets-the-living"),
            Decision("REC-03", "TTL", ("expired-returned",), "renews-on-read"),
            Decision("REC-03", "TTL", ("forgotten-early",), "renews-on-write-alone"),
        ),
        windows=RESTORED,
        plan=EXPIRING,
    ),
    Case(
        id="operators/newer-format",
        purpose="Does state of an older format come back in the newer one?",
        method="A job is cancelled, and goes on as a program that stores its sums in another format.",
        passes="The second job starts with the state that the first has recorded, and its rows are right.",
        decides=(Decision("REC-03", "RESTORE", ("rescaled-state-differs",), "converts-to-nothing"),),
        windows=(Window.RESTORED_STATE,),
        plan=COMPATIBLE,
    ),
    Case(
        id="operators/older-format",
        purpose="Is state refused that was stored in a newer format than the program has?",
        method="A job is cancelled, and an older program is to go on from what it has left.",
        passes="No attempt starts without the state that the first has recorded: the second job fails.",
        decides=(Decision("REC-08", "LIVE", ("end-not-reached",), "starts-afresh-if-incompatible"),),
        plan=INCOMPATIBLE,
    ),
)
