"""Histories for CHAIN, REGION and QUEUE: operators of one task, regions that fail together, and batches that wait."""

from __future__ import annotations

from holdfast.harness.model.events import BarrierReceived, BuffersResized, SubtaskFinished, TaskStarted
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits, injected, undecided
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier, attempt, completed, delivers, died, failure, of_each, published, sends, snapshot, stopped,
)  # fmt: skip

# --- CHAIN: the keyed sum, whose sum and sink are one chain unless it is told otherwise -------------------------------


CHAINED = {"pipeline.operator-chaining.enabled": "true"}
INPUTS = ("source[0]->sum[0]", "source[1]->sum[0]")
INSIDE = "sum[0]->sink[0]"

bad, near = exhibits("CHAIN")

BARRIERS = of_each(BarrierReceived, *INPUTS, checkpoint=1)

near("crossed", "barrier called down",
     delivers(INPUTS[0], 0), BARRIERS, snapshot("sink[0]"), snapshot("sum[0]"), options=CHAINED)  # fmt: skip
bad("crossed", "barrier sent down",
    BARRIERS, sends(INSIDE, Barrier(1)), snapshot("sum[0]"), snapshot("sink[0]"), options=CHAINED)  # fmt: skip
bad("crossed", "batch sent down", BARRIERS, snapshot("sink[0]"), snapshot("sum[0]"), sends(INSIDE, 0), options=CHAINED)

near("without-barrier", "each its own barrier",
     BARRIERS, snapshot("sum[0]"), sends(INSIDE, Barrier(1)), delivers(INSIDE, Barrier(1)),
     snapshot("sink[0]"))  # fmt: skip
bad("without-barrier", "called although unchained", BARRIERS, snapshot("sink[0]"), snapshot("sum[0]"))
bad("without-barrier", "head without barrier", BARRIERS, snapshot("sink[0]", 2), snapshot("sum[0]", 2), options=CHAINED)

near("snapshot-apart", "a batch after all snapshots",
     BARRIERS, snapshot("sink[0]"), snapshot("sum[0]"), delivers(INPUTS[0], 0), options=CHAINED)  # fmt: skip
near("snapshot-apart", "an operator that stopped",
     stopped("sink[0]", reason="failed"), BARRIERS, snapshot("sum[0]"), delivers(INPUTS[0], 0),
     [delivers(f"source[{i}]->sum[1]", Barrier(1)) for i in (0, 1)], snapshot("sink[1]"), snapshot("sum[1]"),
     options=CHAINED)  # fmt: skip
near("snapshot-apart", "an operator that has ended",
     SubtaskFinished(subtask="sum[0]"), *(snapshot("sink[0]", n) for n in (1, 2)),
     [delivers(f"source[{i}]->sum[1]", Barrier(1)) for i in (0, 1)], snapshot("sink[1]"), snapshot("sum[1]"),
     options=CHAINED)  # fmt: skip
bad("snapshot-apart", "a batch between two snapshots",
    BARRIERS, snapshot("sum[0]"), delivers(INPUTS[0], 0), snapshot("sink[0]"), options=CHAINED)  # fmt: skip
bad("snapshot-apart", "a snapshot left out",
    BARRIERS, snapshot("sum[0]"), of_each(BarrierReceived, *INPUTS, checkpoint=2), snapshot("sink[0]", 2),
    snapshot("sum[0]", 2), options=CHAINED)  # fmt: skip

near("snapshot-twice", "two checkpoints",
     *(line
       for n in (1, 2)
       for line in (of_each(BarrierReceived, *INPUTS, checkpoint=n), [snapshot("sink[0]", n), snapshot("sum[0]", n)])),
     options=CHAINED)  # fmt: skip
bad("snapshot-twice", "the same checkpoint again",
    BARRIERS, snapshot("sink[0]"), snapshot("sum[0]"), snapshot("sink[0]"), snapshot("sum[0]"),
    options=CHAINED)  # fmt: skip

# Whoever sees tasks alone sees one snapshot for each, and counts no states.
undecided("CHAIN", "seen as tasks",
          of_each(BarrierReceived, *INPUTS, checkpoint=1), snapshot("sum[0]"),
          of_each(BarrierReceived, *INPUTS, checkpoint=2), snapshot("sum[0]", 2), published(1, path="chk-1"),
          completed(), options=CHAINED)  # fmt: skip

bad("operator-missing", "heads alone take snapshots",
    BARRIERS, snapshot("sum[0]"), published(1, states=4, path="chk-1"), completed(), options=CHAINED)  # fmt: skip
bad("operator-missing", "none stored beside all",
    published(1, states=6, path="chk-1"), completed(), published(2, path="chk-2"), completed(2),
    options=CHAINED)  # fmt: skip
near("operator-missing", "every operator stored", published(1, states=6, path="chk-1"), completed(), options=CHAINED)
bad("operator-missing", "only heads stored", published(1, states=4, path="chk-1"), completed(), options=CHAINED)

# --- REGION: two chains, each on a worker of its own ------------------------------------------------------------------

FAILOVER = "jobmanager.execution.failover-strategy"
CHAINS = tuple(tuple(f"{vertex}[{index}]" for vertex in ("source", "map", "sink")) for index in (0, 1))
DIES: list[Line] = [died("worker-0", "killed"), failure("worker 0 was lost")]
"""Worker 0, which hosts the first chain."""

bad, near = exhibits(
    "REGION", attempt(), of_each(TaskStarted, *CHAINS[0], *CHAINS[1]), job=FORWARD,
    options={FAILOVER: "region", "execution.checkpointing.interval": "100 ms"},
)  # fmt: skip

FIRST_FAILS = failure("it fails", CHAINS[0][0], *CHAINS[0])

bad("unaffected-restarted", "the other chain restarts", FIRST_FAILS, attempt(None, *CHAINS[1]))
bad("unaffected-restarted", "both chains restart with one source", FIRST_FAILS, attempt())
bad("unaffected-restarted", "both chains restart with one worker", *DIES, attempt())
bad("unaffected-restarted", "the other chain restarts later",
    FIRST_FAILS, attempt(None, *CHAINS[0]), FIRST_FAILS, attempt())  # fmt: skip
near("unaffected-restarted", "the failed chain restarts", FIRST_FAILS, attempt(None, *CHAINS[0]))
near("unaffected-restarted", "the chain of the dead worker restarts", *DIES, attempt(None, *CHAINS[0]))

SECOND_FAILS = failure("it fails", CHAINS[1][0], *CHAINS[1])

near("unaffected-restarted", "both chains fail one after the other",
     FIRST_FAILS, SECOND_FAILS, attempt(None, *CHAINS[1]), attempt(None, *CHAINS[0]))  # fmt: skip
near("unaffected-restarted", "a worker is given up that lives",
     failure("no heartbeat", "", *CHAINS[1]), attempt(None, *CHAINS[1]))  # fmt: skip
near("unaffected-restarted", "a checkpoint too many fails the whole job",
     died("worker-0", "killed"), failure("more failed checkpoints than tolerable", failed_checkpoint=3),
     attempt())  # fmt: skip
near("unaffected-restarted", "a new coordinator knows of nothing that runs",
     died("coordinator", "killed"), attempt(), SECOND_FAILS, attempt(None, *CHAINS[1]))  # fmt: skip

bad("region-torn", "a chain restarts without its sink", FIRST_FAILS, attempt(None, *CHAINS[0][:2]))
near("region-torn", "a chain restarts whole", SECOND_FAILS, attempt(None, *CHAINS[1]))

# --- QUEUE: one channel, whose batches wait for so long. Every event takes one millisecond ----------------------------

CHANNEL = "source[0]->sum[0]"
_DEBLOAT = "taskmanager.network.memory.buffer-debloat"
BUFFERS = 100
DEBLOATED = {
    **OPTIONS,
    f"{_DEBLOAT}.enabled": "true",
    f"{_DEBLOAT}.target": "100 ms",
    f"{_DEBLOAT}.period": "1 ms",
    f"{_DEBLOAT}.samples": "1",
    "taskmanager.network.memory.buffers-per-channel": str(BUFFERS),
}

QUEUES: dict[int, list[Line]] = {
    length: [50.0, [sends(CHANNEL, position) for position in range(length)],
             [[sends(CHANNEL, position), delivers(CHANNEL, position - length)]
              for position in range(length, 100 + 4 * length)]]
    for length in (25, 300)
}  # fmt: skip
"""A batch is sent and one is processed every other millisecond, with so many always in between."""

bad, near = exhibits("QUEUE", attempt(), options=DEBLOATED)

bad("queued-too-long", "six times the target", QUEUES[300])
bad("queued-too-long", "six times the target at a receiver that is slow", injected("slow-task", "task[2]"), QUEUES[300])

# Neither: the link makes them wait.
undecided("QUEUE", "six times the target on a slow link",
          attempt(), injected("slow", "channel[0]"), QUEUES[300], options=DEBLOATED)  # fmt: skip

near("queued-too-long", "half the target", QUEUES[25])

# What was sent before sizes were known is still in front.
near("queued-too-long", "half the target behind a backlog",
     *[sends(CHANNEL, position) for position in range(-400, 0)],
     *[delivers(CHANNEL, position) for position in range(-400, 0)], QUEUES[25])  # fmt: skip

bad("buffers-outside", "no buffer", BuffersResized(subtask="sum[0]", buffers=0), QUEUES[25])
bad("buffers-outside", "more than there are", BuffersResized(subtask="sum[0]", buffers=BUFFERS + 1), QUEUES[25])
near("buffers-outside", "one buffer", BuffersResized(subtask="sum[0]", buffers=1), QUEUES[25])
