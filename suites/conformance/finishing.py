"""Tasks whose input ends (RULES FIN)."""

from __future__ import annotations

from typing import Any

from holdfast.faults.process import kill
from holdfast.faults.user import command
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Window
from holdfast.harness.model.job import Edge, Job, Partitioning, Vertex, VertexKind
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, PIPELINE, REDUCED, UNION, bounded
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, EVERYWHERE, WORKERS, case, decides, plan, with_needs

CHAINED = {"pipeline.operator-chaining.enabled": "true"}
SELDOM = {f"{CHECKPOINTING}.interval": "150 ms"}
"""So that the input ends between two checkpoints, and much of it waits for the last one."""
STOPS = {f"{CHECKPOINTING}.checkpoints-after-tasks-finish": "false"}
IMPATIENT = {f"{CHECKPOINTING}.timeout": "60 ms", **plans.TOLERANT}
LATE = {"idle_partition": 1, "starts_ms": 800}
"""What the right source reads comes when the left one has long ended."""
HALF = bounded(UNION, "left")
"""One of two sources ends, the other never does."""
TWO_PHASE_COMMIT = frozenset({Capability.TWO_PHASE_COMMIT})


def ending(*faults: FaultSpec, **fields: Any) -> Plan:
    """A plan whose job comes to its end."""
    return plan(*faults, expected_end=ExpectedEnd.FINISHED, **fields)


WAITING = tuple(
    ending(kill(target, at_event=event), job=job, options=options) for job in (REDUCED, bounded(KEYED_SUM))
    for target, event in ((WORKERS[0], "operator_finished"), (COORDINATOR, "operator_finished"),
                          (WORKERS[1], "finish_received"), (COORDINATOR, "finish_received"))
    for options in (CHAINED, SELDOM)
)  # fmt: skip
STEPPED_UNION = Job(name="stepped-union",
                    vertices=(Vertex("left", VertexKind.SOURCE, bounded=True), Vertex("right", VertexKind.SOURCE),
                              Vertex("map", VertexKind.MAP), Vertex("union", VertexKind.UNION),
                              Vertex("sink", VertexKind.SINK)),
                    edges=(Edge("left", "map", Partitioning.REBALANCE), Edge("map", "union", Partitioning.REBALANCE),
                           Edge("right", "union", Partitioning.REBALANCE), Edge("union", "sink", Partitioning.FORWARD)),
                    contract=FORWARD.contract)  # fmt: skip
"""A source and the operator behind it come to their end; the rest never does."""
EDITED = plan(command("cancel", after_checkpoint=10),
              command("submit", {"edit": "left->map"}, after_checkpoint=10, at_event="checkpoint_retained"),
              job=STEPPED_UNION, records=LATE,
              options={f"{CHECKPOINTING}.interval": "100 ms",
                       f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"},
              expected_end=ExpectedEnd.FAILED, bounds=Bounds(safety_ms=6_000, liveness_ms=6_000))  # fmt: skip
"""Both had finished, and what is put between them has not."""

CASES = with_needs(
    case("finishing/drained",
         "Is everything committed, and finish() called once, when the input ends between two checkpoints?",
         tuple(ending(job=job, options=options)
               for job in (REDUCED, bounded(KEYED_SUM), bounded(FORWARD), bounded(PIPELINE))
               for options in (CHAINED, SELDOM)),
         decides("FIN-02", "FINAL/record-not-committed", "FINAL/emitted-after-end", wrong="J1"),
         decides("FIN-02", "FINAL/held-after-finish", wrong="keeps-held-rows"),
         decides("FIN-02", "FINAL/finish-not-once", wrong="finishes-twice"),
         decides("FIN-02", "FINAL/finished-early", wrong="finishes-on-first-end"),
         decides("FIN-03", "FINAL/exit-before-final", "FINAL/record-not-committed", wrong="exits-at-once"),
         decides("FIN-03", "FINAL/exit-uncommitted", wrong="exits-before-commit"), needs=TWO_PHASE_COMMIT,
         tiers=EVERYWHERE,
         method="Bounded jobs, chained and not, run to their end; one of them holds rows back until finish().",
         passes="The job finishes; every record has its effect in the committed output; finish() was called once on "
                "each operator, after the end of all its inputs, and nothing is held back behind it; no task ended "
                "before the checkpoint after its finish() was complete and its rows were committed."),
    case("finishing/crash-while-waiting",
         "Is nothing lost or repeated when a process dies while finished tasks wait for their last checkpoint?",
         WAITING,
         decides("FIN-03", "EXACT/row-wrong", "EXACT/row-repeated", "EXACT/input-missing", wrong="exits-at-once"),
         decides("FIN-03", "TXN/not-committed", "TXN/recovered-not-committed", wrong="forgets-recovered-transactions"),
         windows=(Window.RESTORED_STATE,), needs=TWO_PHASE_COMMIT,
         method="A worker or the coordinator is killed when the first finish() was called, or the first task ended.",
         passes="The job finishes all the same, and every record has its effect in the committed output once."),
    case("finishing/checkpoints-go-on", "Do checkpoints continue without the tasks that have finished?",
         [plan(job=HALF, options=IMPATIENT), ending(job=bounded(UNION), records=LATE, options=IMPATIENT)],
         decides("FIN-01", "FINAL/refused-after-finish", wrong="stops-checkpoints"),
         decides("FIN-01", "FINAL/wrong-participants", wrong="waits-for-finished"),
         decides("FIN-01", "FINAL/triggered-not-first", wrong="triggers-all-that-run"),
         decides("TRG-03", "FINAL/triggered-not-first", wrong="triggers-all-that-run"), tiers=EVERYWHERE,
         method="Two sources flow together, and the input of one of them ends.",
         passes="Checkpoints complete; the finished take no part; the trigger goes to the first that still run."),
    case("finishing/checkpoints-stop", "Are checkpoints declined when tasks have finished and the option demands it?",
         [ending(job=bounded(UNION), records=LATE, options=options)
          for options in (STOPS, {"holdfast.profile": "flink-1.14"})],
         decides("FIN-01", "FINAL/triggered-after-finish", wrong="never-stops-checkpoints"),
         method="Two sources flow together, and the input of one of them ends long before that of the other.",
         passes="None is triggered any more, and the job finishes."),
    case("finishing/partly-finished-restored", "Does a restore leave finished what had finished, and nothing else?",
         ending(kill(WORKERS[0], after_checkpoint=12), job=bounded(UNION), records=LATE),
         decides("FIN-01", "EXACT/row-repeated", "EXACT/input-missing", wrong="reruns-finished"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="A worker is killed when one of two sources has ended, and checkpoints have completed since.",
         passes="Every record has its effect in the committed output once, and what starts as finished is behind "
                "nothing that runs."),
    case("finishing/edited-graph",
         "Is a graph refused on restore that puts something that runs in front of what has finished?", EDITED,
         decides("FIN-06", "FINAL/running-before-finished", wrong="restores-any-graph"), tiers=EVERYWHERE,
         method="A job is cancelled when two operators have finished, and submitted again with a new one between them.",
         passes="No attempt starts, and the job fails at once and reports why."),
    case("finishing/union-state",
         "Does a checkpoint complete only if none, or all, of the subtasks with union list state have finished?",
         ending(job=Job(name="union-state",
                        vertices=(Vertex("source", VertexKind.SOURCE, bounded=True, union_state=True),
                                  *FORWARD.vertices[1:]),
                        edges=FORWARD.edges, contract=FORWARD.contract),
                topology=Topology(parallelism=3), records={"partitions": 3, "idle_partition": 2, "starts_ms": 500},
                options=plans.TOLERANT),
         decides("FIN-04", "FINAL/partial-union", wrong="ignores-union-state"), tiers=EVERYWHERE,
         method="The input of two of three source subtasks ends early; their positions are union list state.",
         passes="No checkpoint completes that a part of them took after finish(); when the last has finished, one "
                "does."),
)  # fmt: skip
