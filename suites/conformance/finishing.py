"""Tasks whose input ends (RULES FIN)."""

from __future__ import annotations

from typing import Any

from holdfast.faults.process import kill
from holdfast.faults.user import command
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.job import Edge, Job, Partitioning, Vertex, VertexKind
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, PIPELINE, REDUCED, UNION, bounded
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import CHECKPOINTING, EVERYWHERE, TOLERANT, WORKERS, plan, with_needs

CHAINED = {"pipeline.operator-chaining.enabled": "true"}
SELDOM = {f"{CHECKPOINTING}.interval": "150 ms"}
"""So that the input ends between two checkpoints, and much of it waits for the last one."""
STOPS = {f"{CHECKPOINTING}.checkpoints-after-tasks-finish": "false"}
IMPATIENT = {f"{CHECKPOINTING}.timeout": "60 ms", **TOLERANT}
LATE = {"idle_partition": 1, "starts_ms": 800}
"""What the right source reads comes when the left one has long ended."""
HALF = bounded(UNION, "left")
"""One of two sources ends, the other never does."""
UNION_STATE = Job(
    name="union-state",
    vertices=(Vertex("source", VertexKind.SOURCE, bounded=True, union_state=True), *FORWARD.vertices[1:]),
    edges=FORWARD.edges,
    contract=FORWARD.contract,
)
TWO_PHASE_COMMIT = frozenset({Capability.TWO_PHASE_COMMIT})


def ending(*faults: FaultSpec, **fields: Any) -> Plan:
    """A plan whose job comes to its end."""
    return plan(*faults, expected_end=ExpectedEnd.FINISHED, **fields)


DRAINED = tuple(
    ending(job=job, options=options)
    for job in (REDUCED, bounded(KEYED_SUM), bounded(FORWARD), bounded(PIPELINE))
    for options in (CHAINED, SELDOM)
)
WAITING = tuple(
    ending(kill(target, at_event=event), job=job, options=options)
    for job in (REDUCED, bounded(KEYED_SUM))
    for target, event in (
        (WORKERS[0], "operator_finished"),
        (COORDINATOR, "operator_finished"),
        (WORKERS[1], "finish_received"),
        (COORDINATOR, "finish_received"),
    )
    for options in (CHAINED, SELDOM)
)
STEPPED_UNION = Job(
    name="stepped-union",
    vertices=(
        Vertex("left", VertexKind.SOURCE, bounded=True),
        Vertex("right", VertexKind.SOURCE),
        Vertex("map", VertexKind.MAP),
        Vertex("union", VertexKind.UNION),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("left", "map", Partitioning.REBALANCE),
        Edge("map", "union", Partitioning.REBALANCE),
        Edge("right", "union", Partitioning.REBALANCE),
        Edge("union", "sink", Partitioning.FORWARD),
    ),
    contract=FORWARD.contract,
)
"""A source and the operator behind it come to their end; the rest never does."""
EDITED = plan(
    command("cancel", after_checkpoint=10),
    command("submit", {"edit": "left->map"}, after_checkpoint=10, at_event="checkpoint_retained"),
    job=STEPPED_UNION,
    records=LATE,
    options={
        f"{CHECKPOINTING}.interval": "100 ms",
        f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    },
    expected_end=ExpectedEnd.FAILED,
    bounds=Bounds(safety_ms=6_000, liveness_ms=6_000),
)
"""Both had finished, and what is put between them has not."""
PARTLY_FINISHED = ending(kill(WORKERS[0], after_checkpoint=12), job=bounded(UNION), records=LATE)

CASES = with_needs(
    Case(
        id="finishing/drained",
        purpose="Is everything committed, and finish() called once, when the input ends between two checkpoints?",
        method="Bounded jobs, chained and not, run to their end; one of them holds rows back until finish().",
        passes="The job finishes; every record has its effect in the committed output; finish() was called once on "
        "each operator, after the end of all its inputs, and nothing is held back behind it; no task ended before the "
        "checkpoint after its finish() was complete and its rows were committed.",
        decides=(
            Decision("FIN-02", "FINAL", ("record-not-committed", "emitted-after-end"), "J1"),
            Decision("FIN-02", "FINAL", ("held-after-finish",), "keeps-held-rows"),
            Decision("FIN-02", "FINAL", ("finish-not-once",), "finishes-twice"),
            Decision("FIN-02", "FINAL", ("finished-early",), "finishes-on-first-end"),
            Decision("FIN-03", "FINAL", ("exit-before-final", "record-not-committed"), "exits-at-once"),
            Decision("FIN-03", "FINAL", ("exit-uncommitted",), "exits-before-commit"),
        ),
        plan=DRAINED,
        needs=TWO_PHASE_COMMIT,
        tiers=EVERYWHERE,
    ),
    Case(
        id="finishing/crash-while-waiting",
        purpose="Is nothing lost or repeated when a process dies while finished tasks wait for their last checkpoint?",
        method="A worker or the coordinator is killed when the first finish() was called, or the first task ended.",
        passes="The job finishes all the same, and every record has its effect in the committed output once.",
        decides=(
            Decision("FIN-03", "EXACT", ("row-wrong", "row-repeated", "input-missing"), "exits-at-once"),
            Decision("FIN-03", "TXN", ("not-committed", "recovered-not-committed"), "forgets-recovered-transactions"),
        ),
        windows=(Window.RESTORED_STATE,),
        plan=WAITING,
        needs=TWO_PHASE_COMMIT,
    ),
    Case(
        id="finishing/checkpoints-go-on",
        purpose="Do checkpoints continue without the tasks that have finished?",
        method="Two sources flow together, and the input of one of them ends.",
        passes="Checkpoints complete; the finished take no part; the trigger goes to the first that still run.",
        decides=(
            Decision("FIN-01", "FINAL", ("refused-after-finish",), "stops-checkpoints"),
            Decision("FIN-01", "FINAL", ("wrong-participants",), "waits-for-finished"),
            Decision("FIN-01", "FINAL", ("triggered-not-first",), "triggers-all-that-run"),
            Decision("TRG-03", "FINAL", ("triggered-not-first",), "triggers-all-that-run"),
        ),
        plan=[plan(job=HALF, options=IMPATIENT), ending(job=bounded(UNION), records=LATE, options=IMPATIENT)],
        tiers=EVERYWHERE,
    ),
    Case(
        id="finishing/checkpoints-stop",
        purpose="Are checkpoints declined when tasks have finished and the option demands it?",
        method="Two sources flow together, and the input of one of them ends long before that of the other.",
        passes="None is triggered any more, and the job finishes.",
        decides=(Decision("FIN-01", "FINAL", ("triggered-after-finish",), "never-stops-checkpoints"),),
        plan=[
            ending(job=bounded(UNION), records=LATE, options=options)
            for options in (STOPS, {"holdfast.profile": "flink-1.14"})
        ],
    ),
    Case(
        id="finishing/partly-finished-restored",
        purpose="Does a restore leave finished what had finished, and nothing else?",
        method="A worker is killed when one of two sources has ended, and checkpoints have completed since.",
        passes="Every record has its effect in the committed output once, and what starts as finished is behind "
        "nothing that runs.",
        decides=(Decision("FIN-01", "EXACT", ("row-repeated", "input-missing"), "reruns-finished"),),
        windows=(Window.RESTORED_STATE,),
        plan=PARTLY_FINISHED,
        tiers=EVERYWHERE,
    ),
    Case(
        id="finishing/edited-graph",
        purpose="Is a graph refused on restore that puts something that runs in front of what has finished?",
        method="A job is cancelled when two operators have finished, and submitted again with a new one between them.",
        passes="No attempt starts, and the job fails at once and reports why.",
        decides=(Decision("FIN-06", "FINAL", ("running-before-finished",), "restores-any-graph"),),
        plan=EDITED,
        tiers=EVERYWHERE,
    ),
    Case(
        id="finishing/union-state",
        purpose="Does a checkpoint complete only if none, or all, of the subtasks with union list state have finished?",
        method="The input of two of three source subtasks ends early; their positions are union list state.",
        passes="No checkpoint completes that a part of them took after finish(); when the last has finished, one does.",
        decides=(Decision("FIN-04", "FINAL", ("partial-union",), "ignores-union-state"),),
        plan=ending(
            job=UNION_STATE,
            topology=Topology(parallelism=3),
            records={"partitions": 3, "idle_partition": 2, "starts_ms": 500},
            options=TOLERANT,
        ),
        tiers=EVERYWHERE,
    ),
)
