"""Unaligned checkpoints (RULES UNA)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.task import slow_task
from holdfast.harness.model.jobs import BROADCAST, UNION
from holdfast.harness.model.plan import FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import network_channels, subtasks
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, EXACT_SUMS, WORKERS, case, decides, gate, plan, with_needs

UNALIGNED = {f"{plans.CHECKPOINTING}.unaligned.enabled": "true"}
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

CASES = with_needs(
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
