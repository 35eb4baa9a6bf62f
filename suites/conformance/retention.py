"""Which completed checkpoints stay, and what another job can do with them (RULES RET, TRG-02)."""

from __future__ import annotations

from itertools import product

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.faults.user import command
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import KEYED_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans

LONG = {"records": 240, "records_per_second": 200}
NO_RESTART = {f"{plans.RESTART}.type": "none"}
POLICIES = ("NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION")
KEPT = frozenset(
    {
        ("DELETE_ON_CANCELLATION", ExpectedEnd.FAILED),
        ("RETAIN_ON_CANCELLATION", ExpectedEnd.FAILED),
        ("RETAIN_ON_CANCELLATION", ExpectedEnd.CANCELED),
        ("RETAIN_ON_CANCELLATION", ExpectedEnd.SUSPENDED),
    }
)
"""RULES 1.2."""
RETAIN = {f"{plans.CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}


def _ended(policy: str, end: ExpectedEnd) -> Plan:
    """A job that ends so, with two retained: after its third checkpoint, or with its input."""
    options = {
        f"{plans.CHECKPOINTING}.externalized-checkpoint-retention": policy,
        **plans.TWO_RETAINED,
        **plans.STATE_IN_FILES,
    }
    if end is ExpectedEnd.FINISHED:
        return plans.plan(job=bounded(KEYED_SUM), options=options, expected_end=end, records=LONG)
    if end is ExpectedEnd.FAILED:
        ending, options = kill(plans.WORKERS[0], after_checkpoint=3), options | NO_RESTART
    else:
        ending = command("cancel" if end is ExpectedEnd.CANCELED else "suspend", after_checkpoint=3)
    return plans.plan(ending, options=options, expected_end=end, records=LONG)


ENDS = (ExpectedEnd.FINISHED, ExpectedEnd.CANCELED, ExpectedEnd.SUSPENDED, ExpectedEnd.FAILED)
MATRIX = tuple(product(POLICIES, ENDS))
LEAVES = tuple(_ended(*cell) for cell in MATRIX if cell in KEPT)
DISCARDS = tuple(_ended(*cell) for cell in MATRIX if cell not in KEPT)
DURING_END = (
    plans.plan(
        command("cancel", after_checkpoint=2),
        slow_storage("persist-job-record", 30, 400, after_checkpoint=2),
        options={**RETAIN, **plans.STATE_IN_FILES},
        expected_end=ExpectedEnd.CANCELED,
        records=LONG,
    ),
    plans.plan(
        command("cancel", after_checkpoint=2),
        kill(COORDINATOR, after_checkpoint=2, gate=plans.gate("delete", COORDINATOR)),
        options=plans.STATE_IN_FILES,
        expected_end=ExpectedEnd.CANCELED,
        records=LONG,
    ),
)


def _again(end: str, *faults: FaultSpec, restore: int = 1, after: int = 3) -> Plan:
    """A job ends, and another is submitted, which runs on to the end of the input."""
    ended = command(end, after_checkpoint=after)
    submitted = command("submit", {"restore": restore}, after_checkpoint=after, at_event="checkpoint_retained")
    return plans.plan(ended, submitted, *faults, options={**RETAIN, **plans.STATE_IN_FILES}, records=LONG)


RESUMED = (
    _again("cancel"),
    _again("suspend"),
    _again("cancel", kill(plans.WORKERS[0], after_checkpoint=5)),
    _again("cancel", kill(COORDINATOR, after_checkpoint=4, gate=plans.gate("send-trigger", COORDINATOR))),
    _again("suspend", kill(plans.WORKERS[1], after_checkpoint=3, gate=plans.gate("read-state", plans.WORKERS[1]))),
)
EMPTY = _again("cancel", restore=0)
"""Ends with a checkpoint of its own, beside the one that the first has left."""
STORED_FIRST = (
    plans.plan(storage_error("publish-metadata", 300, {"occurrences": 2}, after_checkpoint=2), options=plans.TOLERANT),
    plans.plan(
        kill(COORDINATOR, after_checkpoint=2, gate=plans.gate("publish-metadata", COORDINATOR)),
        options={**plans.TWO_RETAINED, **plans.STATE_IN_FILES},
    ),
    plans.plan(options=plans.TWO_RETAINED, records=LONG),
)
FAILED_DELETIONS = (
    plans.plan(
        storage_error("delete", 300, {"occurrences": 4}, after_checkpoint=2), options=plans.STATE_IN_FILES, records=LONG
    ),
    plans.plan(
        storage_error("delete", 300, {"occurrences": 4, "after_effect": 1}, after_checkpoint=2),
        options={**plans.STATE_IN_FILES, **plans.TWO_RETAINED},
        records=LONG,
    ),
)
IN_USE = plans.plan(
    kill(plans.WORKERS[0], after_checkpoint=2),
    slow_storage("read-state", 30, 400, after_checkpoint=2),
    options={**plans.STATE_IN_FILES, **plans.TWO_RETAINED},
    records=LONG,
)

CASES = plans.with_needs(
    Case(
        id="retention/number",
        purpose="Do as many checkpoints stay as are to be retained, the new one stored before an old one goes?",
        method="One and two are retained; publications fail, or the coordinator dies in front of one.",
        passes="When a checkpoint begins no more than that stay, and none is dropped for one that is not stored.",
        decides=(
            Decision("RET-01", "RETAIN", ("too-many-retained",), "retains-one-more"),
            Decision("RET-01", "REACH", ("dropped-too-early",), "drops-before-storing"),
        ),
        plan=STORED_FIRST,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="retention/leaves",
        purpose="Does a job leave its checkpoints to the user where its policy demands it?",
        method="Each policy is combined with each end that keeps.",
        passes="All that were retained are left, with all their files.",
        decides=(Decision("RET-02", "RETAIN", ("discarded-wrongly",), "discards-everything"),),
        plan=LEAVES,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="retention/discards",
        purpose="Does a job discard its checkpoints where its policy demands it?",
        method="Each policy is combined with each end that does not keep.",
        passes="None is left.",
        decides=(Decision("RET-02", "RETAIN", ("kept-wrongly",), "keeps-everything"),),
        plan=DISCARDS,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="retention/struck-end",
        purpose="Does a job end as requested, though a fault strikes its end?",
        method="Its record is slow to be stored, and the coordinator dies in front of a deletion.",
        passes="No coordinator takes the job up again, and its policy decides which checkpoints stay.",
        decides=(Decision("RET-02", "RETAIN", ("discarded-wrongly", "kept-wrongly"), "discards-everything"),),
        plan=DURING_END,
    ),
    Case(
        id="retention/by-path",
        purpose="Does a job on a fresh cluster continue from a retained checkpoint that it is given by path?",
        method="A job is cancelled or suspended and another submitted, with kills of workers and coordinator in it.",
        passes="It restores that checkpoint, continues with the next id, and the output of both is right, once.",
        decides=(
            Decision("RET-03", "RETAIN", ("restored-elsewhere",), "ignores-path"),
            Decision("TRG-02", "COORD", ("wrong-first-id",), "counts-from-one"),
            Decision("RET-04", "RETAIN", ("deleted-after-end",), "claims-restored"),
        ),
        windows=(Window.RESTORED_STATE,),
        plan=RESUMED,
        mutant_plan=RESUMED[0],
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="retention/without-path",
        purpose="Does a job that is given no path start empty, say so, and leave alone what others have left?",
        method="A job is cancelled, and another submitted on the same root without a path.",
        passes="It starts empty and reports so, and what the first has left is all there at the end.",
        decides=(
            Decision("RET-03", "RETAIN", ("start-not-reported",), "shares-folder"),
            Decision("RET-04", "RETAIN", ("deleted-after-end",), "sweeps-root"),
        ),
        plan=EMPTY,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="retention/failed-deletions",
        purpose="Does a deletion that fails fail nothing else?",
        method="Deletions of dropped checkpoints fail, before or after they took effect.",
        passes="No checkpoint is aborted and no failure counted.",
        decides=(Decision("RET-05", "RETAIN", ("failed-deletion-fails",), "fails-with-deletion"),),
        plan=FAILED_DELETIONS,
        tiers=plans.EVERYWHERE,
    ),
    Case(
        id="retention/in-use",
        purpose="Does a checkpoint stay while tasks restore it?",
        method="A worker is killed, and the state is slow to be read.",
        passes="Nothing of the checkpoint is deleted before all tasks run.",
        decides=(Decision("RET-05", "RETAIN", ("deleted-in-use",), "drops-restored"),),
        plan=IN_USE,
        tiers=plans.EVERYWHERE,
    ),
)
