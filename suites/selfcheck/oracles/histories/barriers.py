"""Histories for CUT: barriers, what they hold up, and checkpoints that may overtake from some moment on."""

from __future__ import annotations

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    CancellationReceived, CancellationSent, ChannelBlocked, ChannelUnblocked, FaultHealed, FaultInjected,
    SubtaskFinished,
)  # fmt: skip
from holdfast.harness.model.jobs import BROADCAST, FORWARD, JOIN
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits, injected
from holdfast.suites.selfcheck.oracles.histories.cut import ACROSS, BELOW, COUNTING, LEFT, LONE, RIGHT
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier, attempt, delivers, died, drawn, emitted, heard, sends, snapshot, stopped, task, triggered,
)  # fmt: skip

# --- CUT: checkpoints that may overtake from some moment on. Every event takes one millisecond ------------------------


CHANNEL = "source[0]->sum[0]"
UNALIGNED = {**OPTIONS, "execution.checkpointing.unaligned.enabled": "true"}
PATIENT = {**UNALIGNED, "execution.checkpointing.alignment-timeout": "100 ms"}
WAITED_MS = 200.0
"""Longer than the timeout, however far two clocks are apart."""

bad, near = exhibits("CUT", attempt(), options=PATIENT)

bad("aligned-too-long", "aligned behind the timeout", triggered(), WAITED_MS, snapshot("sum[0]"))

bad("begins-aligned", "aligned without a timeout", triggered(), snapshot("sum[0]"), options=UNALIGNED)
bad("begins-aligned", "aligned though either input may be overtaken",
    triggered(), snapshot("join[0]"), options=UNALIGNED, job=JOIN)  # fmt: skip

# A source has no such input.
near("begins-aligned", "aligned as one input is broadcast",
     triggered(), snapshot("source[0]", unaligned=True), snapshot("sum[0]"), options=UNALIGNED,
     job=BROADCAST)  # fmt: skip
near("begins-aligned", "unaligned without a timeout",
     triggered(), snapshot("sum[0]", unaligned=True), options=UNALIGNED)  # fmt: skip

near("aligned-too-long", "aligned behind the timeout as one input is broadcast",
     triggered(), WAITED_MS, snapshot("source[0]", unaligned=True), snapshot("sum[0]"), job=BROADCAST)  # fmt: skip

# The trigger is on its way for longer than the timeout.
near("aligned-too-long", "a source has nothing to align",
     triggered(), WAITED_MS, snapshot("source[0]"), snapshot("sum[0]", unaligned=True))  # fmt: skip
near("aligned-too-long", "unaligned behind the timeout", triggered(), WAITED_MS, snapshot("sum[0]", unaligned=True))

bad("overtook-early", "unaligned before the timeout", triggered(), snapshot("sum[0]", unaligned=True))
bad("overtook-early", "overtaken before the timeout",
    triggered(), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, Barrier(1, overtaking=True)))  # fmt: skip

# The id becomes durable some time after it was drawn; then a barrier overtakes at once.
bad("overtook-early", "overtaken soon after the id was drawn",
    drawn(1), 50.0, triggered(), sends(CHANNEL, Barrier(1)),
    delivers(CHANNEL, Barrier(1, overtaking=True)))  # fmt: skip
near("overtook-early", "the barrier carries when the id was drawn",
     drawn(1), WAITED_MS, triggered(), sends(CHANNEL, Barrier(1)),
     delivers(CHANNEL, Barrier(1, overtaking=True)))  # fmt: skip
near("overtook-early", "aligned before the timeout", triggered(), snapshot("sum[0]"))

QUEUE: list[Line] = [sends(CHANNEL, 0, 1, 2, 3, 4, 5), triggered(), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, 0, 1)]
"""A barrier is sent behind six batches; two are processed before the timeout, and then what is given."""

bad("barrier-waits", "barrier waits for its queue",
    *QUEUE, WAITED_MS, delivers(CHANNEL, 2, 3, 4, 5), delivers(CHANNEL, Barrier(1)))  # fmt: skip
near("barrier-waits", "barrier overtakes its queue",
     *QUEUE, WAITED_MS, delivers(CHANNEL, 2), delivers(CHANNEL, Barrier(1, overtaking=True)))  # fmt: skip
near("barrier-waits", "queue is processed in time",
     *QUEUE, delivers(CHANNEL, 2, 3, 4, 5), WAITED_MS, delivers(CHANNEL, Barrier(1)))  # fmt: skip

ABORTED: list[Line] = [
    sends(CHANNEL, 0, 1, 2, 3, 4, 5), triggered(), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, 0, 1),
]  # fmt: skip
"""One side hears of an aborted checkpoint; then the queue in front of the barrier is worked off."""

END_OF_ABORTED: list[Line] = [WAITED_MS, delivers(CHANNEL, 2, 3, 4, 5), delivers(CHANNEL, Barrier(1))]
"""One side hears of an aborted checkpoint; then the queue in front of the barrier is worked off."""

bad("barrier-waits", "barrier waits though another checkpoint was aborted",
    *ABORTED, heard(CHANNEL.split("->")[1], 2, completed=False), *END_OF_ABORTED)  # fmt: skip
near("barrier-waits", "barrier of an aborted checkpoint keeps its place",
     *ABORTED, heard(CHANNEL.split("->")[1], completed=False), *END_OF_ABORTED)  # fmt: skip
near("barrier-waits", "whoever sent the barrier hears that it was given up",
     *ABORTED, heard(CHANNEL.split("->")[0], completed=False), *END_OF_ABORTED)  # fmt: skip
bad("barrier-waits", "whoever sent the barrier hears of another",
    *ABORTED, heard(CHANNEL.split("->")[0], 2, completed=False), *END_OF_ABORTED)  # fmt: skip

BEHIND_A_LATE_CHANNEL: list[Line] = [
    sends(CHANNEL, 0, 1, 2, 3, 4, 5), triggered(), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, 0, 1), WAITED_MS,
]  # fmt: skip

near("aligned-too-long", "late channel brings its queue first",
     *BEHIND_A_LATE_CHANNEL, injected("slow", "channel[0]"), delivers(CHANNEL, 2, 3, 4, 5),
     delivers(CHANNEL, Barrier(1)), snapshot("sum[0]", unaligned=True),
     faults=(FaultSpec("slow", Target(Role.CHANNEL, 0), parameters={"delay_ms": 300}),))  # fmt: skip

bad("barrier-waits", "its channel was to be late and never was",
    *BEHIND_A_LATE_CHANNEL, delivers(CHANNEL, 2, 3, 4, 5), delivers(CHANNEL, Barrier(1)),
    snapshot("sum[0]", unaligned=True),
    faults=(FaultSpec("slow", Target(Role.CHANNEL, 0), parameters={"delay_ms": 300}),))  # fmt: skip

# --- CUT: barriers, what they hold up and what ends that --------------------------------------------------------------

FAILED = stopped("sum[0]", reason="a record makes it fail")

bad, near = exhibits("CUT")

bad("barrier-once", "barrier forgotten", snapshot("sum[0]"), sends(BELOW, 0))
bad("barrier-once", "barrier forgotten on one channel", snapshot("source[0]"), sends(LEFT, Barrier(1), 0))
bad("barrier-once", "barrier sent twice", sends(BELOW, Barrier(1)), snapshot("sum[0]"), sends(BELOW, Barrier(1)))
near("barrier-once", "died between two barriers",
     snapshot("source[0]"), sends(LEFT, Barrier(1)), died("worker-0", "killed"))  # fmt: skip

bad("emission-after-snapshot", "emits between snapshot and barrier", snapshot("sum[0]"), sends(BELOW, 0, Barrier(1)))
bad("emission-after-snapshot", "emits between barrier and snapshot", sends(BELOW, Barrier(1), 0), snapshot("sum[0]"))
near("emission-after-snapshot", "emits around barrier and snapshot",
     sends(BELOW, 0, Barrier(1)), snapshot("sum[0]"), sends(BELOW, 1))  # fmt: skip
near("emission-after-snapshot", "emits on a channel that has its barrier",
     snapshot("source[0]"), sends(LEFT, Barrier(1), 0), sends(ACROSS, Barrier(1)))  # fmt: skip

bad("processed-while-blocked", "processed behind barrier",
    sends(LEFT, Barrier(1), 0), sends(RIGHT, Barrier(1)), delivers(LEFT, Barrier(1), 0),
    delivers(RIGHT, Barrier(1)))  # fmt: skip
LEFT_BLOCKED = ChannelBlocked(channel=LEFT, checkpoint=1)

bad("processed-while-blocked", "unblocked without reason",
    sends(LEFT, Barrier(1), 0), sends(RIGHT, 0), delivers(LEFT, Barrier(1)), LEFT_BLOCKED, delivers(RIGHT, 0),
    ChannelUnblocked(channel=LEFT, checkpoint=1), delivers(LEFT, 0))  # fmt: skip
near("processed-while-blocked", "alignment given up",
     sends(LEFT, Barrier(1), 0), sends(RIGHT, 0), delivers(LEFT, Barrier(1)), delivers(RIGHT, 0),
     heard("sum[0]", completed=False), delivers(LEFT, 0))  # fmt: skip
near("processed-while-blocked", "newer barrier ends alignment",
     sends(LEFT, Barrier(1), 0), sends(RIGHT, 0, Barrier(2)), delivers(LEFT, Barrier(1)),
     delivers(RIGHT, 0, Barrier(2)), delivers(LEFT, 0))  # fmt: skip
near("processed-while-blocked", "late barrier of aborted checkpoint",
     sends(LEFT, Barrier(1), 0, Barrier(2)), sends(RIGHT, 0, Barrier(2)), heard("sum[0]", completed=False),
     delivers(LEFT, Barrier(1), 0, Barrier(2)), delivers(RIGHT, 0, Barrier(2)))  # fmt: skip

GIVEN_UP: list[Line] = [
    sends(LEFT, Barrier(1), 0), sends(RIGHT, 0), CancellationSent(channel=RIGHT, checkpoint=1),
    delivers(LEFT, Barrier(1)), LEFT_BLOCKED, CancellationReceived(channel=RIGHT, checkpoint=1),
]  # fmt: skip
"""One input is blocked for checkpoint 1, and the other brings the marker of it; then comes what is given."""

bad("alignment-outlives", "marker ends nothing", *GIVEN_UP, delivers(RIGHT, 0))
bad("alignment-outlives", "newer barrier ends nothing",
    sends(LEFT, Barrier(1)), sends(RIGHT, Barrier(2), 0), delivers(LEFT, Barrier(1)), LEFT_BLOCKED,
    delivers(RIGHT, Barrier(2)), heard("sum[0]", 2, completed=False))  # fmt: skip
near("alignment-outlives", "marker ends the alignment",
     *GIVEN_UP, ChannelUnblocked(channel=LEFT, checkpoint=1), delivers(RIGHT, 0), delivers(LEFT, 0))  # fmt: skip

bad("acts-after-stop", "goes on after its failure", sends(LEFT, 0, 1), delivers(LEFT, 0), FAILED, delivers(LEFT, 1))
bad("acts-after-stop", "hears of a checkpoint when it has finished",
    sends(LEFT, 0), delivers(LEFT, 0), SubtaskFinished(subtask="sum[0]"), heard("sum[0]"))  # fmt: skip
near("acts-after-stop", "finishes with what it hears",
     sends(LEFT, 0), sends(BELOW, 0), delivers(LEFT, 0), heard("sum[0]"), SubtaskFinished(subtask="sum[0]"),
     delivers(BELOW, 0))  # fmt: skip
near("acts-after-stop", "another goes on",
     sends(LEFT, 0), sends(BELOW, 0), delivers(LEFT, 0), FAILED, delivers(BELOW, 0))  # fmt: skip

bad("stale-acted", "blocks for a checkpoint that was given up",
    sends(LEFT, Barrier(1)), heard("sum[0]", completed=False), delivers(LEFT, Barrier(1)), LEFT_BLOCKED)  # fmt: skip
bad("stale-acted", "takes a snapshot that was given up",
    sends(BELOW, Barrier(1)), heard("sum[0]", completed=False), snapshot("sum[0]"))  # fmt: skip
near("stale-acted", "ignores a late barrier",
     sends(LEFT, Barrier(1), 0), heard("sum[0]", completed=False), delivers(LEFT, Barrier(1), 0))  # fmt: skip

bad("blocked-in-at-least-once", "blocks while counting",
    delivers(LEFT, Barrier(1)), LEFT_BLOCKED, delivers(RIGHT, Barrier(1)), options=COUNTING)  # fmt: skip
near("blocked-in-at-least-once", "counts barriers",
     sends(LEFT, Barrier(1), 0), sends(RIGHT, Barrier(1)), delivers(LEFT, Barrier(1), 0), delivers(RIGHT, Barrier(1)),
     options=COUNTING)  # fmt: skip

bad("waited-with-one-input", "blocks its only input",
    delivers(LONE, Barrier(1)), ChannelBlocked(channel=LONE, checkpoint=1), job=FORWARD)  # fmt: skip
near("waited-with-one-input", "passes a barrier at once",
     sends(LONE, Barrier(1), 0), delivers(LONE, Barrier(1), 0), job=FORWARD)  # fmt: skip

ALIGNMENT: dict[tuple[int, int], list[Line]] = {
    (n, first): [emitted(first, first + 1), 5, emitted(first + 1, first + 2), sends(LEFT, Barrier(n)),
                 sends(ACROSS, Barrier(n)), snapshot("source[0]", n, (0, first + 2)), delivers(LEFT, Barrier(n)), 10]
    for n, first in ((1, 0), (2, 2), (3, 4), (3, 5))
}  # fmt: skip
"""By checkpoint and the next offset of its source: the first 10 ms of an alignment."""
ALIGNED: dict[int, list[Line]] = {n: [10, delivers(RIGHT, Barrier(n)), heard("source[0]", n)] for n in (1, 2, 3)}
"""Its last 10 ms."""
STARTS = task("source[0]", positions=((0, 0),))
STALLS: list[Line] = [STARTS, ALIGNMENT[1, 0], ALIGNED[1], ALIGNMENT[2, 2], ALIGNED[2], ALIGNMENT[3, 4], ALIGNED[3]]

bad("source-stalled", "stalls in every alignment", *STALLS)
near("source-stalled", "emits during one alignment",
     STARTS, ALIGNMENT[1, 0], ALIGNED[1], ALIGNMENT[2, 2], emitted(4, 5), ALIGNED[2], ALIGNMENT[3, 5],
     ALIGNED[3])  # fmt: skip
bad("source-stalled", "stalls behind a task that is quick again",
    injected("slow-task", "task[2]"), 5, FaultHealed(fault=0, fault_kind="slow-task", target="task[2]"), 5,
    *STALLS)  # fmt: skip
bad("source-stalled", "stalls while only the coordinator is paused", injected("pause", "coordinator[0]"), *STALLS)

near("source-position", "waits behind a slow task", injected("slow-task", "task[2]"), *STALLS)

near("source-position", "waits behind a fault that declares to hold up records",
     FaultInjected(fault=0, fault_kind="knead", target="task[2]", may_cause=(Consequence.HOLDS_UP_RECORDS,)),
     *STALLS)  # fmt: skip

bad("source-stalled", "stalls behind a fault that declares failures alone",
    FaultInjected(fault=0, fault_kind="knead", target="task[2]",
                  may_cause=(Consequence.FAILS_TASK, Consequence.FAILS_STORAGE)),
    *STALLS)  # fmt: skip
