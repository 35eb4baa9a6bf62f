"""Source systems that have removed records, or list a part of their partitions (RULES REC-02, E2E-05)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.faults.truncation import truncate
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import EVERYWHERE, WORKERS, plan, with_needs

LONG = {"records": 240}


TO_THE_POSITION = tuple(
    plan(
        truncate(duration_ms=300, after_checkpoint=1),
        kill(WORKERS[0], after_checkpoint=1),
        truncate(duration_ms=300, after_checkpoint=3),
        kill(COORDINATOR, after_checkpoint=3),
        job=job,
        records=LONG,
    )
    for job in (KEYED_SUM, FORWARD)
)
BEYOND_IT = tuple(
    plan(
        truncate(beyond, after_checkpoint=2),
        kill(WORKERS[0], after_checkpoint=2),
        records=LONG,
        expected_end=ExpectedEnd.FAILED,
    )
    for beyond in (20, 240)
)

CASES = with_needs(
    Case(
        id="source-systems/truncated-to-position",
        purpose="Does a recovery need no record in front of the restored position?",
        method="All records that the last completed checkpoint covers are removed; a worker and a coordinator die.",
        passes="Sources continue at exactly the recorded positions, and all input is drained.",
        decides=(Decision("REC-02", "RESTORE", ("position-differs",), "source-repeats-one"),),
        windows=(Window.RESTORED_STATE, Window.READ_AGAIN),
        plan=TO_THE_POSITION,
        tiers=EVERYWHERE,
    ),
    Case(
        id="source-systems/truncated-beyond-position",
        purpose="Does a job fail visibly when records behind its restored position have been removed?",
        method="More records are removed than the last completed checkpoint covers, and a worker dies.",
        passes="The job fails, and no source continues behind the gap.",
        decides=(Decision("REC-08", "LIVE", ("end-not-reached",), "reads-from-earliest"),),
        plan=BEYOND_IT,
        tiers=EVERYWHERE,
    ),
)
