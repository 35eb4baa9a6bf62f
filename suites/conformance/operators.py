"""Operators beside the keyed sum: which of them align, and what they make of the input (RULES BAR, E2E)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.user import command
from holdfast.harness.model import jobs
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import RESTORED, STATE_IN_FILES, WORKERS, case, decides, plan, with_needs
from holdfast.suites.conformance.rescaling import RETAIN, rescaled

MEETING = (jobs.UNION, jobs.DIAMOND, jobs.JOIN, jobs.SELF_JOIN, jobs.BROADCAST)
"""Two streams flow together."""
JOBS = (*MEETING, jobs.PIPELINE, jobs.STEPS)
CHAINS = tuple(
    plan(kill(WORKERS[0], after_checkpoint=2), job=job, options={"pipeline.operator-chaining.enabled": chaining})
    for job in (jobs.PIPELINE, jobs.STEPS, jobs.SELF_JOIN)
    for chaining in ("true", "false")
)
EXCHANGING = (jobs.UNION, jobs.JOIN, jobs.BROADCAST, jobs.PIPELINE)
CRASHES = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3))

TIES = {"value_limit": 2}
"""Few values, so that many are equal."""
KEYED = tuple(
    made for job in (jobs.TOP_SUM, jobs.DEDUPLICATE, jobs.SESSION_SUM)
    for made in (plan(*CRASHES, job=job, records=TIES),
                 plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES, records=TIES),
                 rescaled(2, 3, job=job), rescaled(3, 2, job=job))
)  # fmt: skip

EXPIRING = tuple(
    made for job in (jobs.THROTTLE, jobs.DEBOUNCE)
    for made in (plan(*CRASHES, job=job), plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
                 plan(kill(WORKERS[0], after_checkpoint=2), job=job,
                      options={**STATE_IN_FILES, "execution.checkpointing.incremental": "true",
                               "state.backend.type": "rocksdb"}),
                 rescaled(2, 3, job=job), rescaled(3, 2, job=job, faults=(kill(WORKERS[0], after_checkpoint=5),)))
)  # fmt: skip
"""A downtime is longer than the time to live in some of them, shorter in others."""


def versioned(first: int, second: int, *faults: FaultSpec, **fields: Any) -> Plan:
    """A top list is cancelled, and goes on from what it has left with another format of its state."""
    vertices = tuple(
        replace(vertex, state_version=first) if vertex.kind is VertexKind.TOP_SUM else vertex
        for vertex in jobs.TOP_SUM.vertices
    )
    return plan(command("cancel", after_checkpoint=3),
                command("submit", {"edit": f"sum@{second}"}, after_checkpoint=3, at_event="checkpoint_retained"),
                *faults, job=replace(jobs.TOP_SUM, vertices=vertices), options=RETAIN, **fields)  # fmt: skip


CASES = with_needs(
    case("operators/several-inputs-wait",
         "Do a union, a join, a diamond and broadcast state align over all of their inputs?",
         [plan(slow(plans.LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=3), job=job) for job in MEETING],
         decides("BAR-08", "CUT/processed-while-blocked", wrong="A3"), windows=RESTORED,
         method="Two streams flow together; one channel is late. Once a worker is killed.",
         passes="Nothing behind a barrier is processed before the barrier is there on every input of either side, and "
                "rows and states are those of the oracle's own interpretation of the job."),
    case("operators/crashes", "Is every operator right when processes die?", [plan(*CRASHES, job=job) for job in JOBS],
         decides("E2E-02", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"),
         decides("BAR-05", "CUT/state-extra", "CUT/state-missing", wrong="A3"), windows=(Window.RESTORED_STATE,),
         tiers=plans.EVERYWHERE,
         mutant_plan=[plan(slow(plans.LATE_CHANNELS[0], 15), CRASHES[0], job=job) for job in EXCHANGING],
         method="Each job of the model runs once; a worker and the coordinator are killed.",
         passes="Every record that its operators make of the input is in the committed output once, and every "
                "checkpoint is the effect of exactly the records before its barriers, copies of broadcast state "
                "included."),
    case("operators/chaining", "Is a job the same with its operators chained and unchained?", CHAINS,
         decides("BAR-12", "CHAIN/crossed", wrong="never-chains"),
         decides("BAR-12", "CHAIN/without-barrier", wrong="always-chains"),
         decides("BAR-12", "CHAIN/snapshot-apart", wrong="snapshots-chain-apart"),
         decides("BAR-12", "CHAIN/snapshot-twice", wrong="snapshots-chain-twice"),
         decides("BAR-12", "CHAIN/operator-missing", wrong="stores-heads"),
         decides("BAR-12", "CUT/state-extra", "CUT/state-missing", wrong="loses-in-chain"),
         decides("BAR-12", "EXACT/row-wrong", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE,), tiers=plans.EVERYWHERE,
         method="Each job runs chained and unchained; a worker is killed.",
         passes="States, rows and restored states are those of one model either way; a chain takes each barrier once, "
                "through no channel, for all its operators at one point; and every operator is in each checkpoint."),
    case("operators/keyed-state", "Do lists, times to live and sessions come back from a checkpoint as they were?",
         KEYED, decides("REC-03", "EXACT/row-wrong", wrong="loses-ties"),
         decides("REC-03", "EXACT/input-missing", wrong="renews-time-to-live"),
         decides("REC-07", "WINDOW/window-wrong", "WINDOW/window-unknown", wrong="ends-sessions-by-steady-clock"),
         windows=RESTORED,
         method="A top list in map state, repeats that are dropped for a time to live, and sessions that merge run "
                "once each; workers and the coordinator are killed, and the job is rescaled.",
         passes="Every row is what the oracle's own interpretation of the job has at that prefix of the input, equal "
                "values, expired entries and merged sessions included."),
    case("operators/time-to-live",
         "Does state expire when its time is over, and not before, if it was restored in between?", EXPIRING,
         decides("REC-03", "TTL/expired-returned", wrong="lives-again"),
         decides("REC-03", "TTL/expired-returned", wrong="returns-expired"),
         decides("REC-03", "TTL/forgotten-early", wrong="forgets-the-living"),
         decides("REC-03", "TTL/expired-returned", wrong="renews-on-read"),
         decides("REC-03", "TTL/forgotten-early", wrong="renews-on-write-alone"), windows=RESTORED,
         method="State lives for a while of processing time behind its last write, or behind its last read as well; "
                "workers and the coordinator are killed, and the job is rescaled.",
         passes="State is found until it expires by the clock of its subtask, and never behind that; and exactly the "
                "records are in the output for which none was found."),
    case("operators/newer-format", "Does state of an older format come back in the newer one?",
         (versioned(1, 2), versioned(1, 2, kill(WORKERS[0], after_checkpoint=5))),
         decides("REC-03", "RESTORE/rescaled-state-differs", wrong="converts-to-nothing"),
         windows=(Window.RESTORED_STATE,),
         method="A job is cancelled, and goes on as a program that stores its sums in another format.",
         passes="The second job starts with the state that the first has recorded, and its rows are right."),
    case("operators/older-format", "Is state refused that was stored in a newer format than the program has?",
         versioned(2, 1, expected_end=ExpectedEnd.FAILED),
         decides("REC-08", "LIVE/end-not-reached", wrong="starts-afresh-if-incompatible"),
         method="A job is cancelled, and an older program is to go on from what it has left.",
         passes="No attempt starts without the state that the first has recorded: the second job fails."),
)  # fmt: skip
