"""Retained checkpoints with increments, which a next job owns or leaves alone (RULES SAV-06)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.process import kill
from holdfast.faults.user import command
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.checkpoint import ClaimMode
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, STATE_IN_FILES, TWO_RETAINED, case, decides, plan, with_needs

INCREMENTAL = {
    **STATE_IN_FILES,
    profile.BACKEND: "rocksdb",
    profile.INCREMENTAL: "true",
    profile.RETENTION: "RETAIN_ON_CANCELLATION",
}
SHARING = frozenset({Capability.INCREMENTAL_CHECKPOINTS})


def _begun(at: int, **parameters: int | str) -> tuple[FaultSpec, FaultSpec]:
    """A job is cancelled behind a checkpoint, and the next one begins from what it left."""
    return (
        command("cancel", {}, after_checkpoint=at),
        command("submit", {"restore": 1, **parameters}, after_checkpoint=at, at_event="checkpoint_retained"),
    )


def _plan(mode: ClaimMode, *faults: FaultSpec, options: Mapping[str, str] = {}, **records: int) -> Plan:
    return plan(*faults, options={**INCREMENTAL, profile.CLAIM_MODE: mode, **options},
                records={"records": 400, "records_per_second": 200, **records})  # fmt: skip


OWNED = (
    _plan(ClaimMode.CLAIM, *_begun(3)),
    _plan(ClaimMode.CLAIM, *_begun(3), options=TWO_RETAINED),
    _plan(ClaimMode.CLAIM, *_begun(6), kill(plans.WORKERS[0], after_checkpoint=7), options=TWO_RETAINED),
    _plan(ClaimMode.CLAIM, *_begun(6), kill(COORDINATOR, after_checkpoint=7), options=TWO_RETAINED),
    _plan(ClaimMode.CLAIM, *_begun(3), *_begun(7)),
    _plan(ClaimMode.CLAIM, *_begun(3), *_begun(4), options=TWO_RETAINED),
    _plan(ClaimMode.CLAIM, *_begun(3, parallelism=3), partitions=4),
)
"""Two of them end in a third job, which owns what the second one had taken from the first; the last one is wider."""
NOT_OWNED = (
    _plan(ClaimMode.NO_CLAIM, *_begun(3)),
    _plan(ClaimMode.NO_CLAIM, *_begun(3), options=TWO_RETAINED),
    _plan(ClaimMode.NO_CLAIM, *_begun(6), kill(plans.WORKERS[0], after_checkpoint=7)),
    _plan(ClaimMode.NO_CLAIM, *_begun(6), kill(COORDINATOR, after_checkpoint=6, at_event="attempt_started")),
)

CASES = with_needs(
    case("claimed-checkpoints/owned",
         "Is a checkpoint that a job has claimed one of its own, with the files that it shares with others?", OWNED,
         decides("SAV-06", "SHARED/deleted-in-use", wrong="deletes-claimed-files"),
         decides("SAV-06", "SHARED/left-behind", wrong="keeps-claimed-files"),
         decides("SAV-06", "REACH/dropped-too-early", wrong="claims-until-first"),
         decides("SAV-06", "SAVEPOINT/claimed-left", wrong="claims-nothing"),
         windows=(Window.RESTORED_STATE, Window.BUILT_ON_SNAPSHOT), needs=SHARING, tiers=EVERYWHERE,
         method="A job with incremental checkpoints is cancelled; the next one claims what it has left, with kills in "
                "it. Some are cancelled as well, and a third job goes on.",
         passes="The claimed checkpoint is retained and dropped like the job's own. Its shared files stay while a "
                "newer one refers to them, and go when none does."),
    case("claimed-checkpoints/not-owned",
         "Does a job leave alone a checkpoint that it restores and does not own, and need nothing of it later?",
         NOT_OWNED, decides("SAV-06", "SAVEPOINT/rests-on-unclaimed", wrong="rests-on-unclaimed"),
         decides("SAV-06", "RETAIN/deleted-after-end", wrong="claims-restored"), windows=(Window.RESTORED_STATE,),
         needs=SHARING, tiers=EVERYWHERE,
         method="A job with incremental checkpoints is cancelled; the next one restores what it has left with "
                "NO_CLAIM.",
         passes="The first checkpoint of the next job is a full one, and all files of the restored one are there."),
)  # fmt: skip
