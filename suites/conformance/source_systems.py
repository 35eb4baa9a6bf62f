"""Source systems that have removed records, or list a part of their partitions (RULES REC-02, E2E-05)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.faults.truncation import truncate
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import EVERYWHERE, WORKERS, case, decides, plan, with_needs

LONG = {"records": 240}


TO_THE_POSITION = tuple(
    plan(truncate(duration_ms=300, after_checkpoint=1), kill(WORKERS[0], after_checkpoint=1),
         truncate(duration_ms=300, after_checkpoint=3), kill(COORDINATOR, after_checkpoint=3), job=job, records=LONG)
    for job in (KEYED_SUM, FORWARD)
)  # fmt: skip
BEYOND_IT = tuple(
    plan(truncate(beyond, after_checkpoint=2), kill(WORKERS[0], after_checkpoint=2), records=LONG,
         expected_end=ExpectedEnd.FAILED)
    for beyond in (20, 240)
)  # fmt: skip

CASES = with_needs(
    case("source-systems/truncated-to-position", "Does a recovery need no record in front of the restored position?",
         TO_THE_POSITION, decides("REC-02", "RESTORE/position-differs", wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE, Window.READ_AGAIN), tiers=EVERYWHERE,
         method="All records that the last completed checkpoint covers are removed; a worker and a coordinator die.",
         passes="Sources continue at exactly the recorded positions, and all input is drained."),
    case("source-systems/truncated-beyond-position",
         "Does a job fail visibly when records behind its restored position have been removed?", BEYOND_IT,
         decides("REC-08", "LIVE/end-not-reached", wrong="reads-from-earliest"), tiers=EVERYWHERE,
         method="More records are removed than the last completed checkpoint covers, and a worker dies.",
         passes="The job fails, and no source continues behind the gap."),
)  # fmt: skip
