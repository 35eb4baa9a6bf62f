"""Barriers and alignment (RULES BAR)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.task import slow_task
from holdfast.harness.model.job import Job, VertexKind
from holdfast.harness.model.jobs import DIAMOND, FORWARD, JOIN, REBALANCE, SELF_JOIN, STEPS, UNION
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import subtasks
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import AT_LEAST_ONCE, LATE_CHANNELS, TOLERANT, case, decides, plan, with_needs

LATE = plan(slow(LATE_CHANNELS[0], 15))
"""The barrier of the second source reaches the first sum 15 ms after that of the first, and records come meanwhile."""

DENSE = {"records": 300, "records_per_second": 400}
"""A record every two or three milliseconds in each partition."""
ROOMY = {"taskmanager.network.memory.buffers-per-channel": "64"}
"""What an alignment holds does not push back to the sources."""


def _worked_example(**options: str) -> Plan:
    """A checkpoint at record 3 and 4; record 4 of the first source overtakes the late barrier of the second."""
    return plan(slow(LATE_CHANNELS[0], 60), slow(LATE_CHANNELS[1], 60), kill(plans.WORKERS[0], after_checkpoint=1),
                workload=WorkloadSpec("worked-example", {"resumes_ms": 120, "records_per_second": 10}),
                options={f"{plans.CHECKPOINTING}.interval": "100 ms", **options})  # fmt: skip


LATE_SOURCE = (slow(LATE_CHANNELS[0], 60, 600), slow(LATE_CHANNELS[1], 60, 600))
PATIENT = {**TOLERANT, **ROOMY, f"{plans.CHECKPOINTING}.timeout": "150 ms"}
DECLINED_AT_ONCE = forge("decline", "sink[1]", after_checkpoint=1, at_event="checkpoint_triggered")
ONE_BUFFER = {"taskmanager.network.memory.buffers-per-channel": "1", "source.max-batch-records": "2"}
UNALIGNED = {f"{plans.CHECKPOINTING}.unaligned.enabled": "true"}


def _tight(job: Job, options: Mapping[str, str]) -> Plan:
    """One buffer at each end of a channel, a slow task where the ways meet, and a checkpoint that is declined."""
    names = subtasks(job, Topology())
    (sink,) = job.of_kind(VertexKind.SINK)
    meeting = job.inputs_of(sink.name)[0].upstream
    return plan(slow_task(Target(Role.TASK, names.index(f"{meeting}[0]")), 4, 600),
                forge("decline", f"{sink.name}[1]", after_checkpoint=1, at_event="checkpoint_triggered"), job=job,
                options={**TOLERANT, **ONE_BUFFER, **options}, records=DENSE)  # fmt: skip


CASES = with_needs(
    case("barriers/channel-order", "Does a barrier keep its place among the records of its channel?", LATE,
         decides("BAR-01", "CUT/channel-order", wrong="reorders-around-barrier"), pictures=("stream",),
         method="Every batch and barrier is numbered where it enters a channel and where it leaves it.",
         passes="Each channel delivers what entered it, in order, barriers included."),
    case("barriers/one-barrier",
         "Does each subtask send each barrier once on every output, with nothing between snapshot and barrier?", LATE,
         decides("BAR-02", "CUT/barrier-once", wrong="sends-barrier-twice"),
         decides("BAR-02", "CUT/emission-after-snapshot", wrong="emits-before-barrier"),
         method="On each output the barriers are counted, and their place is compared with that of the snapshot.",
         passes="Exactly one barrier for each snapshot, and no batch between the two."),
    case("barriers/alignment",
         "Does a task with several inputs hold back what is behind a barrier, and continue with the others?", LATE,
         decides("BAR-03", "CUT/processed-while-blocked", wrong="A3"), pictures=("alignment",),
         method="One channel is late, so that the others bring barrier and records while it still brings older "
                "records.",
         passes="Nothing behind a barrier is processed before the barrier is there on every input, and the late "
                "channel is processed meanwhile."),
    case("barriers/held-records",
         "Are records that an alignment holds processed afterwards, once, in order, also when it is aborted?",
         plan(slow(LATE_CHANNELS[0], 30),
              forge("decline", "sink[1]", after_checkpoint=1, at_event="transaction_precommitted"),
              options={**TOLERANT, **ROOMY}, records=DENSE),
         decides("BAR-04", "CUT/held-records", wrong="drops-held-records"),
         pictures=("alignment", "states:subtask-checkpoint"),
         method="One channel is late, and a checkpoint is declined while its alignment holds records.",
         passes="The first batch processed after each alignment is the first one that it held, and none is left out."),
    case("barriers/consistent-cut",
         "Is a checkpoint the effect of exactly the records before its barriers, and do its offsets say so?", LATE,
         decides("BAR-05", "CUT/state-extra", "CUT/state-missing", wrong="A3"),
         decides("BAR-05", "CUT/source-position", wrong="records-old-position"), tiers=plans.EVERYWHERE,
         pictures=("trigger-to-complete",),
         method="Its sums are compared with the oracle's own fold of the input below its offsets, and these with what "
                "each source had emitted.",
         passes="Number, sum and digest of the records agree in every checkpoint."),
    case("barriers/worked-example-aligned", "Does the worked example of seeds/002 come out with alignment?",
         _worked_example(), decides("BAR-06", "GOLDEN/checkpoint-value", "GOLDEN/final-value", wrong="A3"),
         decides("BAR-06", "RESTORE/position-differs", wrong="source-skips-one"), windows=plans.RESTORED,
         pictures=("seven-steps",),
         method="Record 4 of the first source arrives before the barrier of the second; the job restarts from there.",
         passes="The checkpoint holds even 8 and odd 8; the sources continue at record 4 and record 5; the last rows "
                "are even 40 and odd 32."),
    case("barriers/worked-example-counted", "Does the worked example of seeds/002 come out without alignment?",
         _worked_example(**AT_LEAST_ONCE),
         decides("BAR-06", "GOLDEN/checkpoint-value", "GOLDEN/final-value", wrong="blocks-in-at-least-once"),
         windows=plans.RESTORED,
         method="Record 4 of the first source arrives before the barrier of the second; the job restarts from there.",
         passes="The checkpoint holds even 12, record 4 counts twice, and the last row is even 44."),
    case("barriers/at-least-once-never-blocks", "Is no channel ever blocked in at-least-once mode?",
         plan(slow(LATE_CHANNELS[0], 15), options=AT_LEAST_ONCE),
         decides("BAR-07", "CUT/blocked-in-at-least-once", wrong="blocks-in-at-least-once"),
         method="One channel is late, so that an alignment would have to wait for it.",
         passes="No channel is blocked although barriers of a checkpoint arrive one after the other."),
    case("barriers/at-least-once-loses-nothing", "Does a recovery in at-least-once mode repeat effects at worst?",
         plan(slow(LATE_CHANNELS[0], 15), kill(plans.WORKERS[0], after_checkpoint=2), options=AT_LEAST_ONCE),
         decides("BAR-07", "NOLOSS/input-lost", wrong="source-skips-one"), windows=plans.RESTORED,
         method="One channel is late, and a worker is killed after the second checkpoint.",
         passes="Every record has its effect in the committed output."),
    case("barriers/forward-only", "Is a job whose every task has one input exactly-once in at-least-once mode, too?",
         plan(kill(plans.WORKERS[0], after_checkpoint=2), job=FORWARD, options=AT_LEAST_ONCE),
         decides("BAR-08", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE,), tiers=plans.EVERYWHERE,
         method="Sources, maps and sinks are joined one to one; a worker is killed after the second checkpoint.",
         passes="No record has two rows, and none is missing."),
    case("barriers/one-input-never-waits", "Does a task with one input never wait, in exactly-once mode either?",
         [plan(job=job) for job in (FORWARD, STEPS)],
         decides("BAR-08", "CUT/waited-with-one-input", wrong="waits-with-one-input"),
         method="Sources, maps, flat maps, filters and sinks follow each other, and blocked channels are looked for.",
         passes="There is none."),
    case("barriers/rebalance-waits",
         "Does a stateless task behind an exchange align, though each of its records stands alone?",
         plan(slow(LATE_CHANNELS[0], 15), job=REBALANCE), decides("BAR-08", "CUT/processed-while-blocked", wrong="A3"),
         method="Maps take whole batches in turn from every source; one channel is late.",
         passes="Nothing behind a barrier is processed before the barrier is there on every input."),
    case("barriers/newer-barrier", "Does a newer barrier end an older alignment, and unblock what that had blocked?",
         plan(*LATE_SOURCE, forge("trigger", "source[1]", {"checkpoint": 2}, after_checkpoint=1), options=PATIENT),
         decides("BAR-10", "CUT/alignment-outlives", wrong="keeps-older-alignment"),
         method="A source gets the trigger of a later checkpoint too early. Its barrier comes on a late channel while "
                "an older checkpoint is being aligned.",
         passes="Every channel of the older alignment is unblocked before anything else happens."),
    case("barriers/cancellation-marker",
         "Does the marker of a source that gave up a checkpoint end its alignment below?",
         plan(*LATE_SOURCE, forge("abort", "source[1]", {"checkpoint": 1}, after_checkpoint=1), options=PATIENT),
         decides("BAR-10", "CUT/alignment-outlives", wrong="ignores-markers"),
         method="A source gets the notice of an abort before the trigger of its checkpoint; the others send barriers.",
         passes="Whatever was blocked for it is unblocked when the marker comes."),
    case("barriers/stale-marker",
         "Is the marker of a checkpoint that is over ignored while the next one is being aligned?",
         plan(*LATE_SOURCE, forge("abort", "source[1]", {"checkpoint": 1}, after_checkpoint=1), DECLINED_AT_ONCE,
              options=PATIENT, records=DENSE),
         decides("BAR-10", "CUT/processed-while-blocked", wrong="obeys-stale-markers"),
         method="A source responds with markers on late channels. Its checkpoint is declined at once, and the barriers "
                "of the next one come on the others before.",
         passes="Nothing behind a barrier is processed before the barrier is there on every input."),
    case("barriers/stale-barrier", "Is the barrier of a checkpoint that is over ignored?",
         plan(*LATE_SOURCE, DECLINED_AT_ONCE, options=PATIENT),
         decides("BAR-10", "CUT/stale-acted", wrong="acts-on-stale-barriers"),
         method="A checkpoint is declined as soon as it is triggered; its barriers come on late channels afterwards.",
         passes="Nothing is blocked and no snapshot is taken for it any more."),
    case("barriers/no-deadlock",
         "Does a job whose paths meet again continue with one buffer at each end, also if a checkpoint aborts?",
         tuple(_tight(job, options) for job in (DIAMOND, UNION, JOIN, SELF_JOIN) for options in ({}, UNALIGNED)),
         decides("BAR-11", "LIVE/end-not-reached", "LIVE/no-new-checkpoints", "LIVE/input-not-drained",
                 wrong="stays-blocked"),
         mutant_plan=plan(slow(LATE_CHANNELS[0], 60, 1_000),
                          forge("decline", "sink[1]", after_checkpoint=1, at_event="checkpoint_triggered"),
                          options={**TOLERANT, **ONE_BUFFER}, records=DENSE),
         method="Diamond, union, join and self-join run with a slow task where the ways meet, aligned and unaligned; a "
                "checkpoint is declined while it is being aligned.",
         passes="Checkpoints continue to complete, all input is processed, and no channel stays blocked."),
    case("barriers/sources-go-on", "Do sources continue to emit while tasks below align?",
         plan(slow(LATE_CHANNELS[0], 30), options={**ROOMY, "source.max-batch-records": "1"},
              records={"records": 400, "preloaded_percent": 100}),
         decides("BAR-09", "CUT/source-stalled", wrong="stops-sources-while-aligning"),
         method="All input is there from the start, and one channel is late by more than a source needs for a record.",
         passes="A source emits between its barrier and the completion of the checkpoint."),
)  # fmt: skip
