"""TPC-01 and TPC-06: an attempt in another process, which knows of this one what they write to, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.sink import Row
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.outside.sink_performer import prepared
from holdfast.suites.certify.outside.telling import Act, Report
from holdfast.suites.certify.sink.bench import Bench, Job, Promise


def another_process(bench: Bench) -> None:
    """The next attempt begins there, and the one that is over goes on here."""
    job = bench.job()
    job.write(0)
    job.checkpoint()
    old, late = job.attempt, [job.row(b"a")]
    lost: Sequence[Promise] = ()
    if bench.two_phase:
        job.write(1)
        lost = job.pending[job.prepare()]
    row = job.row(b"a")
    _written(bench, job, row)
    if row not in bench.rows():
        if bench.description.committed_reader:
            raise Violation(bench.rule, f"{row.value!r} was committed by another process, and is not visible.")
        raise CannotTry("what another process writes is not seen in this one")
    job.owed[row] += 1
    job.table[row.key] = [row.value]
    bench.hit("zombie")
    _ignored(bench, lambda: job.commit_once(lost, old))
    _ignored(bench, lambda: old.write(0, late))
    _ignored(bench, lambda: job.commit_once([old.prepare(0, 99, late=True)], old))
    bench.check()


def _ignored(bench: Bench, call: Callable[[], object]) -> None:
    try:
        call()
    except (Fenced, Transient) as error:
        bench.step(f"    {error}")


def synchronised(bench: Bench) -> None:
    """Both phases in another process, whose calls of fsync are watched."""
    if bench.description.committed_reader == "sqlite":
        raise CannotTry("nobody sees what SQLite synchronises")
    job = bench.job()
    report = _written(bench, job, job.row())
    if not report.watched:
        raise CannotTry("it writes no files of this machine by Python, whose synchronisation could be watched")
    if report.unsafe:
        raise Violation(bench.rule, f"a loss of power takes away what was prepared or committed: {report.unsafe[0]}.")


def _written(bench: Bench, job: Job, row: Row) -> Report:
    """What came of the next attempt, which begins in another process, writes a row, and commits it."""
    number = job.attempt.number + 1
    bench.step(f"another process begins attempt {number}, writes {row.value!r}, prepares and commits")
    begin = Act("begin", epoch=number, now_ms=bench.now_ms)
    commit = Act("commit", now_ms=bench.now_ms)
    acts = [begin, prepared([row], 100, bench.now_ms), commit]
    report = bench.elsewhere(job.name).run(acts, counted_from=1)
    for outcome in report.outcomes:
        if outcome.error:
            raise Violation(bench.rule, f"another process met {outcome.error}: {outcome.text}")
    return report


CHECKS = (
    Check("TPC-06/another-process", "An attempt is over when the next one has begun in any process.", another_process,
          windows=("zombie",)),
    Check("TPC-01/synchronised", "What is prepared, and what is committed, survives a loss of power.", synchronised),
)  # fmt: skip
