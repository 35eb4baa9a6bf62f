"""TPC-04, TPC-09 and E2E-04: the process ends at every step outside, one after the other."""

from __future__ import annotations

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.sink import DeliveryGuarantee, SinkFlag
from holdfast.suites.certify.check import CannotTry, Check
from holdfast.suites.certify.fault_points import Crashed
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks.commits import FAULTS, MOST_POINTS
from holdfast.suites.certify.sink.jobs import Job

UPSERTS = frozenset({SinkFlag.UPSERT, SinkFlag.FAULT_POINTS})
LOGS = frozenset({SinkFlag.FAULT_POINTS})


def crashes(bench: Bench) -> None:
    """Before and behind each step: the next attempt goes on from the newest completed checkpoint."""
    _at_each_step(bench, crash=True)


def failures(bench: Bench) -> None:
    """An error at each step, whose effect took place or not, in a writer as in a commit."""
    _at_each_step(bench, crash=False)


def table_crashes(bench: Bench) -> None:
    """The same where rows replace each other."""
    _at_each_step(bench, crash=True)
    _at_each_step(bench, crash=False, first=MOST_POINTS)


def log_crashes(bench: Bench) -> None:
    """The same where rows may repeat."""
    if bench.description.guarantee is not DeliveryGuarantee.AT_LEAST_ONCE:
        raise CannotTry("it claims more than at-least-once")
    table_crashes(bench)


def _at_each_step(bench: Bench, *, crash: bool, first: int = 0) -> None:
    for number in range(MOST_POINTS):
        job = bench.job(f"job{first + number}")
        bench.points.arm(number, crash=crash)
        bench.step(f"{'the end' if crash else 'an error'} at step {number}")
        struck = _lives(bench, job)
        bench.points.disarm()
        bench.check()
        job.write(0)
        job.checkpoint()
        bench.check()
        bench.check_unfinished(job)
        job.end()
        if not struck:
            break
        bench.hit("struck")


def _lives(bench: Bench, job: Job) -> bool:
    """Two checkpoints and a restart, in as many attempts as it takes; whether a step struck."""
    struck = False
    for _ in range(2):
        try:
            job.write(0)
            job.write_long(1)
            checkpoint = job.prepare()
            job.complete(checkpoint)
            job.commit()
        except (Crashed, Transient):
            struck = True
            job.restart()
        bench.check()
    try:
        job.restart(1)
    except Crashed:
        struck = True
        job.restart(2)
    return struck or bench.points.struck


STRUCK = ("struck",)
CHECKS = (
    Check("TPC-04/crashes", "The process ends at any step: nothing is lost or repeated.", crashes, FAULTS, STRUCK),
    Check("TPC-04/failures", "An error at any step ends the attempt at worst.", failures, FAULTS, STRUCK),
    Check("TPC-09/crashes", "The process ends at any step: the table is right.", table_crashes, UPSERTS, STRUCK),
    Check("E2E-04/crashes", "The process ends at any step: nothing is lost.", log_crashes, LOGS, STRUCK),
)
