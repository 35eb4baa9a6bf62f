"""TPC-01 and TPC-06: an attempt in another process, which knows of this one what they write to, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.sink import Row
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.outside.messages import Act, Report
from holdfast.suites.certify.outside.sink_performer import prepared
from holdfast.suites.certify.outside.victims import Victims
from holdfast.suites.certify.sink.attempts import Promise
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.jobs import Job


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
    bench.owed[row] += 1
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
    """The power is lost behind each phase of other processes, whose calls of fsync are watched."""
    if bench.description.committed_reader == "sqlite":
        raise CannotTry("nobody sees what SQLite synchronises")
    job = bench.job()
    others = bench.elsewhere(job.name)
    row, number = job.row(), job.attempt.number + 1
    bench.step(f"another process begins attempt {number}, writes {row.value!r} and prepares; then the power is lost")
    begin = Act("begin", epoch=number, now_ms=bench.now_ms)
    first = _done(others, [begin, prepared([row], 100, bench.now_ms)], power_lost=True)
    lost, watched = list(first.lost), first.watched
    if bench.two_phase:
        bench.step(f"one begins attempt {number + 1} with what was prepared, and commits; then the power is lost")
        begin = Act("begin", epoch=number + 1, content=first.outcomes[1].content, now_ms=bench.now_ms)
        try:
            second = _done(others, [begin, Act("commit", now_ms=bench.now_ms)], power_lost=True)
        except Violation as error:
            if lost:
                raise Violation(bench.rule, _took(lost)) from error
            raise
        lost.extend(second.lost)
        watched = watched or second.watched
    if not watched:
        raise CannotTry("it writes no files of this machine by Python, whose synchronisation could be watched")
    if lost and row not in bench.rows():
        raise Violation(bench.rule, _took(lost))


def _took(lost: Sequence[str]) -> str:
    return f"a loss of power takes away what was prepared or committed: {lost[0]}."


def _written(bench: Bench, job: Job, row: Row) -> None:
    """The next attempt begins in another process, writes a row, and commits it."""
    number = job.attempt.number + 1
    bench.step(f"another process begins attempt {number}, writes {row.value!r}, prepares and commits")
    begin = Act("begin", epoch=number, now_ms=bench.now_ms)
    _done(bench.elsewhere(job.name), [begin, prepared([row], 100, bench.now_ms), Act("commit", now_ms=bench.now_ms)])


def _done(others: Victims, acts: Sequence[Act], *, power_lost: bool = False) -> Report:
    report = others.run(acts, power_lost=power_lost)
    for outcome in report.outcomes:
        if outcome.error:
            raise Violation(others.rule, f"another process met {outcome.error}: {outcome.text}")
    return report


CHECKS = (
    Check("TPC-06/another-process", "An attempt is over when the next one has begun in any process.", another_process,
          windows=("zombie",)),
    Check("TPC-01/synchronised", "What is prepared, and what is committed, survives a loss of power.", synchronised),
)  # fmt: skip
