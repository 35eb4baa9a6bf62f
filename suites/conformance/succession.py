"""A coordinator that is taken for dead and comes back (RULES CRD-13)."""

from __future__ import annotations

from holdfast.faults.savepoint import savepoint
from holdfast.faults.storage import slow_storage
from holdfast.faults.succession import supersede
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.plan import Bounds
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    STATE_IN_FILES,
    TWO_RETAINED,
    gate,
    plan,
    with_needs,
)

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
SAVING = plan(
    savepoint(after_checkpoint=1),
    supersede(INTERVALS_MS, after_checkpoint=1, gate=gate("during-publish-metadata", COORDINATOR)),
    options=STATE_IN_FILES,
)
NOTIFYING = tuple(
    plan(
        supersede(INTERVALS_MS, after_checkpoint=1, gate=gate("notify", COORDINATOR, occurrence=occurrence)),
        options=STATE_IN_FILES,
    )
    for occurrence in (1, 2)
)
DELETES_LATE = plan(
    slow_storage("publish-metadata", 50, 1_000, 1, after_checkpoint=1),
    slow_storage("confirm-epoch", 50, 1_000, after_checkpoint=1),
    supersede(100, after_checkpoint=1, gate=gate("delete", COORDINATOR)),
    options={**STATE_IN_FILES, f"{CHECKPOINTING}.interval": "200 ms", f"{CHECKPOINTING}.min-pause": "150 ms"},
    bounds=Bounds(safety_ms=4_000, liveness_ms=4_000),
)
"""The former goes on before its successor has dropped anything itself, and hears late that it is refused. One that asks
before it deletes is refused then, and never comes to what is slow here."""
DELETING = tuple(
    plan(
        supersede(INTERVALS_MS, after_checkpoint=progress, gate=gate(effect, COORDINATOR)),
        options={**STATE_IN_FILES, **retained},
    )
    for effect in ("delete", "during-delete")
    for progress, retained in ((1, {}), (3, TWO_RETAINED))
)

DELETES_SOON, *DELETING_AFTER_CHECK = (
    plan(
        supersede(duration_ms, after_checkpoint=progress, gate=gate("during-delete", COORDINATOR)),
        options={**STATE_IN_FILES, f"{CHECKPOINTING}.interval": "200 ms", **retained},
        bounds=Bounds(safety_ms=4_000, liveness_ms=4_000),
    )
    for duration_ms, progress, retained in (
        (40, 1, {}),
        (100, 1, {}),
        (100, 3, TWO_RETAINED),
        (INTERVALS_MS, 3, TWO_RETAINED),
    )
)
"""Nobody has taken over when it asks, and its successor has recovered when it deletes; in the first of these only just,
and has dropped nothing yet."""

CASES = with_needs(
    Case(
        id="succession/superseded",
        purpose="Can a coordinator that was paused while another took over still complete or start anything?",
        method="It is paused before each of its steps in turn, or in the middle. A successor takes over and "
        "continues the job; then the first continues where it was paused.",
        passes="It is refused and ends; it stores nothing, and completes nothing that its successor did not find.",
        decides=(
            Decision("CRD-13", "FENCE", ("superseded-acted", "superseded-completed"), "ignores-successor"),
            Decision("STO-08", "FENCE", ("superseded-acted", "superseded-completed"), "ignores-successor"),
            Decision("CRD-13", "FENCE", ("epoch-not-higher",), "claims-epoch-again"),
        ),
        windows=(Window.RESTORED_STATE,),
        plan=STOPPED,
        tiers=EVERYWHERE,
        mutant_plan=STOPPED[0],
    ),
    Case(
        id="succession/savepoint",
        purpose="Can a coordinator that was paused while another took over still complete a savepoint?",
        method="It is paused while it writes the metadata of a savepoint. A successor takes over and continues the "
        "job; then the first continues where it was paused.",
        passes="It is refused and ends; the savepoint is not stored.",
        decides=(
            Decision("CRD-13", "FENCE", ("superseded-acted", "superseded-completed"), "ignores-successor"),
            Decision("STO-08", "FENCE", ("superseded-acted", "superseded-completed"), "ignores-successor"),
        ),
        windows=(Window.RESTORED_STATE,),
        plan=SAVING,
        tiers=EVERYWHERE,
    ),
    Case(
        id="succession/notices",
        purpose="Does a coordinator that was paused notify a task of the end of a checkpoint?",
        method="It is paused before its first or second notice; a successor takes over; then it continues.",
        passes="No task receives a notice from it.",
        decides=(Decision("CRD-13", "FENCE", ("superseded-notified",), "stays-with-superseded"),),
        windows=(Window.RESTORED_STATE,),
        plan=NOTIFYING,
        tiers=EVERYWHERE,
        mutant_plan=NOTIFYING[0],
    ),
    Case(
        id="succession/deletes",
        purpose="Does a coordinator that was paused leave alone what its successor found?",
        method="It is paused before a deletion, or in the middle of one; a successor takes over; then it "
        "continues where it was paused.",
        passes="It deletes nothing of a checkpoint that its successor found and has not dropped.",
        decides=(Decision("CRD-13", "FENCE", ("superseded-deleted",), "deletes-unchecked"),),
        windows=(Window.RESTORED_STATE,),
        plan=DELETING,
        tiers=EVERYWHERE,
        mutant_plan=DELETES_LATE,
    ),
    Case(
        id="succession/deletes-after-check",
        purpose="Is a deletion harmless that was allowed before another took over and takes effect afterwards?",
        method="A coordinator is paused between its check whether it is superseded and its deletion. A successor takes "
        "over and restores the job; then the deletion takes effect.",
        passes="It deletes nothing of a checkpoint that its successor found and has not dropped.",
        decides=(Decision("CRD-13", "FENCE", ("superseded-deleted",), "drops-before-storing"),),
        windows=(Window.RESTORED_STATE,),
        plan=DELETING_AFTER_CHECK,
        tiers=EVERYWHERE,
        mutant_plan=DELETES_SOON,
    ),
)
