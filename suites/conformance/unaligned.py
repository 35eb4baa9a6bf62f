"""Unaligned checkpoints (RULES UNA)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.task import slow_task
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import BROADCAST, UNION
from holdfast.harness.model.plan import FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import network_channels, subtasks
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans

UNALIGNED = {f"{plans.CHECKPOINTING}.unaligned.enabled": "true"}
FEW_BUFFERS = {"taskmanager.network.memory.buffers-per-channel": "3"}
"""So that records wait at both ends of a channel."""
BUSY = {"records": 400, "records_per_second": 400}
FIRST_SUM = Target(Role.TASK, 2)
EXACTLY_ONCE = ("row-wrong", "counts-stepped-back", "input-missing")


def backlog(*faults: FaultSpec, options: Mapping[str, str] = {}, delay_ms: int = 12) -> Plan:
    """The first sum is slow, so that its inputs, and the outputs above them, are full when a barrier comes."""
    return plans.plan(
        slow_task(FIRST_SUM, delay_ms, 1_500), *faults, options={**UNALIGNED, **FEW_BUFFERS, **options}, records=BUSY
    )


CRASHES = (
    *(
        backlog(kill(worker, after_checkpoint=2, gate=plans.gate(effect, worker)), options=plans.STATE_IN_FILES)
        for worker in plans.WORKERS
        for effect in ("send-barrier", "write-state", "during-write-state", "acknowledge", "commit")
    ),
    *(
        backlog(
            kill(COORDINATOR, after_checkpoint=2, gate=plans.gate(effect, COORDINATOR)), options=plans.STATE_IN_FILES
        )
        for effect in ("send-trigger", "publish-metadata", "during-publish-metadata", "notify")
    ),
    backlog(kill(plans.WORKERS[0], after_checkpoint=2), kill(plans.WORKERS[1], after_checkpoint=4)),
    *(
        backlog(
            kill(plans.WORKERS[1], after_checkpoint=2),
            kill(plans.WORKERS[0], after_checkpoint=2, gate=plans.gate(effect, plans.WORKERS[0])),
            options=plans.STATE_IN_FILES,
        )
        for effect in ("read-state", "restored")
    ),
)
"""Every step that concerns what is in flight, and two failures in a row: what was restored is in flight again."""
RESTORED = backlog(kill(plans.WORKERS[0], after_checkpoint=2))
STALE_BARRIER = plans.plan(
    slow(plans.LATE_CHANNELS[0], 60, 1_500),
    forge("decline", "sink[1]", after_checkpoint=1, at_event="checkpoint_triggered"),
    kill(plans.WORKERS[1], after_checkpoint=2),
    options={**UNALIGNED, **plans.TOLERANT, "taskmanager.network.memory.buffers-per-channel": "64"},
    records=BUSY,
)
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


SWITCHED_CRASH = switching(
    "20 ms", kill(plans.WORKERS[0], after_checkpoint=2), kill(plans.WORKERS[1], after_checkpoint=4)
)
SLOW_COPY = plans.plan(
    slow_task(Target(Role.TASK, subtasks(BROADCAST, Topology()).index("sum[0]")), 20, 1_500),
    job=BROADCAST,
    options={**UNALIGNED, **FEW_BUFFERS},
    records={**BUSY, "records": 600, "partitions": 6},
)
"""So many partitions that keyed records queue in front of the slow sum on processes, too."""
LATE_GATE = Target(Role.CHANNEL, network_channels(UNION, Topology()).index("right[1]->union[0]"))
TWO_GATES = plans.plan(
    slow(LATE_GATE, 40, 1_500),
    kill(plans.WORKERS[1], after_checkpoint=2),
    job=UNION,
    options={**UNALIGNED, "taskmanager.network.memory.buffers-per-channel": "64"},
    records=BUSY,
)

CASES = plans.with_needs(
    Case(
        id="unaligned/crash-sweep",
        purpose="Does a job stay exactly-once when its checkpoints take along what is in flight?",
        method="A slow task keeps all buffers above it full; processes are killed at each step that concerns what is "
        "in flight, also while it is restored.",
        passes="The committed output equals that of the oracle's model, once.",
        decides=(
            Decision("UNA-01", "EXACT", EXACTLY_ONCE, "restores-nothing-in-flight"),
            Decision("UNA-01", "EXACT", EXACTLY_ONCE, "restores-in-flight-twice"),
        ),
        windows=plans.IN_FLIGHT,
        plan=CRASHES,
        mutant_plan=RESTORED,
    ),
    Case(
        id="unaligned/crash-under-load",
        purpose="Does it stay exactly-once on real processes, too?",
        method="A slow task keeps all buffers above it full, and both workers are killed one after the other.",
        passes="The committed output equals that of the oracle's model, once.",
        decides=(Decision("UNA-01", "EXACT", EXACTLY_ONCE, "restores-nothing-in-flight"),),
        windows=plans.IN_FLIGHT,
        plan=backlog(kill(plans.WORKERS[0], after_checkpoint=2), kill(plans.WORKERS[1], after_checkpoint=4)),
        tiers=plans.EVERYWHERE,
        mutant_plan=RESTORED,
    ),
    Case(
        id="unaligned/channel-state",
        purpose="Is exactly what is in flight at the cut taken along, at the receiver and at the sender?",
        method="A task and a channel are slow; what each side stores of a channel is compared with what had been sent "
        "before the barrier there and not been processed at the receiver's snapshot.",
        passes="It is the same, batch by batch.",
        decides=(
            Decision("UNA-02", "CUT", ("channel-state-missing",), "forgets-overtaken-outputs"),
            Decision("UNA-02", "CUT", ("channel-state-extra",), "captures-behind-barrier"),
        ),
        windows=(Window.OVERTAKING,),
        plan=backlog(slow(plans.LATE_CHANNELS[1], 25, 1_500)),
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/stale-barrier",
        purpose="Does the late barrier of an aborted checkpoint leave the capture of the next one alone?",
        method="A channel is late; a checkpoint is declined as soon as it is triggered, so that its barrier comes "
        "there after the snapshot of the next one.",
        passes="What is stored of that channel is what was in flight at the snapshot of the next one.",
        decides=(Decision("UNA-02", "CUT", ("channel-state-missing",), "B2"),),
        windows=plans.IN_FLIGHT,
        plan=STALE_BARRIER,
    ),
    Case(
        id="unaligned/two-gates",
        purpose="Is what is in flight taken along from every input of an operator that has several?",
        method="Two sources flow together; the channels of the second one are late, so that their barriers come last.",
        passes="What is stored of each channel of either input is what was in flight there.",
        decides=(Decision("UNA-02", "CUT", ("channel-state-missing",), "B3"),),
        windows=(Window.OVERTAKING,),
        plan=TWO_GATES,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/restored-first",
        purpose="Is what was in flight put back, and processed once before anything new of its channel?",
        method="A worker is killed while the buffers are full; the batches of each channel are followed by their "
        "numbers of before.",
        passes="Each channel delivers first what its receiver had stored, then what its sender had, then new batches.",
        decides=(
            Decision("UNA-03", "CUT", ("restored-order",), "restores-in-flight-late"),
            Decision("UNA-03", "CUT", ("restored-order",), "restores-in-flight-twice"),
            Decision("UNA-03", "RESTORE", ("channel-state-differs",), "restores-nothing-in-flight"),
        ),
        windows=plans.IN_FLIGHT,
        plan=RESTORED,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/alignment-timeout",
        purpose="Does a checkpoint that began aligned overtake as soon as the alignment timeout has passed?",
        method="A slow task keeps the buffers above it full, at the sender and at the receiver, so that an aligned "
        "barrier would be on its way for half a second; the timeout is 30 ms.",
        passes="Every snapshot behind it is unaligned, no barrier waits for records any more, and what is in flight is "
        "taken along.",
        decides=(
            Decision("UNA-04", "CUT", ("aligned-too-long",), "never-switches"),
            Decision("UNA-04", "CUT", ("barrier-waits",), "switches-inputs-only"),
            Decision("UNA-04", "CUT", ("channel-state-missing",), "forgets-on-switch"),
        ),
        windows=(Window.OVERTAKING,),
        plan=replace(switching("30 ms"), run_seed=2),  # in some runs the job ends before an aligned barrier is through
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/around-the-threshold",
        purpose="Does a checkpoint stay aligned until then, and overtake from the start without a timeout?",
        method="The same with timeouts from nothing up to more than any alignment takes, on one virtual clock.",
        passes="No barrier overtakes before the timeout, and every snapshot is unaligned where there is none.",
        decides=(
            Decision("UNA-04", "CUT", ("overtook-early",), "switches-at-once"),
            Decision("UNA-04", "CUT", ("begins-aligned",), "starts-aligned"),
        ),
        windows=(Window.OVERTAKING,),
        plan=[switching(timeout) for timeout in ("0 ms", "1 ms", "10 ms", "60 ms", "5 s")],
    ),
    Case(
        id="unaligned/switch-and-crash",
        purpose="Does a job stay exactly-once when its checkpoints switch?",
        method="Checkpoints switch under load, and both workers are killed one after the other.",
        passes="The committed output equals that of the oracle's model, once.",
        decides=(Decision("UNA-04", "EXACT", EXACTLY_ONCE, "forgets-on-switch"),),
        windows=plans.IN_FLIGHT,
        plan=SWITCHED_CRASH,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/left-out-on-request",
        purpose="Can what was in flight at one named checkpoint be left out, and is nothing else lost then?",
        method="The second checkpoint is restored without its in-flight records; later state is compared with the "
        "input less exactly these.",
        passes="State and what was left out add up to the input before the source positions, record by record.",
        decides=(Decision("UNA-09", "CUT", ("skipped-differs",), "skips-nothing"),),
        windows=(Window.OVERTAKING, Window.RESTORED_STATE),
        plan=backlog(
            kill(plans.WORKERS[0], after_checkpoint=2),
            options={f"{plans.CHECKPOINTING}.recover-without-channel-state.checkpoint-id": "2"},
        ),
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/pointwise-edges",
        purpose="Do forward edges stay aligned in a checkpoint that is not?",
        method="The sink below the slow sum has a forward edge; barriers and what is stored of it are looked at.",
        passes="No barrier overtakes on it, and nothing of it is stored.",
        decides=(Decision("UNA-06", "CUT", ("overtaken-pointwise",), "overtakes-everywhere"),),
        windows=(Window.OVERTAKING,),
        plan=plans.plan(slow_task(Target(Role.TASK, 4), 12, 1_500), options={**UNALIGNED, **FEW_BUFFERS}, records=BUSY),
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/broadcast",
        purpose="Is broadcast state the same on all subtasks in a checkpoint that is not aligned?",
        method="One of the sums that take keyed and broadcast records is slow, so that its copy is behind the others.",
        passes="No barrier overtakes on broadcast channels, nothing of them is stored, and the copies are equal.",
        decides=(
            Decision("UNA-06", "CUT", ("overtaken-pointwise",), "overtakes-everywhere"),
            Decision("UNA-06", "CUT", ("copies-differ",), "awaits-nothing"),
        ),
        windows=(Window.OVERTAKING,),
        plan=SLOW_COPY,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/buffer-debloating",
        purpose="Do buffers that follow the throughput keep what is in flight to about the target time?",
        method="A slow task behind buffers for half a second, with a target of 60 ms.",
        passes="Behind some periods no batch waits for much longer than that, and the output is the right one.",
        decides=(
            Decision("UNA-08", "QUEUE", ("queued-too-long",), "never-debloats"),
            Decision("UNA-08", "QUEUE", ("buffers-outside",), "gives-no-buffer"),
            Decision("UNA-08", "EXACT", EXACTLY_ONCE, "loses-when-resized"),
        ),
        plan=plans.plan(slow_task(FIRST_SUM, 12, 1_500), options={**LONG_QUEUE, **DEBLOATED}, records=BUSY),
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/restore-time",
        purpose="Is it reported how long it takes to restore what was in flight, however much that is?",
        method="A worker is killed while few, more and many batches are in flight.",
        passes="Each restore is reported with the time from the start of its attempt until the job runs.",
        decides=(Decision("UNA-08", "METRICS", ("restore-duration-wrong",), "reports-restores-of-no-time"),),
        windows=plans.IN_FLIGHT,
        plan=[backlog(kill(plans.WORKERS[0], after_checkpoint=2), options=buffers(number)) for number in (3, 12, 40)],
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="unaligned/whatever-the-backlog",
        purpose="Does a checkpoint take no longer however much is queued, and is what it takes along part of its size?",
        method="The same slow task behind buffers for few, more and many batches.",
        passes="No barrier waits for the records in front of it, and each reported size is that of state and records.",
        decides=(
            Decision("UNA-08", "CUT", ("barrier-waits",), "starts-aligned"),
            Decision("UNA-08", "METRICS", ("size-wrong",), "forgets-channel-state"),
        ),
        windows=(Window.OVERTAKING,),
        plan=[backlog(options=buffers(number)) for number in (3, 12, 40)],
        tiers=plans.EVERYWHERE,
    ),
)
