"""TPC-01 to TPC-03, E2E-03, CRD-07 and FIN-03: what is prepared, and when it becomes visible."""

from __future__ import annotations

from holdfast.harness.spi.sink import SinkFlag
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.sink.bench import Bench

TWO_PHASE = frozenset({SinkFlag.TWO_PHASE})


def invisible(bench: Bench) -> None:
    """A committed-only reader looks between any two calls."""
    job = bench.job()
    bench.check()
    for _ in range(2):
        job.write(0)
        bench.check()
        job.write(1)
        checkpoint = job.prepare()
        bench.check()
        job.write(0)
        bench.check()
        job.complete(checkpoint)
        bench.check()
        bench.hit("looked-before-the-commit")
        job.commit()
        bench.check()


def durable(bench: Bench) -> None:
    """The writers die behind `prepare`; another process commits what they promised."""
    job = bench.job()
    job.write(0)
    job.write(1)
    job.complete(job.prepare())
    for writer in job.attempt.writers:
        writer.close()
    job.restart()
    bench.check()


def none_above(bench: Bench) -> None:
    """Two checkpoints overlap; the notice of the first commits no row of the second."""
    job = bench.job()
    job.write(0)
    job.write(1)
    first = job.prepare()
    job.write(0)
    second = job.prepare()
    job.complete(first)
    job.commit()
    bench.check()
    bench.hit("overlapped")
    job.complete(second)
    job.commit()
    bench.check()


def alone(bench: Bench) -> None:
    """Of three checkpoints that completed each promise is committed by itself, the newest first: nothing else is
    visible with it."""
    job = bench.job()
    for _ in range(3):
        job.write(0)
        job.write(1)
        job.complete(job.prepare())
    for promise in reversed(job.completed):
        job.doubt([promise])
        job.commit_once([promise])
        bench.check()
    bench.hit("alone")
    job.commit()
    bench.check()


def subsumed(bench: Bench) -> None:
    """The notice of the first is lost; that of the second stands for both."""
    job = bench.job()
    job.write(0)
    job.complete(job.prepare())
    job.write(0)
    job.write(1)
    job.complete(job.prepare())
    bench.hit("notice-lost")
    job.commit()
    bench.check()


def aborted(bench: Bench) -> None:
    """What was prepared for an aborted checkpoint is visible with the next one, once."""
    job = bench.job()
    job.write(0)
    job.abort(job.prepare())
    bench.check()
    job.write(0)
    job.write(1)
    job.abort(job.prepare())
    job.write(1)
    bench.hit("aborted")
    job.checkpoint()
    bench.check()


def behind_prepare(bench: Bench) -> None:
    """Rows that come between `prepare` and the notice belong to the next checkpoint, and are in it."""
    job = bench.job()
    job.write(0)
    checkpoint = job.prepare()
    job.write(0)
    job.complete(checkpoint)
    job.write(0)
    job.commit()
    bench.check()
    job.write(0)
    job.checkpoint()
    bench.check()


def notices(bench: Bench) -> None:
    """Notices are lost, one of them with the whole attempt."""
    job = bench.job()
    for lost in (True, True, False, True):
        job.write(0)
        job.write(1)
        job.complete(job.prepare())
        if not lost:
            job.commit()
        bench.check()
    job.restart()
    bench.hit("notice-lost")
    bench.check()


def end_of_input(bench: Bench) -> None:
    """The final checkpoint completes, the writers are closed, and its transactions are there to be committed."""
    job = bench.job()
    job.write(0)
    job.checkpoint()
    job.write(1)
    checkpoint = job.prepare()
    for writer in job.attempt.writers:
        writer.close()
        writer.close()
    job.complete(checkpoint)
    bench.check()
    job.commit()
    bench.check()


def nothing(bench: Bench) -> None:
    """Checkpoints without a row, and subtasks without one."""
    job = bench.job()
    for _ in range(3):
        job.checkpoint()
        bench.check()
    job.write(1)
    job.checkpoint()
    job.checkpoint()
    bench.check()


CHECKS = (
    Check(
        "E2E-03/invisible",
        "No row is visible before its commit, nor part of one behind it.",
        invisible,
        TWO_PHASE,
        ("looked-before-the-commit",),
    ),
    Check("TPC-01/durable", "What is prepared outlives its writer.", durable, TWO_PHASE, ("restarted",)),
    Check("TPC-01/nothing", "A checkpoint without rows is one.", nothing, TWO_PHASE),
    Check(
        "TPC-02/none-above", "A notice commits nothing of a later checkpoint.", none_above, TWO_PHASE, ("overlapped",)
    ),
    Check("TPC-02/alone", "A commit commits nothing but what it names.", alone, TWO_PHASE, ("alone",)),
    Check("TPC-02/subsumed", "A notice commits what earlier ones left.", subsumed, TWO_PHASE, ("notice-lost",)),
    Check(
        "TPC-03/aborted",
        "Rows of an aborted checkpoint become visible with the next one.",
        aborted,
        TWO_PHASE,
        ("aborted",),
    ),
    Check(
        "TPC-03/behind-prepare", "Rows behind the first phase go into the next checkpoint.", behind_prepare, TWO_PHASE
    ),
    Check("CRD-07/notices", "Lost notices change nothing.", notices, TWO_PHASE, ("notice-lost", "restarted")),
    Check(
        "FIN-03/end",
        "What the final checkpoint promises is committed when its writers are closed.",
        end_of_input,
        TWO_PHASE,
    ),
)
