"""TPC-04, TPC-05, TPC-07, TPC-09, E2E-04: commits that fail or come too late, and a process that ends at any step."""

from __future__ import annotations

from holdfast.harness.spi.errors import Damaged, Incompatible, Transient
from holdfast.harness.spi.sink import Committable, DeliveryGuarantee, OutcomeKind, SinkFlag
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.connector_kit import Crashed
from holdfast.suites.certify.sink.attempts import Attempt
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.jobs import DONE, Job, changed

TWO_PHASE = frozenset({SinkFlag.TWO_PHASE})
FAULTS = TWO_PHASE | {SinkFlag.FAULT_POINTS}
MOST_POINTS = 200
MANY = 130
"""Transactions in one call."""


def errors(bench: Bench) -> None:
    """Each step of a commit fails, before it acts and behind it: RETRY or Transient, and then it succeeds."""
    for number in range(MOST_POINTS):
        job = bench.job(f"job{number}")
        job.write(0)
        job.write_long(1)
        job.complete(job.prepare())
        bench.points.arm(number, crash=False)
        bench.step(f"no answer to step {number} of the commit")
        job.commit()
        if not bench.points.struck:
            break
        bench.hit("failed-step")
        bench.check()
        job.write(0)
        job.checkpoint()
        bench.check()
        job.end()


def versions(bench: Bench) -> None:
    """Committables of a version that is not readable are refused, and none beside them is committed."""
    job, right = _promised(bench)
    foreign = changed(right, version=max(bench.description.readable_versions) + 1_000)
    _refused(bench, job, [foreign], (Incompatible,))
    _refused(bench, job, [right, foreign], (Incompatible,))
    for _ in range(MANY):  # Who commits in portions has committed one when it comes to the last.
        job.write(0, 1)
        job.complete(job.prepare())
    _refused(bench, job, [*job.restored, foreign], (Incompatible,))
    job.commit()
    bench.check()
    try:
        job.attempt.sink.begin([foreign], now_ms=bench.now_ms)
    except Incompatible:
        return
    raise Violation(bench.rule, f"begin() took a committable of version {foreign.version}; Incompatible is right.")


def unknown(bench: Bench) -> None:
    """What this sink has not written is never said to be committed."""
    job, right = _promised(bench)
    for content in (b"", b"certainly no committable", right.content[:-1]):
        _refused(bench, job, [changed(right, content=content)], (Damaged, Incompatible))


def _promised(bench: Bench) -> tuple[Job, Committable]:
    job = bench.job()
    job.write(0)
    job.complete(job.prepare())
    return job, job.completed[0].committables[0]


def _refused(bench: Bench, job: Job, committables: list[Committable], errors: tuple[type[Exception], ...]) -> None:
    bench.step(f"commit {committables}")
    try:
        outcomes = job.attempt.sink.commit(committables, now_ms=bench.now_ms)
    except errors:
        bench.check()
        return
    if errors == (Incompatible,) or any(each.kind is not OutcomeKind.FAILED for each in outcomes):
        names = " or ".join(each.__name__ for each in errors)
        raise Violation(bench.rule, f"commit() returned {[each.kind.value for each in outcomes]}; {names} is right.")
    bench.check()


def expired(bench: Bench) -> None:
    """Downtime past the timeout: the rows are visible, or the loss is said, once and for all attempts, and is no loss
    of what is committed in the same call."""
    timeout_ms = bench.description.transaction_timeout_ms
    if timeout_ms is None:
        raise CannotTry("its transactions never expire, as it declares")
    job = bench.job()
    job.write(0)
    job.complete(job.prepare())
    bench.now_ms += timeout_ms + 1
    bench.step(f"{timeout_ms + 1} ms go by")
    [promise] = [each for each in job.completed if each.rows]
    kinds = {each.kind for each in job.commit_once([promise])}
    seen = set(bench.rows())
    bench.hit("past-the-timeout")
    if kinds <= DONE and not seen.issuperset(promise.rows):
        raise Violation(bench.rule, "an expired transaction is said to be committed, and its rows are not visible.")
    if OutcomeKind.FAILED in kinds and seen & set(promise.rows):
        raise Violation(bench.rule, "an expired transaction has failed, and its rows are visible.")
    if OutcomeKind.RETRY in kinds:
        raise Violation(bench.rule, "an expired transaction is to be retried for ever; failed is right.")
    if OutcomeKind.FAILED in kinds:
        job.crash()
        later = Attempt(bench, job.name, job.operator, job.attempt.number + 1)
        later.sink.begin(promise.committables, now_ms=bench.now_ms)
        job.dead.append(later)
        later.deploy(1)
        later.write(0, [job.row()])
        fresh = later.prepare(0, job.newest_checkpoint + 1)
        outcomes = [each.kind for each in job.commit_once([promise, fresh], later)]
        expired_ones = len(promise.committables)
        seen = set(bench.rows())
        if DONE & {*outcomes[:expired_ones]} or seen & set(promise.rows):
            raise Violation(bench.rule, "a transaction that had failed is committed by a later attempt.")
        if OutcomeKind.FAILED in (kinds := {*outcomes[expired_ones:]}) or (kinds <= DONE and not seen >= {*fresh.rows}):
            raise Violation("TPC-05", "what is committed in the same call as an expired transaction is lost with it.")


def in_time(bench: Bench) -> None:
    """One millisecond before the timeout is in time, however long before the first phase the rows were written."""
    job = bench.job()
    wait_ms = (bench.description.transaction_timeout_ms or 10**9) - 1
    job.write(0)
    bench.now_ms += wait_ms
    job.complete(job.prepare())
    bench.now_ms += wait_ms
    job.commit()
    bench.check()


CHECKS = (
    Check("TPC-05/errors", "An error at any step of a commit is passed on, and the commit succeeds again.", errors,
          FAULTS, ("failed-step",)),
    Check("TPC-05/versions", "A version that is not readable is refused.", versions, TWO_PHASE),
    Check("TPC-05/unknown", "What it has not written is never committed.", unknown, TWO_PHASE),
    Check("TPC-07/expired", "An expired transaction is a loss that is said.", expired, TWO_PHASE,
          ("past-the-timeout",)),
    Check("TPC-07/in-time", "Before its timeout no transaction expires.", in_time, TWO_PHASE),
)  # fmt: skip


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
CRASHES = (
    Check("TPC-04/crashes", "The process ends at any step: nothing is lost or repeated.", crashes, FAULTS, STRUCK),
    Check("TPC-04/failures", "An error at any step ends the attempt at worst.", failures, FAULTS, STRUCK),
    Check("TPC-09/crashes", "The process ends at any step: the table is right.", table_crashes, UPSERTS, STRUCK),
    Check("E2E-04/crashes", "The process ends at any step: nothing is lost.", log_crashes, LOGS, STRUCK),
)
