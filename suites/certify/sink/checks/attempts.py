"""TPC-04, TPC-06 and RSC-05: attempts that die, live on, and are wider or narrower than the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.sink import OutcomeKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.sink.bench import Attempt, Bench, Job
from holdfast.suites.certify.sink.checks.phases import TWO_PHASE

WIDE = 12
ALIKE = (
    *(("a", "b-c"), ("a-b", "c"), ("a", "b_c"), ("a_b", "c"), ("ab", "c"), ("a", "bc")),
    *(("A", "b-c"), ("A_B", "c"), ("a", "B_C"), ("axb", "c"), ("a", "bxc")),
)
"""Jobs and operators whose names are alike when they are written behind each other, with or without a sign between, in
letters of another case, or where `_` stands for any sign."""
WROTE = ((WIDE - 1,), (1, 4, WIDE - 1), (0, 2, 9))
"""Subtasks that wrote, of an attempt each; the others did not."""


def before_commit(bench: Bench) -> None:
    """The attempt dies between completion and commit, and in the middle of the commit."""
    for committed in range(3):
        job = bench.job(f"job{committed}")
        job.write(0)
        job.checkpoint()
        job.write(0)
        job.write(1)
        job.complete(job.prepare())
        job.write(0)
        for promise in job.completed[:committed]:
            job.commit_once([promise])
        job.restart()
        bench.check()
        job.write(0)
        job.checkpoint()
        bench.check()


def open_ones(bench: Bench) -> None:
    """What was not part of the checkpoint is aborted, open and prepared, and written again."""
    job = bench.job()
    job.write(0)
    job.checkpoint()
    lost = job.write(0)
    job.prepare()
    more = job.write(1)
    job.restart()
    bench.check()
    bench.check_unfinished(job)
    job.rewrite(lost)
    job.rewrite(more)
    job.checkpoint()
    bench.check()
    bench.check_unfinished(job)


def scaled_in(bench: Bench) -> None:
    """More than ten subtasks die before their first checkpoint, and one goes on."""
    job = bench.job(parallelism=WIDE)
    for subtask in range(WIDE):
        job.write(subtask)
    job.prepare()
    for subtask in range(WIDE):
        job.write(subtask)
    job.restart(1)
    bench.check()
    bench.check_unfinished(job)


def gaps(bench: Bench) -> None:
    """Few of many subtasks wrote, with subtasks between them that did not: what each of those left is aborted."""
    for case, subtasks in enumerate(WROTE):
        job = bench.job(f"job{case}", parallelism=WIDE)
        for subtask in subtasks:
            job.write(subtask)
        lost = job.pending[job.prepare()]
        for subtask in subtasks:
            job.write(subtask)
        job.restart(1)
        bench.check()
        bench.check_unfinished(job)
        kinds = {each.kind for each in job.commit_once(lost)}
        if kinds != {OutcomeKind.FAILED}:
            raise Violation(bench.rule, f"a commit of what begin() aborts is {min(kinds)}; failed is right.")
        bench.check()


def zombie_commit(bench: Bench) -> None:
    """A paused attempt goes on behind `begin` of the next: its late commit is refused, or changes nothing."""
    job = bench.job()
    job.write(0)
    old = job.attempt
    job.prepare()
    late = job.pending[1]
    job.restart()
    job.write(0)
    bench.hit("zombie")
    ignored(bench, lambda: job.commit_once(late, old))
    bench.check()
    job.checkpoint()
    bench.check()


def zombie_restored(bench: Bench) -> None:
    """Its late commit of what the next attempt goes on from, or has prepared itself, shows nothing before that one
    does."""
    job = bench.job()
    job.write(0)
    job.write(1)
    job.complete(job.prepare())
    old = job.attempt
    job.crash()
    restored = [each for promise in job.completed for each in promise.committables]
    bench.step("attempt 2 begins, and has not committed yet")
    bench.sink(job.name, 2).begin(restored, now_ms=bench.now_ms)
    bench.hit("zombie")
    ignored(bench, lambda: job.commit_once(job.completed, old))
    bench.check()
    job.start(2)
    bench.check()
    job.write(0)
    checkpoint = job.prepare()
    ignored(bench, lambda: job.commit_once(job.pending[checkpoint], old))
    bench.check()
    job.complete(checkpoint)
    job.commit()
    bench.check()


def zombie_writer(bench: Bench) -> None:
    """The old attempt writes, prepares and commits: none of it becomes visible."""
    job = bench.job()
    job.write(0)
    job.checkpoint()
    old = job.attempt
    job.restart()
    _goes_on(bench, job, old)
    job.write(0)
    job.checkpoint()
    bench.check()


def zombie_begin(bench: Bench) -> None:
    """The old attempt begins once more: what the new one has prepared stays."""
    job = bench.job()
    old = job.attempt
    job.restart()
    job.write(0)
    checkpoint = job.prepare()
    bench.hit("zombie")
    ignored(bench, lambda: old.sink.begin([], now_ms=bench.now_ms))
    job.complete(checkpoint)
    job.commit()
    bench.check()


def _goes_on(bench: Bench, job: Job, old: Attempt) -> None:
    """An attempt that is over writes, prepares and commits."""
    bench.hit("zombie")
    rows = [job.row(b"late")]
    ignored(bench, lambda: old.write(0, rows))
    ignored(bench, lambda: job.commit_once([old.prepare(0, 99)], old))
    bench.check()


def ignored(bench: Bench, call: Callable[[], object]) -> None:
    try:
        call()
    except (Fenced, Transient) as error:
        bench.step(f"    {error}")


def others(bench: Bench) -> None:
    """Jobs whose names begin alike share a place, and nothing else."""
    jobs = [bench.job(name) for name in ("job-1", "job-10", "job")]
    for job in jobs:
        job.write(0)
        job.complete(job.prepare())
    for job in jobs:
        job.write(1)
        job.restart()
        bench.check()
    for job in jobs:
        job.write(0)
        job.checkpoint()
    bench.check()


def other_operators(bench: Bench) -> None:
    """Operators whose names begin alike, and those of jobs that look alike with them, share a place and nothing
    else."""
    jobs = [bench.job(operator=operator) for operator in ("sink", "sink-1", "sink_1", "sin")]
    jobs += [bench.job(name, operator=operator) for name, operator in ALIKE]
    for job in jobs:
        job.write(0)
        job.complete(job.prepare())
    for row in (jobs, jobs[::-1]):  # Each begins once before, and once behind any other.
        for job in row:
            job.write(1)
            job.prepare()
        for job in row:
            job.restart()
            bench.check()
            job.write(0)
            job.checkpoint()
        bench.check()
        for job in row:
            job.write(0)
            job.complete(job.prepare())
    for job in jobs:
        job.commit()
    bench.check()


def tenth_attempt(bench: Bench) -> None:
    """An attempt has one digit more than the one before: it is the newer one all the same."""
    for first in (9, 99):
        job = bench.job(f"job{first}", first_attempt=first)
        job.write(0)
        job.checkpoint()
        job.write(0)
        job.prepare()
        old = job.attempt
        job.restart()
        bench.check()
        bench.check_unfinished(job)
        _goes_on(bench, job, old)
        job.write(0)
        job.prepare()
        job.restart()
        bench.check()
        bench.check_unfinished(job)
        job.write(0)
        job.checkpoint()
        bench.check()


def never_begun(bench: Bench) -> None:
    """One, two and more than ten attempts in between never began: what the last one that did has left is aborted, and
    it is over."""
    for skipped in (1, 2, 11):
        job = bench.job(f"job{skipped}")
        job.write(0)
        job.checkpoint()
        job.write(0)
        late = job.pending[job.prepare()]
        job.write(1)
        old = job.attempt
        job.restart(skipped=skipped)
        bench.check()
        bench.check_unfinished(job)
        ignored(bench, partial(job.commit_once, late, old))
        _goes_on(bench, job, old)
        job.write(0)
        job.complete(job.prepare())
        job.write(1)
        job.restart(1, skipped=skipped)
        bench.check()
        bench.check_unfinished(job)
        for dead in (old, job.dead[-1]):
            _goes_on(bench, job, dead)
        job.write(0)
        job.checkpoint()
        bench.check()


def twice_begun(bench: Bench) -> None:
    """`begin` again, whose first answer was lost, aborts nothing that it kept."""
    job = bench.job()
    job.write(0)
    job.complete(job.prepare())
    job.crash()
    restored = [each for promise in job.completed for each in promise.committables]
    bench.sink("job", 2).begin(restored, now_ms=bench.now_ms)
    bench.step("the answer to begin is lost")
    job.start(2)
    bench.check()


def rescaled(bench: Bench) -> None:
    """Wider and narrower, each time with pending transactions and a crash."""
    job = bench.job(parallelism=2)
    for parallelism in (4, 2, 1, 3):
        for subtask in range(job.parallelism):
            job.write(subtask)
        job.complete(job.prepare())
        for subtask in range(job.parallelism):
            job.write(subtask)
        job.restart(parallelism)
        bench.check()
        bench.check_unfinished(job)
    for subtask in range(job.parallelism):
        job.write(subtask)
    job.checkpoint()
    bench.check()


def by_another(bench: Bench) -> None:
    """Whoever restores commits: here the sink of another subtask, that never wrote."""
    job: Job = bench.job(parallelism=3)
    for subtask in range(3):
        job.write(subtask)
    job.complete(job.prepare())
    job.commit_once(job.completed[2:])
    job.crash()
    job.start(1)
    bench.check()


RESTARTED = ("restarted",)
CHECKS = (
    Check(
        "TPC-04/restore",
        "A restore commits what its checkpoint promised, all of it once.",
        before_commit,
        TWO_PHASE,
        RESTARTED,
    ),
    Check(
        "TPC-06/orphans", "What no checkpoint promised is aborted at the next start.", open_ones, TWO_PHASE, RESTARTED
    ),
    Check("TPC-06/scaled-in", "So it is where fewer subtasks go on.", scaled_in, TWO_PHASE, RESTARTED),
    Check("TPC-06/gaps", "So it is where subtasks between them wrote nothing.", gaps, TWO_PHASE, RESTARTED),
    Check("TPC-06/zombie-commit", "An attempt that is over commits nothing.", zombie_commit, TWO_PHASE, ("zombie",)),
    Check(
        "TPC-06/zombie-restored",
        "Nor does it commit what the next one goes on from.",
        zombie_restored,
        TWO_PHASE,
        ("zombie",),
    ),
    Check(
        "TPC-06/zombie-writer",
        "What an attempt that is over writes is never visible.",
        zombie_writer,
        TWO_PHASE,
        ("zombie",),
    ),
    Check("TPC-06/zombie-begin", "An attempt that is over aborts nothing.", zombie_begin, TWO_PHASE, ("zombie",)),
    Check("TPC-06/other-jobs", "Transactions of other jobs stay.", others, TWO_PHASE, RESTARTED),
    Check("TPC-06/other-operators", "Transactions of other operators stay.", other_operators, TWO_PHASE, RESTARTED),
    Check(
        "TPC-06/tenth-attempt", "Attempts are compared as numbers.", tenth_attempt, TWO_PHASE, ("zombie", "restarted")
    ),
    Check(
        "TPC-06/never-begun",
        "An attempt is over though those in between never began.",
        never_begun,
        TWO_PHASE,
        ("zombie", "restarted"),
    ),
    Check("TPC-06/begun-again", "To begin again is to begin.", twice_begun, TWO_PHASE),
    Check("RSC-05/rescaled", "Pending transactions outlive another parallelism.", rescaled, TWO_PHASE, RESTARTED),
    Check("RSC-05/by-another", "A committable belongs to no subtask.", by_another, TWO_PHASE),
)
