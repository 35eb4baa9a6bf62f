"""Increments, and the files that checkpoints share (RULES INC)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from holdfast.faults.messages import disturb
from holdfast.faults.notices import lose_notices
from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.faults.user import savepoint
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Window
from holdfast.harness.model.checkpoint import SavepointFormat
from holdfast.harness.model.plan import FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.merged_files import BACKEND as GOLDEN
from holdfast.suites.conformance.plans import TOLERANT, TWO_RETAINED, WORKERS, case, decides, plan, with_needs

LONG = {"records": 240, "records_per_second": 200}
INCREMENTAL = {profile.BACKEND: "rocksdb", profile.INCREMENTAL: "true", **plans.STATE_IN_FILES}
SHARING = frozenset({Capability.INCREMENTAL_CHECKPOINTS})
PROFILES = (profile.FLINK_1_14, profile.FLINK_2)
WRONG_NAMES = "holdfast.fixtures.mutants.state_backends.increments"
IMPATIENT = {profile.TIMEOUT: "60 ms", **TOLERANT}


def _plan(version: str, *faults: FaultSpec, options: Mapping[str, str] = {}) -> Plan:
    return plan(*faults, options={**INCREMENTAL, profile.PROFILE: version, **options}, records=LONG)


def _golden(version: str, parallelism: int = 1) -> Plan:
    options = {**INCREMENTAL, **TWO_RETAINED, profile.BACKEND: GOLDEN, profile.PROFILE: version}
    return plan(options=options, topology=Topology(parallelism=parallelism))


AFTER_RESTARTS = tuple(
    _plan(version, *faults, options=options)
    for version, (faults, options) in product(
        PROFILES,
        (
            ((kill(WORKERS[0], after_checkpoint=3),), {}),
            ((kill(COORDINATOR, after_checkpoint=3),), TWO_RETAINED),
            ((slow_storage("delete", 90, 100, 1, after_checkpoint=1), kill(WORKERS[1], after_checkpoint=2)), {}),
        ),
    )
)
GIVEN_UP = tuple(
    _plan(version, *faults, options=TOLERANT)
    for version, faults in product(
        PROFILES,
        (
            (storage_error("write-state", 300, {"occurrences": 3}, after_checkpoint=2),),
            (storage_error("publish-metadata", 300, {"occurrences": 2}, after_checkpoint=2),),
        ),
    )
)
LATE = tuple(
    _plan(version, fault, options=IMPATIENT)
    for version, fault in product(
        PROFILES,
        (
            disturb("delay", "acknowledge", WORKERS[0], {"delay_ms": 80, "occurrences": 0}, after_checkpoint=2),
            disturb("double", "acknowledge", WORKERS[0], {"delay_ms": 70, "occurrences": 0}, after_checkpoint=1),
        ),
    )
)
NAME_AGAIN, NO_NAME = (
    tuple(_plan(version, options={profile.BACKEND: f"{WRONG_NAMES}:{backend}", **TOLERANT}) for version in PROFILES)
    for backend in ("GivesNameAgain", "RefersToNothing")
)
BETWEEN = tuple(
    _plan(version, savepoint(how=how, after_checkpoint=2), kill(WORKERS[0], after_checkpoint=5))
    for version, how in product(PROFILES, SavepointFormat)
)

CASES = with_needs(
    case("incremental/golden-run", "Are the files of the golden run shared, counted and deleted as the example says?",
         tuple(map(_golden, PROFILES)),
         decides("INC-04", "MERGES/checkpoint-files", "MERGES/live-files", wrong="never-releases"),
         decides("INC-04", "MERGES/uses", wrong="counts-one-use"), needs=SHARING, pictures=("shared-files",),
         method="The backend names and merges its files as the example does, with two checkpoints retained.",
         passes="CP1 to CP4 refer to its files, exactly its live files are stored, and their uses are its counts."),
    case("incremental/restarts", "Do shared files survive restarts, and deletions that outlast a restart?",
         AFTER_RESTARTS, decides("INC-02", "SHARED/deleted-in-use", wrong="deletes-with-dropped"),
         decides("INC-02", "SHARED/deleted-in-use", wrong="F1"), decides("INC-07", "SHARED/wrong-files", wrong="F5"),
         windows=(Window.RESTORED_STATE,), needs=SHARING,
         method="Workers and the coordinator are killed between increments, and deletions are slow.",
         passes="No file is deleted that a retained, pending or restoring checkpoint reaches."),
    case("incremental/pending-bases", "Does the base of a pending checkpoint stay, whatever completes meanwhile?",
         tuple(_plan(version, *faults, options={**plans.TWO_AT_ONCE, **TOLERANT})
               for version, faults in product(PROFILES,
                                              ((lose_notices(100, 400, after_checkpoint=1),),
                                               (slow_storage("write-state", 60, 300, after_checkpoint=2),)))),
         decides("INC-02", "SHARED/deleted-in-use", "SHARED/unconfirmed-base", wrong="forgets-bases"), needs=SHARING,
         method="Two checkpoints are pending at once, notices of completion are lost and uploads slow.",
         passes="Each snapshot rests on a checkpoint that had completed, and none of its files is gone."),
    case("incremental/given-up",
         "Are the files of checkpoints deleted that are aborted, and of none that later ones need?", GIVEN_UP,
         decides("INC-03", "SHARED/left-behind", wrong="keeps-aborted"),
         decides("INC-02", "SHARED/unconfirmed-base", wrong="F3"), needs=SHARING,
         method="Uploads and publications fail while increments go on.",
         passes="At the end exactly the files are stored that a checkpoint reaches."),
    case("incremental/late-acknowledgements",
         "Does the state of an acknowledgement that comes late neither leak nor delete files in use?", LATE,
         decides("INC-05", "SHARED/late-state-left", wrong="keeps-late-files"),
         decides("INC-05", "SHARED/deleted-in-use", wrong="deletes-late-files"),
         decides("INC-05", "SHARED/registered-untimely", wrong="registers-as-other-version"), needs=SHARING,
         method="Acknowledgements are delayed beyond the timeout of their checkpoint, or come twice, in both "
                "profiles.",
         passes="What only late acknowledgements brought is deleted, and all else stays; files are registered in "
                "time."),
    case("incremental/name-again", "Is a checkpoint rejected in which a subtask gives one name to two files?",
         NAME_AGAIN, decides("INC-07", "SHARED/conflict-accepted", wrong="takes-any-file"), needs=SHARING,
         method="The backend gives a new file the name of an older one, at every third checkpoint.",
         passes="That checkpoint is aborted, and the coordinator goes on to complete others."),
    case("incremental/unknown-name",
         "Is a checkpoint rejected in which a subtask refers to a file that no checkpoint holds?", NO_NAME,
         decides("INC-07", "SHARED/placeholder-accepted", wrong="leaves-out-unknown"), needs=SHARING,
         method="The backend adds a placeholder for an unknown name, at every third checkpoint.",
         passes="That checkpoint is aborted, and the coordinator goes on to complete others."),
    case("incremental/savepoint-between", "Does a savepoint between two increments leave the second one valid?",
         BETWEEN,
         decides("INC-06", "SHARED/savepoint-shares", "SHARED/deleted-in-use", "SHARED/unconfirmed-base",
                 wrong="rests-on-savepoint"),
         windows=(Window.RESTORED_STATE,), needs=SHARING,
         method="A savepoint is taken between increments, in both formats, and a worker killed later.",
         passes="The savepoint shares no file, increments rest on the checkpoint before it, and all are restored."),
    case("incremental/equal-names", "Are files of equal names apart when they belong to different subtasks?",
         tuple(_golden(version, parallelism=2) for version in PROFILES),
         decides("INC-07", "SHARED/wrong-files", wrong="mixes-subtasks"), needs=SHARING,
         method="Two subtasks give their files the names of the golden run.",
         passes="Each checkpoint names the files of both, and a restore gives each subtask its own."),
)  # fmt: skip
