"""TPC-05 and TPC-07: commits again, commits that fail, and committables that are none."""

from __future__ import annotations

from holdfast.harness.spi.errors import Damaged, Incompatible
from holdfast.harness.spi.sink import Committable, OutcomeKind, SinkFlag
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.sink.bench import DONE, Attempt, Bench, Job, Promise, changed
from holdfast.suites.certify.sink.checks.phases import TWO_PHASE

FAULTS = TWO_PHASE | {SinkFlag.FAULT_POINTS}
TABLES = TWO_PHASE | {SinkFlag.UPSERT}
MOST_POINTS = 200


def twice(bench: Bench) -> None:
    """Again at once, again in a later attempt, and again behind other commits."""
    job = bench.job()
    job.write(0)
    job.write(1)
    job.complete(job.prepare())
    promises = list(job.completed)
    job.commit()
    _again(bench, job, promises)
    job.write(0)
    job.checkpoint()
    _again(bench, job, promises)
    job.restart()
    _again(bench, job, promises)
    job.restart(1)
    _again(bench, job, promises)


def _again(bench: Bench, job: Job, promises: list[Promise]) -> None:
    outcomes = job.commit_once(promises)
    bench.hit("committed-again")
    if wrong := [each for each in outcomes if each.kind not in DONE]:
        raise Violation(bench.rule, f"a commit again is {wrong[0].kind} ({wrong[0].reason}); already is right.")
    bench.check()


def replaced(bench: Bench) -> None:
    """What was committed and then replaced is committed again: the newer value stays."""
    job = bench.job()
    job.write(0, 2, b"k")
    job.complete(job.prepare())
    promises = list(job.completed)
    job.commit()
    bench.check()
    job.write(0, 1, b"k")
    job.checkpoint()
    bench.check()
    _again(bench, job, promises)
    job.restart()
    _again(bench, job, promises)
    job.write(1, 1, b"k")
    job.checkpoint()
    _again(bench, job, promises)


def lost_answers(bench: Bench) -> None:
    """The answer to a commit is lost: all of it is committed again, together with what came since."""
    job = bench.job()
    job.write(0)
    job.write(1)
    job.complete(job.prepare())
    job.commit_once(job.completed)
    bench.step("the answer is lost")
    job.doubt(job.completed)
    job.write(0)
    job.complete(job.prepare())
    bench.hit("answer-lost")
    job.commit()
    bench.check()


def errors(bench: Bench) -> None:
    """Each step of a commit fails, before it acts and behind it: RETRY or Transient, and then it succeeds."""
    for number in range(MOST_POINTS):
        job = bench.job(f"job{number}")
        job.write(0)
        job.write(1)
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


def beside_a_lost_one(bench: Bench) -> None:
    """One was aborted long ago; those in front of it and behind it are committed, and each outcome is in its place."""
    job = bench.job(parallelism=1)
    job.write(0)
    aborted = job.pending[job.prepare()]
    job.restart()
    for _ in range(2):
        job.write(0)
        job.complete(job.prepare())
    first, second = job.completed
    outcomes = [
        [each.kind for each in job.commit_once(promises)]
        for promises in ([first, *aborted, second], [*aborted, first, second], [first, second, *aborted])
    ]
    job.settle()
    bench.check()
    bench.hit("a-lost-one")
    lost = len(first.committables), 0, len(first.committables) + len(second.committables)
    for kinds, begin in zip(outcomes, lost, strict=True):
        end = begin + sum(len(promise.committables) for promise in aborted)
        if set(kinds[begin:end]) != {OutcomeKind.FAILED} or not {*kinds[:begin], *kinds[end:]} <= DONE:
            raise Violation(
                bench.rule,
                f"commit() returned {[kind.value for kind in kinds]}; failed is right for number {begin + 1} alone, "
                "which was aborted.",
            )


def versions(bench: Bench) -> None:
    """Committables of a version that is not readable are refused, and none beside them is committed."""
    job, right = _promised(bench)
    foreign = changed(right, version=max(bench.description.readable_versions) + 1_000)
    _refused(bench, job, [foreign], (Incompatible,))
    _refused(bench, job, [right, foreign], (Incompatible,))
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
    """Downtime past the timeout: the rows are visible, or the loss is said, once and for all attempts."""
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
        kinds = {each.kind for each in job.commit_once([promise], later)}
        if kinds & DONE or set(bench.rows()) & set(promise.rows):
            raise Violation(bench.rule, "a transaction that had failed is committed by a later attempt.")


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
    Check(
        "TPC-05/twice",
        "A commit again changes nothing, whoever does it and whenever.",
        twice,
        TWO_PHASE,
        ("committed-again",),
    ),
    Check("TPC-05/replaced", "A commit again puts no old value back.", replaced, TABLES, ("committed-again",)),
    Check(
        "TPC-05/lost-answers",
        "A commit whose answer was lost is repeated together with the next.",
        lost_answers,
        TWO_PHASE,
        ("answer-lost",),
    ),
    Check(
        "TPC-05/errors",
        "An error at any step of a commit is passed on, and the commit succeeds again.",
        errors,
        FAULTS,
        ("failed-step",),
    ),
    Check(
        "TPC-05/beside-a-lost-one",
        "One that is lost changes no outcome but its own.",
        beside_a_lost_one,
        TWO_PHASE,
        ("a-lost-one",),
    ),
    Check("TPC-05/versions", "A version that is not readable is refused.", versions, TWO_PHASE),
    Check("TPC-05/unknown", "What it has not written is never committed.", unknown, TWO_PHASE),
    Check(
        "TPC-07/expired", "An expired transaction is a loss that is said.", expired, TWO_PHASE, ("past-the-timeout",)
    ),
    Check("TPC-07/in-time", "Before its timeout no transaction expires.", in_time, TWO_PHASE),
)
