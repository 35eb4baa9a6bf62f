"""Jobs of Flink of other shapes: inputs that end or meet, windows, regions that fail apart (RULES FIN, REC, RSC)."""

from __future__ import annotations

from holdfast.faults.input import poison
from holdfast.faults.process import kill
from holdfast.faults.task import slow_task
from holdfast.faults.user import command
from holdfast.harness.model.job import Contract, Edge, Job, Partitioning, Vertex, VertexKind
from holdfast.harness.model.jobs import BROADCAST, DIAMOND, JOIN, REDUCED, STEPS, TUMBLING_SUM, TWO_PIPELINES
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.target import Role, Target
from holdfast.suites.conformance import finishing, operators, recovery, rescaling
from holdfast.suites.conformance.finishing import HALF
from holdfast.suites.conformance.flink import twins
from holdfast.suites.conformance.flink.twins import KILLED, RESTORED, STRUCK_TWICE, control, flink, twin
from holdfast.suites.conformance.plans import EXACT_SUMS, FAILOVER, WORKERS, with_needs

APART = {"pipeline.operator-chaining.enabled": "false"}
"""Each vertex is a task of its own, as in the model."""
APART_FAILING = (
    "Two pipelines share nothing but TaskManagers; a record fails a source for a while, and SIGKILL hits a TaskManager."
)
FEW_KEYS = {"keys": 8}
"""What is broadcast brings a row for each of them."""
TWO_WAYS = Job(name="two-ways",
               vertices=(Vertex("source", VertexKind.SOURCE), Vertex("even", VertexKind.FILTER, modulus=2, remainder=0),
                         Vertex("sum", VertexKind.JOIN), Vertex("sink", VertexKind.SINK)),
               edges=(Edge("source", "sum", Partitioning.HASH), Edge("source", "even", Partitioning.FORWARD),
                      Edge("even", "sum", Partitioning.HASH), Edge("sum", "sink", Partitioning.FORWARD)),
               contract=Contract.FOLD)  # fmt: skip
"""A source whose barriers may overtake on one way, and not on the other (FLINK-38267)."""
TWO_REGIONS = tuple(
    flink(poison(1_200, offset=150, after_checkpoint=2), kill(WORKERS[1], after_checkpoint=6), job=TWO_PIPELINES,
          options={**APART, FAILOVER: strategy})
    for strategy in ("region", "full")
)  # fmt: skip

CASES = with_needs(
    twin(finishing.CASES, "flink/finishing-drained",
         flink(job=REDUCED, options=APART, expected_end=ExpectedEnd.FINISHED), "FINAL/record-not-committed",
         "FINAL/held-after-finish", "FINAL/finish-not-once", "FINAL/exit-before-final",
         method="The input of a job ends that holds rows back until finish() is called."),
    twin(finishing.CASES, "flink/finishing-checkpoints-go-on", flink(job=HALF, options=APART),
         "FINAL/refused-after-finish", method="The input of one of two sources ends, and checkpoints are to go on."),
    twin(operators.TIMER_CASES, "flink/timers-event-time", flink(*STRUCK_TWICE, job=TUMBLING_SUM),
         "WINDOW/window-missing", "WINDOW/window-repeated", "WINDOW/window-wrong",
         method=KILLED + " The job has windows of event time.", windows=RESTORED),
    control("keeps-in-field", flink(*STRUCK_TWICE, job=TUMBLING_SUM), "WINDOW/window-wrong",
            purpose="that keeps the sums of its windows in a field", name="windows"),
    twin(operators.CASES, "flink/operators-crashes",
         tuple(flink(*STRUCK_TWICE, job=job, options=APART, workload=FEW_KEYS)
               for job in (JOIN, BROADCAST, DIAMOND, STEPS)),
         "EXACT/row-repeated", "EXACT/input-missing",
         method=KILLED + " Inputs are joined, broadcast, copied, filtered and united.", windows=RESTORED),
    control("keeps-in-field", flink(*STRUCK_TWICE, job=JOIN, options=APART, workload=FEW_KEYS), *EXACT_SUMS,
            purpose="that keeps what it joins in a field", name="join"),
    twin(recovery.REGION_CASES, "flink/regions-same-results", TWO_REGIONS, "EXACT/row-repeated", "EXACT/input-missing",
         method=APART_FAILING + " Both strategies are tried.", windows=RESTORED),
    twin(recovery.REGION_CASES, "flink/regions-only-affected", TWO_REGIONS[0], "REGION/unaffected-restarted",
         "REGION/region-torn", method=APART_FAILING, windows=RESTORED),
    twin(rescaling.CASES, "flink/rescaling-in-flight-beside-forward",
         flink(slow_task(Target(Role.TASK, 4), 8, 4_000), command("cancel", after_checkpoint=3),
               command("submit", {"restore": 1, "parallelism": 1}, after_checkpoint=3, at_event="checkpoint_retained"),
               job=TWO_WAYS, options={**APART, **twins.KEPT, **twins.UNALIGNED, **twins.IN_FILES}, workload=FEW_KEYS),
         "EXACT/input-missing",
         method="One output of a source leads to a slow join and may be overtaken, and the other may not. The job is "
                "cancelled, and one of half the width goes on.",
         windows=RESTORED, of="rescaling/in-flight-on-two-edges"),
)  # fmt: skip
