"""A coordinator that is taken for dead and comes back (RULES CRD-13)."""

from __future__ import annotations

from holdfast.faults.savepoint import savepoint
from holdfast.faults.storage import slow_storage
from holdfast.faults.succession import supersede
from holdfast.harness.model.plan import Bounds
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, STATE_IN_FILES, case, decides, gate, plan, with_needs

STOPS_AT = (
    "publish-metadata", "during-publish-metadata", "persist-job-record", "during-persist-job-record", "send-trigger",
    "notify", "delete",
)  # fmt: skip
INTERVALS_MS = 200
"""Long enough for the successor to restart the job and to complete checkpoints."""
STOPPED = tuple(
    plan(supersede(INTERVALS_MS, after_checkpoint=1, gate=gate(effect, COORDINATOR)), options=STATE_IN_FILES)
    for effect in STOPS_AT
)
NOTIFYING = tuple(
    plan(supersede(INTERVALS_MS, after_checkpoint=1, gate=gate("notify", COORDINATOR, occurrence=occurrence)),
         options=STATE_IN_FILES)
    for occurrence in (1, 2)
)  # fmt: skip
DELETES_LATE = plan(slow_storage("publish-metadata", 50, 1_000, 1, after_checkpoint=1),
                    slow_storage("confirm-epoch", 50, 1_000, after_checkpoint=1),
                    supersede(100, after_checkpoint=1, gate=gate("delete", COORDINATOR)),
                    options={**STATE_IN_FILES, f"{plans.CHECKPOINTING}.interval": "200 ms",
                             f"{plans.CHECKPOINTING}.min-pause": "150 ms"},
                    bounds=Bounds(safety_ms=4_000, liveness_ms=4_000))  # fmt: skip
"""The former goes on before its successor has dropped anything itself, and hears late that it is refused. One that asks
before it deletes is refused then, and never comes to what is slow here."""
DELETING = tuple(
    plan(supersede(INTERVALS_MS, after_checkpoint=progress, gate=gate(effect, COORDINATOR)),
         options={**STATE_IN_FILES, **retained})
    for effect in ("delete", "during-delete")
    for progress, retained in ((1, {}), (3, plans.TWO_RETAINED))
)  # fmt: skip

DELETES_SOON, *DELETING_AFTER_CHECK = (
    plan(
        supersede(duration_ms, after_checkpoint=progress, gate=gate("during-delete", COORDINATOR)),
        options={**STATE_IN_FILES, f"{plans.CHECKPOINTING}.interval": "200 ms", **retained},
        bounds=Bounds(safety_ms=4_000, liveness_ms=4_000),
    )
    for duration_ms, progress, retained in (
        (40, 1, {}),
        (100, 1, {}),
        (100, 3, plans.TWO_RETAINED),
        (INTERVALS_MS, 3, plans.TWO_RETAINED),
    )
)
"""Nobody has taken over when it asks, and its successor has recovered when it deletes; in the first of these only just,
and has dropped nothing yet."""

CASES = with_needs(
    case("succession/superseded",
         "Can a coordinator that was paused while another took over still complete or start anything?", STOPPED,
         decides("CRD-13", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         decides("STO-08", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         decides("CRD-13", "FENCE/epoch-not-higher", wrong="claims-epoch-again"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE, mutant_plan=STOPPED[0],
         method="It is paused before each of its steps in turn, or in the middle. A successor takes over and continues "
                "the job; then the first continues where it was paused.",
         passes="It is refused and ends; it stores nothing, and completes nothing that its successor did not find."),
    case("succession/savepoint",
         "Can a coordinator that was paused while another took over still complete a savepoint?",
         plan(savepoint(after_checkpoint=1),
              supersede(INTERVALS_MS, after_checkpoint=1, gate=gate("during-publish-metadata", COORDINATOR)),
              options=STATE_IN_FILES),
         decides("CRD-13", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         decides("STO-08", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="It is paused while it writes the metadata of a savepoint. A successor takes over and continues the "
                "job; then the first continues where it was paused.",
         passes="It is refused and ends; the savepoint is not stored."),
    case("succession/notices", "Does a coordinator that was paused notify a task of the end of a checkpoint?",
         NOTIFYING, decides("CRD-13", "FENCE/superseded-notified", wrong="stays-with-superseded"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE, mutant_plan=NOTIFYING[0],
         method="It is paused before its first or second notice; a successor takes over; then it continues.",
         passes="No task receives a notice from it."),
    case("succession/deletes", "Does a coordinator that was paused leave alone what its successor found?", DELETING,
         decides("CRD-13", "FENCE/superseded-deleted", wrong="deletes-unchecked"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE, mutant_plan=DELETES_LATE,
         method="It is paused before a deletion, or in the middle of one; a successor takes over; then it continues "
                "where it was paused.",
         passes="It deletes nothing of a checkpoint that its successor found and has not dropped."),
    case("succession/deletes-after-check",
         "Is a deletion harmless that was allowed before another took over and takes effect afterwards?",
         DELETING_AFTER_CHECK, decides("CRD-13", "FENCE/superseded-deleted", wrong="drops-before-storing"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE, mutant_plan=DELETES_SOON,
         method="A coordinator is paused between its check whether it is superseded and its deletion. A successor "
                "takes over and restores the job; then the deletion takes effect.",
         passes="It deletes nothing of a checkpoint that its successor found and has not dropped."),
)  # fmt: skip
