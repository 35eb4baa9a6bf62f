"""Operators beside the keyed sum: which of them align, and what they make of the input (RULES BAR, E2E, ITR, REC-07).

Among them are joins and rules in broadcast state, jobs with a feedback edge, and timers with whatever waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.user import command
from holdfast.harness.model import jobs
from holdfast.harness.model.case import Window
from holdfast.harness.model.configuration import Call
from holdfast.harness.model.job import Job, VertexKind
from holdfast.harness.model.jobs import (
    DELAYED_SUM,
    IDLE_SPLITS,
    INTERVAL_JOIN,
    ITERATION,
    RULED_SUM,
    SLIDING_SUM,
    TUMBLING_SUM,
    bounded,
)
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan, Schedule, Topology
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.barriers import UNALIGNED
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    RESTORED,
    STATE_IN_FILES,
    WORKERS,
    Options,
    case,
    decides,
    flat,
    gate,
    plan,
    refused,
    submitted,
    with_needs,
)
from holdfast.suites.conformance.rescaling import RETAIN, in_flight, rescaled

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


def plans_of(job: Job, busy: str) -> tuple[Plan, ...]:
    """Crashes, a late input, an end, other widths: aligned, and with what is in flight to a busy subtask."""
    return (
        plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=job),
        plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
        plan(slow(plans.LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=2), job=job, options=UNALIGNED),
        plan(kill(WORKERS[1], after_checkpoint=1), job=bounded(job), expected_end=ExpectedEnd.FINISHED),
        rescaled(2, 3, job=job, faults=(kill(WORKERS[0], after_checkpoint=5),)),
        rescaled(3, 2, job=job),
        in_flight(2, 3, job=job, busy=busy),
    )


UNITED = replace(
    RULED_SUM,
    vertices=tuple(replace(each, union_state=True) if each.name == "rules" else each for each in RULED_SUM.vertices),
)
"""Positions of the rules are union list state."""

TWO_INPUT_CASES = with_needs(
    case("two-inputs/interval-join",
         "Does every pair of records that meet in time have its row, once, if one of them was restored?",
         plans_of(INTERVAL_JOIN, "join[0]"), decides("REC-03", "WINDOW/window-missing", wrong="restores-left-alone"),
         decides("REC-07", "WINDOW/window-missing", wrong="forgets-early"),
         decides("REC-03", "WINDOW/window-repeated", wrong="joins-again"), windows=RESTORED,
         method="Two inputs are joined in an interval of event time, and each keeps its records in map state until a "
                "timer; processes are killed, the job is rescaled, its checkpoints are unaligned, its inputs end.",
         passes="Each pair of the oracle's own join has one row, with the values of its two records."),
    case("two-inputs/broadcast-rules",
         "Is each record computed by the rule of its own time, whichever subtask has it after a restore?",
         (*plans_of(RULED_SUM, "sum[0]"),
          plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=UNITED),
          rescaled(2, 3, job=UNITED, faults=(kill(WORKERS[1], after_checkpoint=5),))),
         decides("REC-03", "EXACT/row-wrong", wrong="forgets-rules"),
         decides("REC-07", "EXACT/row-wrong", wrong="applies-newest-rule"),
         decides("REC-03", "EXACT/input-missing", wrong="forgets-waiting"), windows=RESTORED,
         method="Rules come by a broadcast input, whose positions are union list state in some plans; records wait for "
                "those of their time in list state. Processes are killed, the job is rescaled, its checkpoints are "
                "unaligned, its inputs end.",
         passes="Every row is what the oracle's own interpretation of rules and records has at that prefix."),
)  # fmt: skip


INTERVAL: Options = {f"{CHECKPOINTING}.interval": "1 s"}
FORCED: Options = {"holdfast.force-checkpointing": "true"}
UNALIGNED_MODE: Options = {f"{CHECKPOINTING}.unaligned.enabled": "true"}
UNALIGNED_FORCED: Options = {f"{CHECKPOINTING}.unaligned.forced": "true"}
CHAINED: Options = {"pipeline.operator-chaining.enabled": "true"}
REFUSED = [refused(INTERVAL, job=ITERATION), refused({}, Call("enable_checkpointing", (1_000,)), job=ITERATION),
           refused({}, Call("enable_checkpointing", (1_000, "EXACTLY_ONCE", False)), job=ITERATION),
           refused({}, file=flat(INTERVAL), job=ITERATION), refused(INTERVAL | UNALIGNED_FORCED, job=ITERATION),
           refused(INTERVAL | FORCED | UNALIGNED_MODE, job=ITERATION)]  # fmt: skip
ACCEPTED = [submitted({}, job=ITERATION), submitted(INTERVAL | FORCED, job=ITERATION),
            submitted({}, Call("enable_checkpointing", (1_000, "EXACTLY_ONCE", True)), job=ITERATION),
            submitted(INTERVAL | FORCED | UNALIGNED_MODE | UNALIGNED_FORCED, job=ITERATION)]  # fmt: skip
LAP, WAY_IN = (
    Target(Role.CHANNEL, network_channels(ITERATION, Topology()).index(channel))
    for channel in ("loop[0]->loop[1]", "source[0]->loop[1]")
)


def _crashed(options: Options, late: Target = LAP, delay_ms: int = 60, records: int = 240) -> Plan:
    """A part of the loop is slow, so that checkpoints find something in it, on a busy machine too if it is slow enough,
    for long enough; then a worker is killed."""
    return plan(slow(late, delay_ms, max(2_000, records * 5)), kill(WORKERS[0], after_checkpoint=2), job=ITERATION,
                options=FORCED | options, records={"records": records})  # fmt: skip


LATE = [_crashed(options, WAY_IN, 20) for options in ({}, CHAINED)]
"""The snapshot of one subtask of the loop comes long after that of the other."""

ITERATION_CASES = with_needs(
    case("iteration/refused", "Are checkpoints of a job with a feedback edge refused unless they are forced?", REFUSED,
         decides("ITR-01", "LOUD/accepted-bad-option", wrong="allows-any-loop"),
         method="Such a job is submitted with an interval, by option, call and file; with unaligned checkpoints, "
                "forced in one way where two are needed.",
         passes="Each is refused."),
    case("iteration/forced",
         "Is such a job accepted without checkpoints, and with forced ones, and is a possible loss reported?", ACCEPTED,
         decides("ITR-01", "LOUD/refused-good-option", wrong="refuses-every-loop"),
         decides("ITR-02", "CONFIG/warning-wrong", wrong="warns-of-nothing"),
         method="It is submitted without an interval, and forced by option and by call.",
         passes="Each is accepted; forced checkpoints give a warning that records in the loop may be lost."),
    case("iteration/confined", "Does a restart from a forced checkpoint lose what was in the loop, and nothing else?",
         [_crashed(options) for options in ({}, CHAINED, UNALIGNED_MODE | UNALIGNED_FORCED)],
         decides("ITR-02", "FEEDBACK/lost-outside-loop", wrong="source-skips-one"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="A part of the loop is slow, and a worker is killed; operators are chained or not, barriers overtake "
                "or not.",
         passes="Every record that has no row was in the loop when the checkpoint was taken that was restored."),
    case("iteration/once",
         "Does what is sent round behind a snapshot, and read again after a restart, take effect once?", LATE,
         decides("ITR-02", "NOREPEAT/record-repeated", wrong="lets-laps-overtake"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="One of two subtasks of the loop takes its snapshots late, and the other sends records round to it; a "
                "worker is killed.",
         passes="No record has two rows."),
    case("iteration/loss-control", "Does a crash show the loss where exactly-once is claimed for such a job?",
         replace(_crashed({}, delay_ms=200, records=1_200), system="reference+claims-exactly-once"),
         refutes=frozenset({"EXACT/input-missing"}), tiers=EVERYWHERE,
         method="The same loop and the same kill, under a claim of exactly-once.",
         passes="Records are missing from the output."),
)  # fmt: skip


SWIFT = {
    "pipeline.operator-chaining.enabled": "true",
    "restart-strategy.fixed-delay.delay": "8 ms",
    "taskmanager.network.memory.buffers-per-channel": "1",
    "source.max-batch-records": "9",
}
CRASHED = (
    plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=DELAYED_SUM),
    plan(kill(WORKERS[1], after_checkpoint=2), job=DELAYED_SUM, options=STATE_IN_FILES),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("acknowledge", WORKERS[0])), job=DELAYED_SUM),
    plan(kill(COORDINATOR, after_checkpoint=1), kill(WORKERS[1], after_checkpoint=2), job=DELAYED_SUM),
    plan(FaultSpec("slow-task", Target(Role.TASK, 3), Schedule(after_checkpoint=2), 246, {"delay_ms": 5}),
         kill(WORKERS[1], after_checkpoint=2), kill(WORKERS[0], after_checkpoint=3), job=DELAYED_SUM, options=SWIFT),
)  # fmt: skip
"""In the last one, timers are due before the chain behind them runs."""
RESCALED = (rescaled(2, 3, job=DELAYED_SUM), rescaled(3, 2, job=DELAYED_SUM), rescaled(1, 4, job=DELAYED_SUM))
UNALIGNED_IN_ROOM = {
    "execution.checkpointing.unaligned.enabled": "true",
    "taskmanager.network.memory.buffers-per-channel": "64",
}
WINDOWS = tuple(
    made for job in (SLIDING_SUM, TUMBLING_SUM)
    for made in (plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=job),
                 plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
                 plan(slow(plans.LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=2), job=job,
                      options=UNALIGNED_IN_ROOM),
                 plan(kill(WORKERS[1], after_checkpoint=1), job=bounded(job), expected_end=ExpectedEnd.FINISHED),
                 rescaled(2, 3, job=job), rescaled(3, 2, job=job))
)  # fmt: skip
"""With records that come late, and without."""

LONG = {"records": 240, "idle_partition": 1}
SILENT = {**LONG, "idle_records": 0}
"""It has nothing but the record that is fed when every fault is healed."""
RETURNING = {**LONG, "starts_ms": 150}
"""It begins when it has been idle for a while, and from the beginning of event time, as the other one did."""
BRIEFLY = {**RETURNING, "idle_records": 20}
"""It is idle again soon."""
BEHIND = {"records": 240, "preloaded_percent": 0, "staggered_ms": 40}
"""The second split is later than the first one, and never idle."""


def idle(*faults: FaultSpec, records: Mapping[str, int], options: Mapping[str, str] = {}) -> Plan:
    """A plan of two splits. On a machine with other things to do, a split may be found idle late."""
    bounds = replace(plans.BOUNDS, settle_ms=1_000)
    return plan(*faults, job=IDLE_SPLITS, records=records, options=options, bounds=bounds)


IDLE = (
    idle(records=SILENT),
    idle(kill(WORKERS[0], after_checkpoint=2), records=SILENT),
    idle(records=RETURNING),
    idle(records=BRIEFLY),
    idle(kill(WORKERS[1], after_checkpoint=5), records={**RETURNING, "starts_ms": 300}),
    idle(kill(COORDINATOR, after_checkpoint=6), records=RETURNING, options=UNALIGNED_IN_ROOM),
    idle(records=BEHIND),
    idle(kill(WORKERS[0], after_checkpoint=2), records=BEHIND),
)

TIMER_CASES = with_needs(
    case("timers/processing-time", "Does a timer that waits when processes die bring its row, once, at its time?",
         CRASHED + RESCALED, decides("REC-07", "TIME/timer-lost", wrong="M1"),
         decides("REC-07", "TIME/timer-repeated", wrong="takes-timers-twice"),
         decides("REC-07", "TIME/timer-early", wrong="takes-timers-early"),
         decides("REC-07", "TIME/timer-unknown", wrong="wakes-every-key"),
         decides("REC-07", "EXACT/input-missing", wrong="takes-timers-before-chain"),
         decides("REC-07", "EXACT/row-wrong", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"),
         windows=RESTORED,
         method="A keyed sum emits the row of a key by a timer only; workers and the coordinator are killed while keys "
                "wait, and the job is rescaled.",
         passes="Every timer that waited at the restored cut is taken once, by whoever owns its key group, not before "
                "its time; and every key shows its last row."),
    case("timers/event-time",
         "Do windows of event time survive crashes, and does a split hold the watermark that says nothing yet?",
         WINDOWS, decides("REC-07", "WINDOW/window-missing", wrong="M1"),
         decides("REC-07", "TIME/dropped-early", wrong="M3"),
         decides("REC-07", "WINDOW/window-repeated", wrong="reopens-windows"),
         decides("REC-07", "WINDOW/window-wrong", wrong="assigns-once"), windows=RESTORED,
         method="Windows overlap or do not, and records come late; workers and the coordinator are killed, the job is "
                "rescaled, its checkpoints are unaligned, its input ends.",
         passes="Every window that is over has one row, with every record that its own split had brought in time; and "
                "its timer is taken once."),
    case("timers/idle-splits", "Do windows wait for every split that brings records, and for no split that is idle?",
         IDLE, decides("REC-07", "WINDOW/window-missing", wrong="holds-for-idle-splits"),
         decides("REC-07", "WINDOW/window-wrong", wrong="idle-for-good"),
         decides("REC-07", "TIME/dropped-early", wrong="idles-active-splits"),
         decides("REC-07", "WINDOW/window-repeated", wrong="falls-back-to-idle-splits"), windows=RESTORED,
         method="A split of two brings nothing, or comes late, or is behind the other one; workers and the coordinator "
                "are killed while it is idle.",
         passes="Windows are emitted although a split is idle; one that comes again holds them back; what was emitted "
                "stays so behind a restore; and no record of a split that was never idle is late."),
)  # fmt: skip
