"""Histories for SHARED: shared files that checkpoints reach, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.checkpoint import SavepointFormat
from holdfast.harness.model.events import (
    AckOutcome, CoordinatorClaimed, FileReference, FileWritten, SavepointTriggered, SharedFileUse, SharedHandle,
    SharedStateRegistered, SharedStateRejected, SharedStateReleased, StorageObserved,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    aborted, ack_sent, acked, attempt, deleted, dropped, finalized, heard, listed, triggered,
)  # fmt: skip

SUM = "sum[0]"
INTERVAL = {"execution.checkpointing.interval": "100 ms"}
OF_1_14 = {**INTERVAL, "holdfast.profile": "flink-1.14"}
ONE, TWO, THREE = (FileReference(f"shared/{name}", 10, name) for name in (1, 2, 3))


def acknowledged(
    checkpoint: int,
    *shared: SharedHandle,
    registers: Mapping[FileReference, int] | None = None,
    outcome: AckOutcome = AckOutcome.SUCCESS,
    subtask: str = SUM,
) -> list[Line]:
    """An acknowledgement, with what it names as stored by it.

    Then the coordinator registers shared files, each with how many checkpoints use it, if there are any.
    """
    files = tuple(handle.file for handle in shared if handle.file is not None)
    uses = tuple(SharedFileUse(f"{SUM}/{file.checksum}", file.path, n) for file, n in (registers or {}).items())
    return [*(FileWritten(node="worker-0.0", file=file) for file in files),
            ack_sent(subtask, checkpoint, *files, shared=shared), acked(checkpoint, subtask, outcome=outcome),
            *([SharedStateRegistered(checkpoint=checkpoint, files=uses)] if uses else [])]  # fmt: skip


WHOLE: dict[int, list[Line]] = {
    n: [triggered(n, SUM), *acknowledged(n, SharedHandle(str(n), file), registers={file: 1}),
        *finalized(n, SUM, files=(file,)), heard(SUM, n)]
    for n, file in ((1, ONE), (2, TWO), (3, THREE))
}  # fmt: skip
RESTS_ON_ONE: dict[tuple[int, int], list[Line]] = {
    (n, uses): [triggered(n, SUM),
                *acknowledged(n, SharedHandle("2", TWO), SharedHandle("1"), registers={TWO: 1, ONE: uses}),
                *finalized(n, SUM, files=(TWO, ONE)), heard(SUM, n)]
    for n, uses in ((2, 2), (2, 3), (3, 2))
}  # fmt: skip
"""By checkpoint and the uses that it counts of the file of the first one; its own is new."""

bad, near = exhibits("SHARED", CoordinatorClaimed(epoch=1), attempt(), options=INTERVAL)

bad("deleted-in-use", "goes with an older checkpoint",
    WHOLE[1], RESTS_ON_ONE[2, 2], dropped(1), deleted(ONE, by="coordinator.0"))  # fmt: skip
near("deleted-in-use", "goes with the last checkpoint",
     WHOLE[1], RESTS_ON_ONE[2, 2], dropped(1), WHOLE[3], dropped(2), deleted(ONE, by="coordinator.0"))  # fmt: skip
bad("deleted-in-use", "a pending checkpoint rests on it",
    WHOLE[1], triggered(2, SUM), triggered(3, SUM), acknowledged(3, SharedHandle("1"), registers={ONE: 2}), WHOLE[2],
    dropped(1), deleted(ONE, by="coordinator.0"))  # fmt: skip
bad("deleted-in-use", "it was gone when a snapshot referred to it",
    WHOLE[1], WHOLE[2], dropped(1), deleted(ONE, by="coordinator.0"), triggered(3, SUM),
    acknowledged(3, SharedHandle("1"), registers={ONE: 2}))  # fmt: skip
near("deleted-in-use", "the pending checkpoint was aborted",
     WHOLE[1], triggered(3, SUM), acknowledged(3, SharedHandle("1"), registers={ONE: 2}), WHOLE[2], aborted(3),
     dropped(1), deleted(ONE, by="coordinator.0"))  # fmt: skip
bad("deleted-in-use", "it goes while it is restored",
    WHOLE[1], attempt(1), dropped(1), deleted(ONE, by="coordinator.0"))  # fmt: skip
bad("deleted-in-use", "nobody finds what a pending checkpoint has",
    WHOLE[1][:-3], triggered(2, SUM), acknowledged(2, SharedHandle("2", TWO), registers={TWO: 1}), WHOLE[1][-3:],
    StorageObserved(checkpoint=1, coordinator="coordinator.0", recorded=99, paths=(ONE.path,), files=()))  # fmt: skip
near("deleted-in-use", "what a pending checkpoint has is found",
     WHOLE[1][:-3], triggered(2, SUM), acknowledged(2, SharedHandle("2", TWO), registers={TWO: 1}), WHOLE[1][-3:],
     StorageObserved(checkpoint=1, coordinator="coordinator.0", recorded=99, paths=(ONE.path, TWO.path),
                     files=()))  # fmt: skip

bad("unconfirmed-base", "rests on what was only uploaded",
    triggered(1, SUM), acknowledged(1, SharedHandle("1", ONE), registers={ONE: 1}), triggered(2, SUM),
    acknowledged(2, SharedHandle("2", TWO), SharedHandle("1"), registers={TWO: 1, ONE: 2}))  # fmt: skip
near("unconfirmed-base", "rests on what completed", WHOLE[1], RESTS_ON_ONE[2, 2])

bad("savepoint-shares", "a savepoint rests on a checkpoint",
    WHOLE[1], SavepointTriggered(checkpoint=2, folder="savepoints/1/", format=SavepointFormat.NATIVE),
    triggered(2, SUM), acknowledged(2, SharedHandle("1"), registers={ONE: 2}))  # fmt: skip
near("savepoint-shares", "a savepoint has everything itself",
     WHOLE[1], SavepointTriggered(checkpoint=2, folder="savepoints/1/", format=SavepointFormat.NATIVE),
     triggered(2, SUM), acknowledged(2), RESTS_ON_ONE[3, 2])  # fmt: skip

bad("wrong-files", "a placeholder becomes another file",
    triggered(1, SUM, "sum[1]"), acknowledged(1, SharedHandle("1", ONE), registers={ONE: 1}),
    acknowledged(1, SharedHandle("2", TWO), registers={ONE: 1, TWO: 1}, subtask="sum[1]"),
    *finalized(1, SUM, files=(ONE, TWO)), heard(SUM, 1), triggered(2, SUM),
    acknowledged(2, SharedHandle("1"), registers={ONE: 2}), *finalized(2, SUM, files=(TWO,)),
    heard(SUM, 2))  # fmt: skip
near("wrong-files", "equal names of two subtasks are two files",
     triggered(1, SUM, "sum[1]"), acknowledged(1, SharedHandle("1", ONE), registers={ONE: 1}),
     acknowledged(1, SharedHandle("1", TWO), registers={ONE: 1, TWO: 1}, subtask="sum[1]"),
     *finalized(1, SUM, files=(ONE, TWO)), heard(SUM, 1), triggered(2, SUM),
     acknowledged(2, SharedHandle("1"), registers={ONE: 2}), *finalized(2, SUM, files=(ONE,)),
     heard(SUM, 2))  # fmt: skip

bad("conflict-accepted", "one name for two files completes",
    WHOLE[1], triggered(2, SUM), acknowledged(2, SharedHandle("1", TWO), registers={TWO: 1}),
    *finalized(2, SUM, files=(TWO,)), heard(SUM, 2))  # fmt: skip
near("conflict-accepted", "one name for two files is rejected",
     WHOLE[1], triggered(2, SUM), acknowledged(2, SharedHandle("1", TWO)),
     SharedStateRejected(checkpoint=2, subtask=SUM, reason="one name for two files"), aborted(2))  # fmt: skip

bad("placeholder-accepted", "an unknown name completes",
    triggered(1, SUM), acknowledged(1, SharedHandle("1", ONE), SharedHandle("2"), registers={ONE: 1}),
    *finalized(1, SUM, files=(ONE,)), heard(SUM, 1))  # fmt: skip
near("placeholder-accepted", "an unknown name is rejected",
     triggered(1, SUM), acknowledged(1, SharedHandle("1", ONE), SharedHandle("2")),
     SharedStateRejected(checkpoint=1, subtask=SUM, reason="2 stands for nothing"), aborted())  # fmt: skip

bad("left-behind", "stays when no checkpoint reaches it",
    WHOLE[1], WHOLE[2], dropped(1), WHOLE[3], triggered(4, SUM), *finalized(4, SUM), heard(SUM, 4),
    listed(ONE, TWO, THREE))  # fmt: skip
near("left-behind", "goes when no checkpoint reaches it",
     WHOLE[1], WHOLE[2], dropped(1), deleted(ONE, by="coordinator.0"), WHOLE[3], triggered(4, SUM), *finalized(4, SUM),
     heard(SUM, 4), listed(TWO, THREE))  # fmt: skip

bad("late-state-left", "state of a late acknowledgement stays",
    triggered(1, SUM), aborted(), acknowledged(1, SharedHandle("1", ONE), outcome=AckOutcome.DISCARDED), WHOLE[2],
    WHOLE[3], listed(ONE, TWO, THREE))  # fmt: skip
near("late-state-left", "state of a late acknowledgement goes",
     triggered(1, SUM), aborted(), acknowledged(1, SharedHandle("1", ONE), outcome=AckOutcome.DISCARDED),
     deleted(ONE, by="coordinator.0"), WHOLE[2], WHOLE[3], listed(TWO, THREE))  # fmt: skip

bad("registered-untimely", "not registered with the acknowledgement",
    triggered(1, SUM), acknowledged(1, SharedHandle("1", ONE)), *finalized(1, SUM, files=(ONE,)),
    heard(SUM, 1))  # fmt: skip
bad("registered-untimely", "registered before all have acknowledged",
    triggered(1, SUM, "sum[1]"), acknowledged(1, SharedHandle("1", ONE), registers={ONE: 1}),
    options=OF_1_14)  # fmt: skip
near("registered-untimely", "registered when all have acknowledged",
     triggered(1, SUM, "sum[1]"), acknowledged(1, SharedHandle("1", ONE)),
     acknowledged(1, SharedHandle("2", TWO), registers={ONE: 1, TWO: 1}, subtask="sum[1]"),
     *finalized(1, SUM, files=(ONE, TWO)), heard(SUM, 1), options=OF_1_14)  # fmt: skip

bad("uses-misreported", "counts one use too many", WHOLE[1], RESTS_ON_ONE[2, 3])
near("uses-misreported", "counts uses down to none",
     WHOLE[1], WHOLE[2], dropped(1), SharedStateReleased(checkpoint=1, files=(SharedFileUse(f"{SUM}/1", ONE.path, 0),)),
     deleted(ONE, by="coordinator.0"))  # fmt: skip
