"""RSC-05, E2E-02: more than ten of everything, and more rows than a buffer has room for."""

from __future__ import annotations

from functools import partial

from holdfast.harness.spi.sink import SinkFlag
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.sink.bench import DONE, Attempt, Bench
from holdfast.suites.certify.sink.checks.attempts import ignored
from holdfast.suites.certify.sink.checks.phases import TWO_PHASE

MANY = 12
ROWS = 5_100
"""More than a buffer has room for, and no whole number of thousands."""
WRITES = 60
ORDERED_ROWS = 11_100
"""More than ten parts of a thousand rows, in one transaction of one key."""
LATE_LENGTH = 300
LONG_AGO = 270
WIDTH, CHECKPOINTS = 26, 10
"""Transactions of all checkpoints are more than a number of one byte has room for."""


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


def hundreds(bench: Bench) -> None:
    """A restore goes on from more than two hundred transactions: it keeps, commits, and knows each of them."""
    job = bench.job(parallelism=WIDTH)
    for _ in range(CHECKPOINTS):
        for subtask in range(WIDTH):
            job.write(subtask, 1)
        newest = job.prepare()
    job.complete(newest)
    promises = list(job.completed)
    for subtask in range(WIDTH):
        job.write(subtask, 1)
    job.restart(1)
    bench.check()
    bench.check_unfinished(job)
    kinds = {each.kind for each in job.commit_once(promises)}
    if not kinds <= DONE:
        raise Violation(
            bench.rule, f"a commit again of all that was restored is {min(kinds - DONE)}; already is right."
        )
    bench.check()


def late_rows(bench: Bench) -> None:
    """An attempt that is over writes more than a buffer has room for, and prepares: none of it becomes visible."""
    job = bench.job()
    old = job.attempt
    job.restart()
    bench.hit("zombie")
    for _ in range(WRITES):
        some = [row._replace(value=row.value.ljust(LATE_LENGTH)) for row in (job.row() for _ in range(ROWS // WRITES))]
        ignored(bench, partial(old.write, 0, some))
    bench.check()
    ignored(bench, lambda: job.commit_once([old.prepare(0, 99)], old))
    bench.check()
    job.write(0)
    job.checkpoint()
    bench.check()


def rows(bench: Bench) -> None:
    """One transaction of thousands of rows, in many writes; as many writes are behind the first phase."""
    job = bench.job(parallelism=1)
    for _ in range(WRITES):
        job.write(0, ROWS // WRITES)
    first = job.prepare()
    for _ in range(WRITES):
        job.write(0, 1)
    bench.check()
    job.complete(first)
    job.commit()
    bench.check()
    job.checkpoint()
    bench.check()


def order(bench: Bench) -> None:
    """Of one key, in more than ten transactions that are committed at once."""
    job = bench.job(parallelism=1)
    right = []
    for _ in range(MANY):
        right += job.write(0, 2, b"k")
        newest = job.prepare()
    job.complete(newest)
    job.commit()
    bench.check()
    bench.check_order(b"k", right)


def ordered_rows(bench: Bench) -> None:
    """Of one key, in one transaction of more than ten thousand rows, and in a short one behind it."""
    job = bench.job(parallelism=1)
    right = [row for _ in range(WRITES) for row in job.write(0, ORDERED_ROWS // WRITES, b"k")]
    job.checkpoint()
    right += job.write(0, 3, b"k")
    job.checkpoint()
    bench.check()
    bench.check_order(b"k", right)


def long_ago(bench: Bench) -> None:
    """What was committed before many others is committed again."""
    job = bench.job(parallelism=1)
    job.write(0, 1)
    job.complete(job.prepare())
    first = list(job.completed)
    job.commit()
    for _ in range(LONG_AGO):
        job.write(0, 1)
        job.checkpoint()
    kinds = {each.kind for each in job.commit_once(first)}
    if not kinds <= DONE:
        raise Violation(bench.rule, f"a commit again, {LONG_AGO} commits later, is {min(kinds)}; already is right.")
    bench.check()


def one_by_one(bench: Bench) -> None:
    """A later attempt commits what it goes on from in one call for each, and other objects of it are closed between
    them."""
    job = bench.job(parallelism=3, first_attempt=5)
    for subtask in range(3):
        job.write(subtask)
    job.complete(job.prepare())
    job.crash()
    late = Attempt(bench, job.name, job.operator, 6)
    late.sink.begin([each for promise in job.completed for each in promise.committables], now_ms=bench.now_ms)
    for promise in job.completed:
        kinds = {each.kind for each in job.commit_once([promise], late)}
        if not kinds <= DONE:
            raise Violation(bench.rule, f"a commit of a part of what was restored is {min(kinds)}; committed is right.")
        bench.sink(job.name, 6).close()
    job.settle()
    bench.check()


def closing(bench: Bench) -> None:
    """Another sink object of the attempt is closed while rows are open, and while they are prepared."""
    job = bench.job(parallelism=1)
    for _ in range(2):
        job.write(0)
        bench.sink(job.name, job.attempt.number).close()
        checkpoint = job.prepare()
        bench.sink(job.name, job.attempt.number).close()
        job.complete(checkpoint)
        job.commit()
        bench.check()


CHECKS = (
    Check("E2E-06/many-at-once", "Transactions that are committed at once stay in order.", order,
          TWO_PHASE | {SinkFlag.ORDERED}),
    Check("E2E-06/many-rows", f"A transaction of {ORDERED_ROWS} rows is in order.", ordered_rows,
          frozenset({SinkFlag.ORDERED})),
    Check("TPC-06/late-rows", "An attempt that is over shows no row, however many it writes.", late_rows,
          windows=("zombie",)),
    Check("TPC-04/hundreds", f"A restore commits {WIDTH * CHECKPOINTS} transactions, and knows each of them.", hundreds,
          TWO_PHASE, ("restarted",)),
    Check("TPC-05/long-ago", "A commit again changes nothing, however many there were since.", long_ago, TWO_PHASE),
    Check("TPC-04/one-by-one", "A restore commits what its checkpoint promised in any number of calls.", one_by_one,
          TWO_PHASE),
    Check("TPC-01/closing", "Whoever is closed takes nothing of others along.", closing, TWO_PHASE),
    Check("RSC-05/many-transactions", "More than ten subtasks and checkpoints wait for one commit.", transactions,
          TWO_PHASE, ("restarted",)),
    Check("E2E-03/many-rows", f"A transaction of {ROWS} rows is visible whole or not at all.", rows, TWO_PHASE),
)  # fmt: skip
