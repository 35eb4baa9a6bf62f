"""Which completed checkpoints stay, and what another job can do with them or own of them (RULES RET, TRG, SAV-06)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.faults.user import command
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Window
from holdfast.harness.model.checkpoint import ClaimMode
from holdfast.harness.model.jobs import KEYED_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    EVERYWHERE,
    STATE_IN_FILES,
    TWO_RETAINED,
    WORKERS,
    case,
    decides,
    gate,
    plan,
    with_needs,
)

LONG = {"records": 240, "records_per_second": 200}
NO_RESTART = {f"{plans.RESTART}.type": "none"}
POLICIES = ("NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION")
KEPT = frozenset({("DELETE_ON_CANCELLATION", ExpectedEnd.FAILED), ("RETAIN_ON_CANCELLATION", ExpectedEnd.FAILED),
                  ("RETAIN_ON_CANCELLATION", ExpectedEnd.CANCELED),
                  ("RETAIN_ON_CANCELLATION", ExpectedEnd.SUSPENDED)})  # fmt: skip
"""RULES 1.2."""
RETAIN = {f"{plans.CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}


def _ended(policy: str, end: ExpectedEnd) -> Plan:
    """A job that ends so, with two retained: after its third checkpoint, or with its input."""
    options = {
        f"{plans.CHECKPOINTING}.externalized-checkpoint-retention": policy,
        **plans.TWO_RETAINED,
        **STATE_IN_FILES,
    }
    if end is ExpectedEnd.FINISHED:
        return plan(job=bounded(KEYED_SUM), options=options, expected_end=end, records=LONG)
    if end is ExpectedEnd.FAILED:
        ending, options = kill(WORKERS[0], after_checkpoint=3), options | NO_RESTART
    else:
        ending = command("cancel" if end is ExpectedEnd.CANCELED else "suspend", after_checkpoint=3)
    return plan(ending, options=options, expected_end=end, records=LONG)


ENDS = (ExpectedEnd.FINISHED, ExpectedEnd.CANCELED, ExpectedEnd.SUSPENDED, ExpectedEnd.FAILED)
MATRIX = tuple(product(POLICIES, ENDS))
DURING_END = (
    plan(command("cancel", after_checkpoint=2), slow_storage("persist-job-record", 30, 400, after_checkpoint=2),
         options={**RETAIN, **STATE_IN_FILES}, expected_end=ExpectedEnd.CANCELED, records=LONG),
    plan(command("cancel", after_checkpoint=2), kill(COORDINATOR, after_checkpoint=2, gate=gate("delete", COORDINATOR)),
         options=STATE_IN_FILES, expected_end=ExpectedEnd.CANCELED, records=LONG),
)  # fmt: skip


def _again(end: str, *faults: FaultSpec, restore: int = 1, after: int = 3) -> Plan:
    """A job ends, and another is submitted, which runs on to the end of the input."""
    ended = command(end, after_checkpoint=after)
    submitted = command("submit", {"restore": restore}, after_checkpoint=after, at_event="checkpoint_retained")
    return plan(ended, submitted, *faults, options={**RETAIN, **STATE_IN_FILES}, records=LONG)


RESUMED = (
    _again("cancel"),
    _again("suspend"),
    _again("cancel", kill(WORKERS[0], after_checkpoint=5)),
    _again("cancel", kill(COORDINATOR, after_checkpoint=4, gate=gate("send-trigger", COORDINATOR))),
    _again("suspend", kill(WORKERS[1], after_checkpoint=3, gate=gate("read-state", WORKERS[1]))),
)
EMPTY = _again("cancel", restore=0)
"""Ends with a checkpoint of its own, beside the one that the first has left."""
STORED_FIRST = (
    plan(storage_error("publish-metadata", 300, {"occurrences": 2}, after_checkpoint=2), options=plans.TOLERANT),
    plan(kill(COORDINATOR, after_checkpoint=2, gate=gate("publish-metadata", COORDINATOR)),
         options={**plans.TWO_RETAINED, **STATE_IN_FILES}),
    plan(options=plans.TWO_RETAINED, records=LONG),
)  # fmt: skip
FAILED_DELETIONS = (
    plan(storage_error("delete", 300, {"occurrences": 4}, after_checkpoint=2), options=STATE_IN_FILES, records=LONG),
    plan(storage_error("delete", 300, {"occurrences": 4, "after_effect": 1}, after_checkpoint=2),
         options={**STATE_IN_FILES, **plans.TWO_RETAINED}, records=LONG),
)  # fmt: skip

CASES = with_needs(
    case("retention/number",
         "Do as many checkpoints stay as are to be retained, the new one stored before an old one goes?", STORED_FIRST,
         decides("RET-01", "RETAIN/too-many-retained", wrong="retains-one-more"),
         decides("RET-01", "REACH/dropped-too-early", wrong="drops-before-storing"), tiers=EVERYWHERE,
         method="One and two are retained; publications fail, or the coordinator dies in front of one.",
         passes="When a checkpoint begins no more than that stay, and none is dropped for one that is not stored."),
    case("retention/leaves", "Does a job leave its checkpoints to the user where its policy demands it?",
         tuple(_ended(*cell) for cell in MATRIX if cell in KEPT),
         decides("RET-02", "RETAIN/discarded-wrongly", wrong="discards-everything"), tiers=EVERYWHERE,
         method="Each policy is combined with each end that keeps.",
         passes="All that were retained are left, with all their files."),
    case("retention/discards", "Does a job discard its checkpoints where its policy demands it?",
         tuple(_ended(*cell) for cell in MATRIX if cell not in KEPT),
         decides("RET-02", "RETAIN/kept-wrongly", wrong="keeps-everything"), tiers=EVERYWHERE,
         method="Each policy is combined with each end that does not keep.", passes="None is left."),
    case("retention/struck-end", "Does a job end as requested, though a fault strikes its end?", DURING_END,
         decides("RET-02", "RETAIN/discarded-wrongly", "RETAIN/kept-wrongly", wrong="discards-everything"),
         method="Its record is slow to be stored, and the coordinator dies in front of a deletion.",
         passes="No coordinator takes the job up again, and its policy decides which checkpoints stay."),
    case("retention/by-path",
         "Does a job on a fresh cluster continue from a retained checkpoint that it is given by path?", RESUMED,
         decides("RET-03", "RETAIN/restored-elsewhere", wrong="ignores-path"),
         decides("TRG-02", "COORD/wrong-first-id", wrong="counts-from-one"),
         decides("RET-04", "RETAIN/deleted-after-end", wrong="claims-restored"), windows=(Window.RESTORED_STATE,),
         mutant_plan=RESUMED[0], tiers=EVERYWHERE,
         method="A job is cancelled or suspended and another submitted, with kills of workers and coordinator in it.",
         passes="It restores that checkpoint, continues with the next id, and the output of both is right, once."),
    case("retention/without-path",
         "Does a job that is given no path start empty, say so, and leave alone what others have left?", EMPTY,
         decides("RET-03", "RETAIN/start-not-reported", wrong="shares-folder"),
         decides("RET-04", "RETAIN/deleted-after-end", wrong="sweeps-root"), tiers=EVERYWHERE,
         method="A job is cancelled, and another submitted on the same root without a path.",
         passes="It starts empty and reports so, and what the first has left is all there at the end."),
    case("retention/failed-deletions", "Does a deletion that fails fail nothing else?", FAILED_DELETIONS,
         decides("RET-05", "RETAIN/failed-deletion-fails", wrong="fails-with-deletion"), tiers=EVERYWHERE,
         method="Deletions of dropped checkpoints fail, before or after they took effect.",
         passes="No checkpoint is aborted and no failure counted."),
    case("retention/in-use", "Does a checkpoint stay while tasks restore it?",
         plan(kill(WORKERS[0], after_checkpoint=2), slow_storage("read-state", 30, 400, after_checkpoint=2),
              options={**STATE_IN_FILES, **plans.TWO_RETAINED}, records=LONG),
         decides("RET-05", "RETAIN/deleted-in-use", wrong="drops-restored"), tiers=EVERYWHERE,
         method="A worker is killed, and the state is slow to be read.",
         passes="Nothing of the checkpoint is deleted before all tasks run."),
)  # fmt: skip


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

CLAIMED_CASES = with_needs(
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
