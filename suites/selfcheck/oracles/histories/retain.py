"""Histories for RETAIN: what becomes of completed checkpoints, and what a next job restores."""

from __future__ import annotations

from holdfast.harness.model import events, profile
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, exhibits, injected, on, undecided
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED,
    CANCELLING,
    FAILED,
    RUNNING,
    attempt,
    completed,
    deleted,
    died,
    drawn,
    dropped,
    failure,
    listed,
    published,
    savepoint_completed,
    storage_failed,
    submitted,
    switched,
    unrecovered,
)

POLICY = "execution.checkpointing.externalized-checkpoint-retention"
INTERVAL = {"execution.checkpointing.interval": "100 ms"}
KEEPING = {**INTERVAL, POLICY: "RETAIN_ON_CANCELLATION"}
DELETION = FaultSpec("storage-error", Target(Role.STORAGE), parameters={"operation": "delete"})


def file(checkpoint: int) -> events.FileReference:
    return events.FileReference(f"chk-{checkpoint}/_metadata", 10, 7)


def whole(checkpoint: int) -> list[Line]:
    return [drawn(checkpoint), published(checkpoint, file(checkpoint)), completed(checkpoint)]


def ended(*settled: Line) -> list[Line]:
    return [switched(CANCELLING), *settled, switched(CANCELED)]


def next_job(path: str, restored: int | None) -> list[Line]:
    """Another job that is given a path, and what its first attempt restores."""
    submitted_line = submitted(path, 1 if path else None, job=1)
    return [submitted_line, attempt(restored, number=1_001)]


bad, near = exhibits("RETAIN", submitted(), attempt(), options=INTERVAL)

bad("too-many-retained", "older stays", switched(RUNNING), whole(1), whole(2), drawn(3))
near("too-many-retained", "older is dropped", switched(RUNNING), whole(1), whole(2), dropped(1), drawn(3))


def _succeeded(restored: int) -> list[Line]:
    """A coordinator dies, and its successor goes on from a checkpoint."""
    return [died("coordinator", "killed"), attempt(restored), switched(RUNNING)]


PUBLISHED_BEFORE_ITS_DEATH: list[Line] = [switched(RUNNING), whole(1), drawn(2), published(2, file(2))]
"""A coordinator publishes a checkpoint and dies before that completes."""


near(
    "too-many-retained", "one that the successor does not know stays",
    *PUBLISHED_BEFORE_ITS_DEATH, _succeeded(1), whole(3), dropped(1), drawn(4),
)  # fmt: skip


def _died_before_it_dropped(*more: Line, left: int = 2) -> list[Line]:
    """A coordinator dies between completions and what these make surplus; a successor restores the last one."""
    restored = attempt(left)
    dead = died("coordinator.0", "killed")
    done = [whole(checkpoint) for checkpoint in range(1, left + 1)]
    return [switched(RUNNING), *done, at("harness", dead), at("coordinator.1", restored), *more]


near(
    "too-many-retained", "what a dead coordinator left stays until the next completion",
    _died_before_it_dropped(at("coordinator.1", drawn(3))),
)  # fmt: skip
near(
    "too-many-retained",
    "two dead coordinators left one each",
    _died_before_it_dropped(
        on("coordinator.1", *whole(3)),
        died("coordinator.1", "killed"),
        at("coordinator.2", attempt(3)),
        at("coordinator.2", drawn(4)),
    ),
)
bad(
    "too-many-retained", "a dead coordinator left two too many",
    _died_before_it_dropped(at("coordinator.1", drawn(4)), left=3),
)  # fmt: skip
bad(
    "too-many-retained", "what a dead coordinator left stays behind the next completion",
    _died_before_it_dropped(on("coordinator.1", *whole(3)), dropped(1), at("coordinator.1", drawn(4))),
)  # fmt: skip
bad(
    "too-many-retained", "one that the successor restores stays",
    *PUBLISHED_BEFORE_ITS_DEATH, _succeeded(2), dropped(1), whole(3), drawn(4),
)  # fmt: skip
bad(
    "too-many-retained", "one that a later successor restores stays",
    *PUBLISHED_BEFORE_ITS_DEATH, _succeeded(1), _succeeded(2), whole(3), dropped(1), drawn(4),
)  # fmt: skip
bad(
    "too-many-retained", "one that its own coordinator published stays",
    switched(RUNNING), whole(1), drawn(2), published(2, file(2)), attempt(1), drawn(3),
)  # fmt: skip

bad("deleted-in-use", "deleted during restore", switched(RUNNING), whole(1), attempt(1), dropped(1))
near(
    "deleted-in-use", "dropped after restore",
    switched(RUNNING), whole(1), attempt(1), switched(RUNNING), whole(2), dropped(1),
)  # fmt: skip

FAILED_DELETION: list[Line] = [
    switched(RUNNING), whole(1), injected("storage-error", "storage[0]"), whole(2), dropped(1),
    storage_failed("delete", file(1).path, "no answer"),
]  # fmt: skip


bad("failed-deletion-fails", "job fails with deletion", *FAILED_DELETION, failure("deletion"), faults=(DELETION,))
near("failed-deletion-fails", "deletion fails alone", *FAILED_DELETION, whole(3), faults=(DELETION,))

# A task fails behind the end of the run, in which the harness stops everything.
near(
    "failed-deletion-fails", "the harness ends the run",
    switched(RUNNING), whole(1), injected("storage-error", "storage[0]"), whole(2), dropped(1),
    storage_failed("delete", file(1).path, "no answer"), failure("stopped"),
    end=RunEnd(reached=True, ended_ns=13 * MS - 1), faults=(DELETION,),
)  # fmt: skip


# No fault of the plan: whatever needs the store fails with it.
undecided(
    "RETAIN", "store fails by itself",
    submitted(), attempt(), switched(RUNNING), whole(1), whole(2), dropped(1),
    storage_failed("delete", file(1).path, "no answer"), failure("no answer"),
    options=INTERVAL,
)  # fmt: skip


bad(
    "kept-wrongly", "left though discarded",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)),
)  # fmt: skip
bad("kept-wrongly", "forgotten though discarded", switched(RUNNING), whole(1), ended())
near("kept-wrongly", "discarded at the end", switched(RUNNING), whole(1), ended(dropped(1)))


UNREAD: list[Line] = [unrecovered(2, "damaged"), switched(FAILED), dropped(1)]
"""A coordinator cannot read its store, and the job fails; it drops the first checkpoint."""

bad(
    "kept-wrongly", "kept though seen",
    switched(RUNNING), whole(1), whole(2), on("coordinator.1", published(1, file(1)), published(2, file(2)), *UNREAD),
)  # fmt: skip
near(
    "kept-wrongly", "never seen",
    switched(RUNNING), whole(1), whole(2), on("coordinator.1", published(1, file(1)), *UNREAD),
)  # fmt: skip

CLAIMS_AND_FAILS: list[Line] = [
    switched(RUNNING), savepoint_completed(1, file(1).path, file(1)), whole(2), ended(dropped(2)),
    submitted(file(1).path, 1, job=1),
]  # fmt: skip
"""A job is given a savepoint, which it is to own, and fails."""


bad(
    "kept-wrongly", "claimed and kept",
    *CLAIMS_AND_FAILS, attempt(1, number=1_001), on("", switched(FAILED), attempt=1_001),
    options={**INTERVAL, profile.CLAIM_MODE: "CLAIM"},
)  # fmt: skip
near(
    "kept-wrongly", "given and never begun from",
    *CLAIMS_AND_FAILS, on("", switched(FAILED), attempt=1_001),
    options={**INTERVAL, profile.CLAIM_MODE: "CLAIM"},
)  # fmt: skip

bad("discarded-wrongly", "dropped though kept", switched(RUNNING), whole(1), ended(dropped(1)), options=KEEPING)
near(
    "discarded-wrongly", "left to the user",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)),
    options=KEEPING,
)  # fmt: skip
near(
    "discarded-wrongly", "one that completes while the job ends takes its place",
    switched(RUNNING), whole(1),
    ended(*whole(2), dropped(1), events.CheckpointRetained(checkpoint=2, path=file(2).path)),
    options=KEEPING,
)  # fmt: skip

bad(
    "deleted-after-end", "deleted by somebody",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)),
    deleted(file(1), by="coordinator.0"),
    options=KEEPING,
)  # fmt: skip
bad(
    "deleted-after-end", "gone at the end",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)),
    listed(*tuple(map(file, ()))),
    options=KEEPING,
)  # fmt: skip
near(
    "deleted-after-end", "still there",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)),
    listed(*tuple(map(file, (1,)))),
    options=KEEPING,
)  # fmt: skip

bad(
    "restored-elsewhere", "path is ignored",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)),
    next_job(file(1).path, None),
    options=KEEPING,
)  # fmt: skip
near(
    "restored-elsewhere", "path is restored",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)),
    next_job(file(1).path, 1),
    options=KEEPING,
)  # fmt: skip

bad(
    "start-not-reported", "restores what nobody gave",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)), next_job("", 1),
    options=KEEPING,
)  # fmt: skip
near(
    "start-not-reported", "starts empty",
    switched(RUNNING), whole(1), ended(events.CheckpointRetained(checkpoint=1, path=file(1).path)), next_job("", None),
    options=KEEPING,
)  # fmt: skip


bad(
    "dropped-left", "a dropped checkpoint is never deleted",
    switched(RUNNING), whole(1), whole(2), dropped(1), whole(3), dropped(2), deleted(file(2), by="coordinator.0"),
    whole(4), dropped(3), deleted(file(3), by="coordinator.0"), whole(5), dropped(4),
    listed(*tuple(map(file, (1, 4, 5)))),
)  # fmt: skip
near(
    "dropped-left", "the last one is not due yet",
    switched(RUNNING), whole(1), whole(2), dropped(1), deleted(file(1), by="coordinator.0"), whole(3), dropped(2),
    deleted(file(2), by="coordinator.0"), whole(4), dropped(3), deleted(file(3), by="coordinator.0"), whole(5),
    dropped(4), listed(*tuple(map(file, (4, 5)))),
)  # fmt: skip
near(
    "dropped-left",
    "its coordinator was gone before it could be deleted",
    switched(RUNNING),
    whole(1),
    whole(2),
    dropped(1),
    died("coordinator.0"),
    on(
        "coordinator.1",
        *whole(3),
        dropped(2),
        deleted(file(2)),
        *whole(4),
        dropped(3),
        deleted(file(3)),
        *whole(5),
        dropped(4),
        deleted(file(4)),
    ),
    listed(*tuple(map(file, (1, 5)))),
)
