"""Histories for LOCAL: two sums keep copies of checkpoint 1 on their workers, and one of them is restored."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, at, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    ack_sent,
    attempt,
    completed,
    decline_sent,
    died,
    failure,
    heard,
    storage_failed,
    task,
)

ON = {
    **OPTIONS,
    "execution.state-recovery.from-local": "true",
    "execution.checkpointing.dir": "file:///checkpoints",
}
IN_MEMORY = {**OPTIONS, "execution.state-recovery.from-local": "true"}
COPY = "job-0/sum[0]/copy-1"
STORED = "checkpoints/job-0/chk-1/sum[0]"


def written(checkpoint: int = 1, subtask: str = "sum[0]") -> events.LocalCopyWritten:
    path, files = (f"job-0/{subtask}/copy-{checkpoint}", (f"checkpoints/job-0/chk-{checkpoint}/{subtask}",))
    return events.LocalCopyWritten(subtask=subtask, checkpoint=checkpoint, path=path, files=files)


def restarted(*lines: Line, before: tuple[Line, ...] = ()) -> list[Line]:
    """Both sums write their copies and restore; what is said of the first is in `lines`."""
    return [
        *(task(f"sum[{index}]") for index in (0, 1)),
        written(),
        written(subtask="sum[1]"),
        completed(),
        *before,
        attempt(1),
        events.LocalCopyUsed(subtask="sum[1]", checkpoint=1, path="job-0/sum[1]/copy-1"),
        task("sum[1]", 1),
        *lines,
    ]


bad, near = exhibits("LOCAL", attempt(), options=ON)

bad("kept-though-off", "copies of what is in memory", written(), options=IN_MEMORY)
bad("kept-though-off", "copies that nobody asked for", written(), options=OPTIONS)
near("kept-though-off", "no copies of what is in memory", options=IN_MEMORY)


bad(
    "local-failure-counts", "a failed copy declines the checkpoint",
    at("worker-0.0", storage_failed("write-local", COPY, "full", injected=True, subtask="sum[0]"), 1),
    decline_sent("sum[0]"),
)  # fmt: skip
near(
    "local-failure-counts", "a failed copy is acknowledged all the same",
    at("worker-0.0", storage_failed("write-local", COPY, "full", injected=True, subtask="sum[0]"), 1),
    ack_sent("sum[0]"),
)  # fmt: skip

bad(
    "acked-unstored", "state that is local alone is acknowledged",
    at("worker-0.0", storage_failed("write-state", COPY, "full", injected=True, subtask="sum[0]"), 1),
    ack_sent("sum[0]"),
)  # fmt: skip
near(
    "acked-unstored", "state that is local alone is declined",
    at("worker-0.0", storage_failed("write-state", COPY, "full", injected=True, subtask="sum[0]"), 1),
    decline_sent("sum[0]"),
)  # fmt: skip

bad(
    "spoilt-copy-used",
    "a copy that was changed is used",
    restarted(
        events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=COPY),
        task("sum[0]", 1),
        before=(events.LocalCopySpoilt(worker=0, way="flip", paths=(COPY,)),),
    ),
)
bad(
    "spoilt-copy-used",
    "the copy of another checkpoint is used",
    restarted(
        events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path="job-0/sum[0]/copy-2"),
        task("sum[0]", 1),
        before=(written(2), events.LocalCopySpoilt(worker=0, way="flip", paths=(COPY,))),
    ),
)
bad(
    "spoilt-copy-used",
    "a copy is used that another has overwritten",
    restarted(
        events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=COPY),
        task("sum[0]", 1),
        before=(events.LocalCopyWritten(subtask="sink[0]", checkpoint=1, path=COPY),),
    ),
)
near(
    "spoilt-copy-used", "an intact copy is used",
    restarted(events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=COPY), task("sum[0]", 1)),
)  # fmt: skip

bad(
    "spoilt-copy-fatal",
    "a changed copy fails the attempt",
    restarted(
        failure("restore of checkpoint 1: it is damaged", "sum[0]"),
        before=(events.LocalCopySpoilt(worker=0, way="flip", paths=(COPY,)),),
    ),
)
near(
    "spoilt-copy-fatal",
    "a changed copy is passed over",
    restarted(
        events.LocalCopyRefused(subtask="sum[0]", checkpoint=1, reason="damaged"),
        task("sum[0]", 1),
        before=(events.LocalCopySpoilt(worker=0, way="flip", paths=(COPY,)),),
    ),
)

bad(
    "intact-copy-unused", "an intact copy is passed over",
    restarted(events.LocalCopyRefused(subtask="sum[0]", checkpoint=1, reason="absent"), task("sum[0]", 1)),
)  # fmt: skip
near(
    "intact-copy-unused", "an intact copy and no store",
    restarted(events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=COPY), task("sum[0]", 1)),
)  # fmt: skip
bad(
    "intact-copy-unused",
    "the store is read besides",
    restarted(
        events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=COPY),
        events.StateFileRead(path=STORED, reader="worker-0.0"),
        task("sum[0]", 1),
    ),
)
near(
    "intact-copy-unused",
    "a disk that cannot be read",
    restarted(
        at("worker-0.0", storage_failed("read-local", COPY, injected=True, subtask="sum[0]"), 2),
        events.LocalCopyRefused(subtask="sum[0]", checkpoint=1, reason="injected error"),
        task("sum[0]", 1),
    ),
)


bad(
    "copy-left", "an old copy lies there",
    written(), heard("sum[0]", 1, 2, 3), events.LocalDiskListed(worker=0, paths=(COPY,)),
)  # fmt: skip
near(
    "copy-left", "the newest copy lies there",
    written(), written(3), heard("sum[0]", 1, 2, 3), events.LocalDiskListed(worker=0, paths=("job-0/sum[0]/copy-3",)),
)  # fmt: skip

bad(
    "moved",
    "two subtasks change places",
    restarted(
        events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=COPY),
        task("sum[0]", 1),
        at("worker-1.0", task("sink[0]", 1), 2),
        at("worker-0.0", task("sink[1]", 1), 2),
        before=tuple(task(f"sink[{i}]") for i in (0, 1)),
    ),
)
near(
    "moved", "a worker is gone",
    restarted(at("worker-1.0", task("sum[0]", 1), 2), before=(died("worker-0.0", "killed"),)),
)  # fmt: skip
