"""Jobs of Flink of other shapes: inputs that end, and windows (RULES FIN, REC)."""

from __future__ import annotations

from holdfast.harness.model.jobs import REDUCED, TUMBLING_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.conformance import finishing, timers
from holdfast.suites.conformance.finishing import HALF
from holdfast.suites.conformance.flink.twins import KILLED, RESTORED, STRUCK_TWICE, control, flink, twin
from holdfast.suites.conformance.plans import with_needs

APART = {"pipeline.operator-chaining.enabled": "false"}
"""Each vertex is a task of its own, as in the model."""

CASES = with_needs(
    twin(
        finishing.CASES,
        "flink/finishing-drained",
        flink(job=REDUCED, options=APART, expected_end=ExpectedEnd.FINISHED),
        "FINAL/record-not-committed",
        "FINAL/held-after-finish",
        "FINAL/finish-not-once",
        "FINAL/exit-before-final",
        method="The input of a job ends that holds rows back until finish() is called.",
    ),
    twin(
        finishing.CASES,
        "flink/finishing-checkpoints-go-on",
        flink(job=HALF, options=APART),
        "FINAL/refused-after-finish",
        method="The input of one of two sources ends, and checkpoints are to go on.",
    ),
    twin(
        timers.CASES,
        "flink/timers-event-time",
        flink(*STRUCK_TWICE, job=TUMBLING_SUM),
        "WINDOW/window-missing",
        "WINDOW/window-repeated",
        "WINDOW/window-wrong",
        method=KILLED + " The job has windows of event time.",
        windows=RESTORED,
    ),
    control(
        "keeps-in-field",
        flink(*STRUCK_TWICE, job=TUMBLING_SUM),
        "WINDOW/window-wrong",
        purpose="that keeps the sums of its windows in a field",
        name="windows",
    ),
)
