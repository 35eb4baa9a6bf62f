"""Barriers and alignment (RULES BAR), and unaligned checkpoints (RULES UNA)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.task import slow_task
from holdfast.harness.model.case import Window
from holdfast.harness.model.job import Job, VertexKind
from holdfast.harness.model.jobs import BROADCAST, DIAMOND, FORWARD, JOIN, REBALANCE, SELF_JOIN, STEPS, UNION
from holdfast.harness.model.plan import FaultSpec, Plan, Topology, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import network_channels, subtasks
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    AT_LEAST_ONCE,
    EVERYWHERE,
    EXACT_SUMS,
    LATE_CHANNELS,
    TOLERANT,
    WORKERS,
    case,
    decides,
    gate,
    plan,
    with_needs,
)

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


FEW_BUFFERS = {"taskmanager.network.memory.buffers-per-channel": "3"}
"""So that records wait at both ends of a channel."""
BUSY = {"records": 400, "records_per_second": 400}
FIRST_SUM = Target(Role.TASK, 2)


def backlog(*faults: FaultSpec, options: Mapping[str, str] = {}, delay_ms: int = 12) -> Plan:
    """The first sum is slow, so that its inputs, and the outputs above them, are full when a barrier comes."""
    return plan(
        slow_task(FIRST_SUM, delay_ms, 1_500), *faults, options={**UNALIGNED, **FEW_BUFFERS, **options}, records=BUSY
    )


CRASHES = (
    *(backlog(kill(worker, after_checkpoint=2, gate=gate(effect, worker)), options=plans.STATE_IN_FILES)
      for worker in WORKERS
      for effect in ("send-barrier", "write-state", "during-write-state", "acknowledge", "commit")),
    *(backlog(kill(COORDINATOR, after_checkpoint=2, gate=gate(effect, COORDINATOR)), options=plans.STATE_IN_FILES)
      for effect in ("send-trigger", "publish-metadata", "during-publish-metadata", "notify")),
    backlog(kill(WORKERS[0], after_checkpoint=2), kill(WORKERS[1], after_checkpoint=4)),
    *(backlog(kill(WORKERS[1], after_checkpoint=2), kill(WORKERS[0], after_checkpoint=2, gate=gate(effect, WORKERS[0])),
              options=plans.STATE_IN_FILES)
      for effect in ("read-state", "restored")),
)  # fmt: skip
"""Every step that concerns what is in flight, and two failures in a row: what was restored is in flight again."""
RESTORED = backlog(kill(WORKERS[0], after_checkpoint=2))
STALE_BARRIER = plan(slow(plans.LATE_CHANNELS[0], 60, 1_500),
                     forge("decline", "sink[1]", after_checkpoint=1, at_event="checkpoint_triggered"),
                     kill(WORKERS[1], after_checkpoint=2),
                     options={**UNALIGNED, **plans.TOLERANT, "taskmanager.network.memory.buffers-per-channel": "64"},
                     records=BUSY)  # fmt: skip
"""A checkpoint is declined at once, and its barrier comes on the late channel while the next one is captured there."""
TIMEOUT = f"{plans.CHECKPOINTING}.aligned-checkpoint-timeout"


def buffers(number: int) -> Mapping[str, str]:
    """So many batches at either end of a channel."""
    return {"taskmanager.network.memory.buffers-per-channel": str(number)}


_DEBLOAT = "taskmanager.network.memory.buffer-debloat"
DEBLOATED = {
    f"{_DEBLOAT}.enabled": "true",
    f"{_DEBLOAT}.target": "60 ms",
    f"{_DEBLOAT}.period": "20 ms",
    f"{_DEBLOAT}.samples": "3",
}
LONG_QUEUE = buffers(12)
"""An aligned barrier waits for half a second."""


def switching(timeout: str, *faults: FaultSpec) -> Plan:
    """A checkpoint begins aligned, and could not be so for long."""
    return backlog(*faults, options={**LONG_QUEUE, TIMEOUT: timeout})


SLOW_COPY = plan(slow_task(Target(Role.TASK, subtasks(BROADCAST, Topology()).index("sum[0]")), 20, 1_500),
                 job=BROADCAST, options={**UNALIGNED, **FEW_BUFFERS},
                 records={**BUSY, "records": 600, "partitions": 6})  # fmt: skip
"""So many partitions that keyed records queue in front of the slow sum on processes, too."""
LATE_GATE = Target(Role.CHANNEL, network_channels(UNION, Topology()).index("right[1]->union[0]"))

UNALIGNED_CASES = with_needs(
    case("unaligned/crash-sweep", "Does a job stay exactly-once when its checkpoints take along what is in flight?",
         CRASHES, decides("UNA-01", *EXACT_SUMS, wrong="restores-nothing-in-flight"),
         decides("UNA-01", *EXACT_SUMS, wrong="restores-in-flight-twice"), windows=plans.IN_FLIGHT,
         mutant_plan=RESTORED,
         method="A slow task keeps all buffers above it full; processes are killed at each step that concerns what is "
                "in flight, also while it is restored.",
         passes="The committed output equals that of the oracle's model, once."),
    case("unaligned/crash-under-load", "Does it stay exactly-once on real processes, too?",
         backlog(kill(WORKERS[0], after_checkpoint=2), kill(WORKERS[1], after_checkpoint=4)),
         decides("UNA-01", *EXACT_SUMS, wrong="restores-nothing-in-flight"), windows=plans.IN_FLIGHT, tiers=EVERYWHERE,
         mutant_plan=RESTORED,
         method="A slow task keeps all buffers above it full, and both workers are killed one after the other.",
         passes="The committed output equals that of the oracle's model, once."),
    case("unaligned/channel-state",
         "Is exactly what is in flight at the cut taken along, at the receiver and at the sender?",
         backlog(slow(plans.LATE_CHANNELS[1], 25, 1_500)),
         decides("UNA-02", "CUT/channel-state-missing", wrong="forgets-overtaken-outputs"),
         decides("UNA-02", "CUT/channel-state-extra", wrong="captures-behind-barrier"), windows=(Window.OVERTAKING,),
         tiers=EVERYWHERE,
         method="A task and a channel are slow; what each side stores of a channel is compared with what had been sent "
                "before the barrier there and not been processed at the receiver's snapshot.",
         passes="It is the same, batch by batch."),
    case("unaligned/stale-barrier",
         "Does the late barrier of an aborted checkpoint leave the capture of the next one alone?", STALE_BARRIER,
         decides("UNA-02", "CUT/channel-state-missing", wrong="B2"), windows=plans.IN_FLIGHT,
         method="A channel is late; a checkpoint is declined as soon as it is triggered, so that its barrier comes "
                "there after the snapshot of the next one.",
         passes="What is stored of that channel is what was in flight at the snapshot of the next one."),
    case("unaligned/two-gates", "Is what is in flight taken along from every input of an operator that has several?",
         plan(slow(LATE_GATE, 40, 1_500), kill(WORKERS[1], after_checkpoint=2), job=UNION,
              options={**UNALIGNED, "taskmanager.network.memory.buffers-per-channel": "64"}, records=BUSY),
         decides("UNA-02", "CUT/channel-state-missing", wrong="B3"), windows=(Window.OVERTAKING,), tiers=EVERYWHERE,
         method="Two sources flow together; the channels of the second one are late, so that their barriers come "
                "last.",
         passes="What is stored of each channel of either input is what was in flight there."),
    case("unaligned/restored-first",
         "Is what was in flight put back, and processed once before anything new of its channel?", RESTORED,
         decides("UNA-03", "CUT/restored-order", wrong="restores-in-flight-late"),
         decides("UNA-03", "CUT/restored-order", wrong="restores-in-flight-twice"),
         decides("UNA-03", "RESTORE/channel-state-differs", wrong="restores-nothing-in-flight"),
         windows=plans.IN_FLIGHT, tiers=EVERYWHERE,
         method="A worker is killed while the buffers are full; the batches of each channel are followed by their "
                "numbers of before.",
         passes="Each channel delivers first what its receiver had stored, then what its sender had, then new "
                "batches."),
    case("unaligned/alignment-timeout",
         "Does a checkpoint that began aligned overtake as soon as the alignment timeout has passed?",
         replace(switching("30 ms"), run_seed=2), decides("UNA-04", "CUT/aligned-too-long", wrong="never-switches"),
         decides("UNA-04", "CUT/barrier-waits", wrong="switches-inputs-only"),
         decides("UNA-04", "CUT/channel-state-missing", wrong="forgets-on-switch"), windows=(Window.OVERTAKING,),
         tiers=EVERYWHERE,
         method="A slow task keeps the buffers above it full, at the sender and at the receiver, so that an aligned "
                "barrier would be on its way for half a second; the timeout is 30 ms.",
         passes="Every snapshot behind it is unaligned, no barrier waits for records any more, and what is in flight "
                "is taken along."),
    case("unaligned/around-the-threshold",
         "Does a checkpoint stay aligned until then, and overtake from the start without a timeout?",
         [switching(timeout) for timeout in ("0 ms", "1 ms", "10 ms", "60 ms", "5 s")],
         decides("UNA-04", "CUT/overtook-early", wrong="switches-at-once"),
         decides("UNA-04", "CUT/begins-aligned", wrong="starts-aligned"), windows=(Window.OVERTAKING,),
         method="The same with timeouts from nothing up to more than any alignment takes, on one virtual clock.",
         passes="No barrier overtakes before the timeout, and every snapshot is unaligned where there is none."),
    case("unaligned/switch-and-crash", "Does a job stay exactly-once when its checkpoints switch?",
         switching("20 ms", kill(WORKERS[0], after_checkpoint=2), kill(WORKERS[1], after_checkpoint=4)),
         decides("UNA-04", *EXACT_SUMS, wrong="forgets-on-switch"), windows=plans.IN_FLIGHT, tiers=EVERYWHERE,
         method="Checkpoints switch under load, and both workers are killed one after the other.",
         passes="The committed output equals that of the oracle's model, once."),
    case("unaligned/left-out-on-request",
         "Can what was in flight at one named checkpoint be left out, and is nothing else lost then?",
         backlog(kill(WORKERS[0], after_checkpoint=2),
                 options={f"{plans.CHECKPOINTING}.recover-without-channel-state.checkpoint-id": "2"}),
         decides("UNA-09", "CUT/skipped-differs", wrong="skips-nothing"),
         windows=(Window.OVERTAKING, Window.RESTORED_STATE), tiers=EVERYWHERE,
         method="The second checkpoint is restored without its in-flight records; later state is compared with the "
                "input less exactly these.",
         passes="State and what was left out add up to the input before the source positions, record by record."),
    case("unaligned/pointwise-edges", "Do forward edges stay aligned in a checkpoint that is not?",
         plan(slow_task(Target(Role.TASK, 4), 12, 1_500), options={**UNALIGNED, **FEW_BUFFERS}, records=BUSY),
         decides("UNA-06", "CUT/overtaken-pointwise", wrong="overtakes-everywhere"), windows=(Window.OVERTAKING,),
         tiers=EVERYWHERE,
         method="The sink below the slow sum has a forward edge; barriers and what is stored of it are looked at.",
         passes="No barrier overtakes on it, and nothing of it is stored."),
    case("unaligned/broadcast", "Is broadcast state the same on all subtasks in a checkpoint that is not aligned?",
         SLOW_COPY, decides("UNA-06", "CUT/overtaken-pointwise", wrong="overtakes-everywhere"),
         decides("UNA-06", "CUT/copies-differ", wrong="awaits-nothing"), windows=(Window.OVERTAKING,), tiers=EVERYWHERE,
         method="One of the sums that take keyed and broadcast records is slow, so that its copy is behind the "
                "others.",
         passes="No barrier overtakes on broadcast channels, nothing of them is stored, and the copies are equal."),
    case("unaligned/buffer-debloating",
         "Do buffers that follow the throughput keep what is in flight to about the target time?",
         plan(slow_task(FIRST_SUM, 12, 1_500), options={**LONG_QUEUE, **DEBLOATED}, records=BUSY),
         decides("UNA-08", "QUEUE/queued-too-long", wrong="never-debloats"),
         decides("UNA-08", "QUEUE/buffers-outside", wrong="gives-no-buffer"),
         decides("UNA-08", *EXACT_SUMS, wrong="loses-when-resized"), tiers=EVERYWHERE,
         method="A slow task behind buffers for half a second, with a target of 60 ms.",
         passes="Behind some periods no batch waits for much longer than that, and the output is the right one."),
    case("unaligned/restore-time",
         "Is it reported how long it takes to restore what was in flight, however much that is?",
         [backlog(kill(WORKERS[0], after_checkpoint=2), options=buffers(number)) for number in (3, 12, 40)],
         decides("UNA-08", "METRICS/restore-duration-wrong", wrong="reports-restores-of-no-time"),
         windows=plans.IN_FLIGHT, tiers=EVERYWHERE,
         method="A worker is killed while few, more and many batches are in flight.",
         passes="Each restore is reported with the time from the start of its attempt until the job runs."),
    case("unaligned/whatever-the-backlog",
         "Does a checkpoint take no longer however much is queued, and is what it takes along part of its size?",
         [backlog(options=buffers(number)) for number in (3, 12, 40)],
         decides("UNA-08", "CUT/barrier-waits", wrong="starts-aligned"),
         decides("UNA-08", "METRICS/size-wrong", wrong="forgets-channel-state"), windows=(Window.OVERTAKING,),
         tiers=EVERYWHERE,
         method="The same slow task behind buffers for few, more and many batches.",
         passes="No barrier waits for the records in front of it, and each reported size is that of state and "
                "records."),
)  # fmt: skip
