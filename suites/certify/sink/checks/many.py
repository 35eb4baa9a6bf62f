"""RSC-05, E2E-02: more than ten of everything, and more rows than a buffer has room for."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks.phases import TWO_PHASE

MANY = 12
ROWS = 5_100
WRITES = 60


def transactions(bench: Bench) -> None:
    """Twelve subtasks prepare for each of three checkpoints, then one of them for twelve; all of it is committed by
    fewer, at once."""
    for parallelism, checkpoints in ((MANY, 3), (1, MANY)):
        job = bench.job(f"job{parallelism}", parallelism)
        for _ in range(checkpoints):
            for subtask in range(parallelism):
                job.write(subtask, 1)
            newest = job.prepare()
        for subtask in range(parallelism):
            job.write(subtask, 1)
        bench.check()
        job.complete(newest)
        job.restart(max(1, parallelism - 1))
        bench.check()
        bench.check_unfinished(job)


def rows(bench: Bench) -> None:
    """One transaction of thousands of rows, in many writes; half of the writes are behind the first phase."""
    job = bench.job(parallelism=1)
    for _ in range(WRITES):
        job.write(0, ROWS // WRITES // 2)
    first = job.prepare()
    for _ in range(WRITES):
        job.write(0, ROWS // WRITES // 2)
    bench.check()
    job.complete(first)
    job.commit()
    bench.check()
    job.checkpoint()
    bench.check()


CHECKS = (
    Check("RSC-05/many-transactions", "More than ten subtasks and checkpoints wait for one commit.", transactions,
          TWO_PHASE, ("restarted",)),
    Check("E2E-03/many-rows", f"A transaction of {ROWS // 2} rows is visible whole or not at all.", rows, TWO_PHASE),
)  # fmt: skip
