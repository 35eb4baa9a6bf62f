"""Barriers and alignment (RULES BAR)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.task import slow_task
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.job import Job, VertexKind
from holdfast.harness.model.jobs import DIAMOND, FORWARD, JOIN, REBALANCE, SELF_JOIN, STEPS, UNION
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import subtasks
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans

LATE = plans.plan(slow(plans.LATE_CHANNELS[0], 15))
"""The barrier of the second source reaches the first sum 15 ms after that of the first, and records come meanwhile."""

DENSE = {"records": 300, "records_per_second": 400}
"""A record every two or three milliseconds in each partition."""
ROOMY = {"taskmanager.network.memory.buffers-per-channel": "64"}
"""What an alignment holds does not push back to the sources."""


def _worked_example(**options: str) -> Plan:
    """A checkpoint at record 3 and 4; record 4 of the first source overtakes the late barrier of the second."""
    return plans.plan(
        slow(plans.LATE_CHANNELS[0], 60),
        slow(plans.LATE_CHANNELS[1], 60),
        kill(plans.WORKERS[0], after_checkpoint=1),
        workload=WorkloadSpec("worked-example", {"resumes_ms": 120, "records_per_second": 10}),
        options={f"{plans.CHECKPOINTING}.interval": "100 ms", **options},
    )


LATE_SOURCE = (slow(plans.LATE_CHANNELS[0], 60, 600), slow(plans.LATE_CHANNELS[1], 60, 600))
PATIENT = {**plans.TOLERANT, **ROOMY, f"{plans.CHECKPOINTING}.timeout": "150 ms"}
DECLINED_AT_ONCE = forge("decline", "sink[1]", after_checkpoint=1, at_event="checkpoint_triggered")
ONE_BUFFER = {"taskmanager.network.memory.buffers-per-channel": "1", "source.max-batch-records": "2"}
UNALIGNED = {f"{plans.CHECKPOINTING}.unaligned.enabled": "true"}


def _tight(job: Job, options: Mapping[str, str]) -> Plan:
    """One buffer at each end of a channel, a slow task where the ways meet, and a checkpoint that is declined."""
    names = subtasks(job, Topology())
    (sink,) = job.of_kind(VertexKind.SINK)
    meeting = job.inputs_of(sink.name)[0].upstream
    return plans.plan(
        slow_task(Target(Role.TASK, names.index(f"{meeting}[0]")), 4, 600),
        forge("decline", f"{sink.name}[1]", after_checkpoint=1, at_event="checkpoint_triggered"),
        job=job,
        options={**plans.TOLERANT, **ONE_BUFFER, **options},
        records=DENSE,
    )


TIGHT = tuple(_tight(job, options) for job in (DIAMOND, UNION, JOIN, SELF_JOIN) for options in ({}, UNALIGNED))


CASES = plans.with_needs(
    Case(
        id="barriers/channel-order",
        purpose="Does a barrier keep its place among the records of its channel?",
        method="Every batch and barrier is numbered where it enters a channel and where it leaves it.",
        passes="Each channel delivers what entered it, in order, barriers included.",
        decides=(Decision("BAR-01", "CUT", ("channel-order",), "reorders-around-barrier"),),
        plan=LATE,
        pictures=("stream",),
    ),
    Case(
        id="barriers/one-barrier",
        purpose="Does each subtask send each barrier once on every output, with nothing between snapshot and barrier?",
        method="On each output the barriers are counted, and their place is compared with that of the snapshot.",
        passes="Exactly one barrier for each snapshot, and no batch between the two.",
        decides=(
            Decision("BAR-02", "CUT", ("barrier-once",), "sends-barrier-twice"),
            Decision("BAR-02", "CUT", ("emission-after-snapshot",), "emits-before-barrier"),
        ),
        plan=LATE,
    ),
    Case(
        id="barriers/alignment",
        purpose="Does a task with several inputs hold back what is behind a barrier, and continue with the others?",
        method="One channel is late, so that the others bring barrier and records while it still brings older records.",
        passes="Nothing behind a barrier is processed before the barrier is there on every input, and the late channel "
        "is processed meanwhile.",
        decides=(Decision("BAR-03", "CUT", ("processed-while-blocked",), "A3"),),
        plan=LATE,
        pictures=("alignment",),
    ),
    Case(
        id="barriers/held-records",
        purpose="Are records that an alignment holds processed afterwards, once, in order, also when it is aborted?",
        method="One channel is late, and a checkpoint is declined while its alignment holds records.",
        passes="The first batch processed after each alignment is the first one that it held, and none is left out.",
        decides=(Decision("BAR-04", "CUT", ("held-records",), "drops-held-records"),),
        plan=plans.plan(
            slow(plans.LATE_CHANNELS[0], 30),
            forge("decline", "sink[1]", after_checkpoint=1, at_event="transaction_precommitted"),
            options={**plans.TOLERANT, **ROOMY},
            records=DENSE,
        ),
        pictures=("alignment", "states:subtask-checkpoint"),
    ),
    Case(
        id="barriers/consistent-cut",
        purpose="Is a checkpoint the effect of exactly the records before its barriers, and do its offsets say so?",
        method="Its sums are compared with the oracle's own fold of the input below its offsets, and these with what "
        "each source had emitted.",
        passes="Number, sum and digest of the records agree in every checkpoint.",
        decides=(
            Decision("BAR-05", "CUT", ("state-extra", "state-missing"), "A3"),
            Decision("BAR-05", "CUT", ("source-position",), "records-old-position"),
        ),
        plan=LATE,
        tiers=plans.EVERYWHERE,
        pictures=("trigger-to-complete",),
    ),
    Case(
        id="barriers/worked-example-aligned",
        purpose="Does the worked example of seeds/002 come out with alignment?",
        method="Record 4 of the first source arrives before the barrier of the second; the job restarts from there.",
        passes="The checkpoint holds even 8 and odd 8; the sources continue at record 4 and record 5; the last rows "
        "are even 40 and odd 32.",
        decides=(
            Decision("BAR-06", "GOLDEN", ("checkpoint-value", "final-value"), "A3"),
            Decision("BAR-06", "RESTORE", ("position-differs",), "source-skips-one"),
        ),
        windows=plans.RESTORED,
        plan=_worked_example(),
        pictures=("seven-steps",),
    ),
    Case(
        id="barriers/worked-example-counted",
        purpose="Does the worked example of seeds/002 come out without alignment?",
        method="Record 4 of the first source arrives before the barrier of the second; the job restarts from there.",
        passes="The checkpoint holds even 12, record 4 counts twice, and the last row is even 44.",
        decides=(Decision("BAR-06", "GOLDEN", ("checkpoint-value", "final-value"), "blocks-in-at-least-once"),),
        windows=plans.RESTORED,
        plan=_worked_example(**plans.AT_LEAST_ONCE),
    ),
    Case(
        id="barriers/at-least-once-never-blocks",
        purpose="Is no channel ever blocked in at-least-once mode?",
        method="One channel is late, so that an alignment would have to wait for it.",
        passes="No channel is blocked although barriers of a checkpoint arrive one after the other.",
        decides=(Decision("BAR-07", "CUT", ("blocked-in-at-least-once",), "blocks-in-at-least-once"),),
        plan=plans.plan(slow(plans.LATE_CHANNELS[0], 15), options=plans.AT_LEAST_ONCE),
    ),
    Case(
        id="barriers/at-least-once-loses-nothing",
        purpose="Does a recovery in at-least-once mode repeat effects at worst?",
        method="One channel is late, and a worker is killed after the second checkpoint.",
        passes="Every record has its effect in the committed output.",
        decides=(Decision("BAR-07", "NOLOSS", ("input-lost",), "source-skips-one"),),
        windows=plans.RESTORED,
        plan=plans.plan(
            slow(plans.LATE_CHANNELS[0], 15), kill(plans.WORKERS[0], after_checkpoint=2), options=plans.AT_LEAST_ONCE
        ),
    ),
    Case(
        id="barriers/forward-only",
        purpose="Is a job whose every task has one input exactly-once in at-least-once mode, too?",
        method="Sources, maps and sinks are joined one to one; a worker is killed after the second checkpoint.",
        passes="No record has two rows, and none is missing.",
        decides=(Decision("BAR-08", "EXACT", ("row-repeated", "input-missing"), "source-repeats-one"),),
        windows=(Window.RESTORED_STATE,),
        plan=plans.plan(kill(plans.WORKERS[0], after_checkpoint=2), job=FORWARD, options=plans.AT_LEAST_ONCE),
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="barriers/one-input-never-waits",
        purpose="Does a task with one input never wait, in exactly-once mode either?",
        method="Sources, maps, flat maps, filters and sinks follow each other, and blocked channels are looked for.",
        passes="There is none.",
        decides=(Decision("BAR-08", "CUT", ("waited-with-one-input",), "waits-with-one-input"),),
        plan=[plans.plan(job=job) for job in (FORWARD, STEPS)],
    ),
    Case(
        id="barriers/rebalance-waits",
        purpose="Does a stateless task behind an exchange align, though each of its records stands alone?",
        method="Maps take whole batches in turn from every source; one channel is late.",
        passes="Nothing behind a barrier is processed before the barrier is there on every input.",
        decides=(Decision("BAR-08", "CUT", ("processed-while-blocked",), "A3"),),
        plan=plans.plan(slow(plans.LATE_CHANNELS[0], 15), job=REBALANCE),
    ),
    Case(
        id="barriers/newer-barrier",
        purpose="Does a newer barrier end an older alignment, and unblock what that had blocked?",
        method="A source gets the trigger of a later checkpoint too early. Its barrier comes on a late channel while "
        "an older checkpoint is being aligned.",
        passes="Every channel of the older alignment is unblocked before anything else happens.",
        decides=(Decision("BAR-10", "CUT", ("alignment-outlives",), "keeps-older-alignment"),),
        plan=plans.plan(
            *LATE_SOURCE, forge("trigger", "source[1]", {"checkpoint": 2}, after_checkpoint=1), options=PATIENT
        ),
    ),
    Case(
        id="barriers/cancellation-marker",
        purpose="Does the marker of a source that gave up a checkpoint end its alignment below?",
        method="A source gets the notice of an abort before the trigger of its checkpoint; the others send barriers.",
        passes="Whatever was blocked for it is unblocked when the marker comes.",
        decides=(Decision("BAR-10", "CUT", ("alignment-outlives",), "ignores-markers"),),
        plan=plans.plan(
            *LATE_SOURCE, forge("abort", "source[1]", {"checkpoint": 1}, after_checkpoint=1), options=PATIENT
        ),
    ),
    Case(
        id="barriers/stale-marker",
        purpose="Is the marker of a checkpoint that is over ignored while the next one is being aligned?",
        method="A source responds with markers on late channels. Its checkpoint is declined at once, and the barriers "
        "of the next one come on the others before.",
        passes="Nothing behind a barrier is processed before the barrier is there on every input.",
        decides=(Decision("BAR-10", "CUT", ("processed-while-blocked",), "obeys-stale-markers"),),
        plan=plans.plan(
            *LATE_SOURCE,
            forge("abort", "source[1]", {"checkpoint": 1}, after_checkpoint=1),
            DECLINED_AT_ONCE,
            options=PATIENT,
            records=DENSE,
        ),
    ),
    Case(
        id="barriers/stale-barrier",
        purpose="Is the barrier of a checkpoint that is over ignored?",
        method="A checkpoint is declined as soon as it is triggered; its barriers come on late channels afterwards.",
        passes="Nothing is blocked and no snapshot is taken for it any more.",
        decides=(Decision("BAR-10", "CUT", ("stale-acted",), "acts-on-stale-barriers"),),
        plan=plans.plan(*LATE_SOURCE, DECLINED_AT_ONCE, options=PATIENT),
    ),
    Case(
        id="barriers/no-deadlock",
        purpose="Does a job whose paths meet again continue with one buffer at each end, also if a checkpoint aborts?",
        method="Diamond, union, join and self-join run with a slow task where the ways meet, aligned and unaligned; a "
        "checkpoint is declined while it is being aligned.",
        passes="Checkpoints continue to complete, all input is processed, and no channel stays blocked.",
        decides=(
            Decision("BAR-11", "LIVE", ("end-not-reached", "no-new-checkpoints", "input-not-drained"), "stays-blocked"),
        ),
        plan=TIGHT,
        mutant_plan=plans.plan(
            slow(plans.LATE_CHANNELS[0], 60, 1_000),
            forge("decline", "sink[1]", after_checkpoint=1, at_event="checkpoint_triggered"),
            options={**plans.TOLERANT, **ONE_BUFFER},
            records=DENSE,
        ),
    ),
    Case(
        id="barriers/sources-go-on",
        purpose="Do sources continue to emit while tasks below align?",
        method="All input is there from the start, and one channel is late by more than a source needs for a record.",
        passes="A source emits between its barrier and the completion of the checkpoint.",
        decides=(Decision("BAR-09", "CUT", ("source-stalled",), "stops-sources-while-aligning"),),
        plan=plans.plan(
            slow(plans.LATE_CHANNELS[0], 30),
            options={**ROOMY, "source.max-batch-records": "1"},
            records={"records": 400, "preloaded_percent": 100},
        ),
    ),
)
