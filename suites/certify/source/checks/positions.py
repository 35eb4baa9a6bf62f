"""REC-02 and E2E-07: a restore goes on exactly where its checkpoint stood, whatever was published outside."""

from __future__ import annotations

from holdfast.harness.spi.errors import Damaged, Incompatible, Transient
from holdfast.harness.spi.source import EnumeratorState, SourceFlag, SourceSplit
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.source.bench import Bench

REPLAYABLE = frozenset({SourceFlag.REPLAYABLE})
UNBOUNDED = REPLAYABLE | {SourceFlag.UNBOUNDED}
FAULTS = REPLAYABLE | {SourceFlag.FAULT_POINTS}
PUBLISHES = REPLAYABLE | {SourceFlag.PUBLISHES}
MOST_POINTS = 100


def resumes(bench: Bench) -> None:
    """Behind any number of records, in batches of any size; more was read since, and is rolled back."""
    for partition in range(2):
        bench.feed(partition, 7)
    for before in range(8):
        for most in (1, 3):
            job = bench.job(1)
            job.assign()
            for _ in range(before):
                job.poll(0, most)
            job.checkpoint()
            for _ in range(2):
                job.poll(0, 2)
            job.restart()
            job.drain()
            job.check()
            job.end()


def unread(bench: Bench) -> None:
    """Checkpoints before anything was handed out, and before anything was read."""
    bench.feed(0)
    bench.feed(1)
    for assigned in (False, True):
        job = bench.job()
        if assigned:
            job.assign()
        job.checkpoint()
        job.drain()
        job.restart()
        job.drain()
        job.check()


def ended(bench: Bench) -> None:
    """Splits that were read to their ends stay read, and so does a whole source."""
    bench.feed(0)
    bench.feed(1)
    job = bench.job()
    job.drain()
    job.checkpoint()
    for _ in range(2):
        job.restart()
        job.drain()
        job.check()


def discovered(bench: Bench) -> None:
    """Input that comes around a checkpoint is found once, before the crash or behind it, whatever its name."""
    bench.feed(1)
    job = bench.job()
    job.drain()
    bench.feed(2)
    job.assign()
    job.checkpoint()
    bench.feed(0)
    bench.feed(1, 2)
    bench.hit("came-later")
    job.drain()
    job.check()
    job.restart()
    bench.feed(3)
    job.drain()
    job.check()


def errors(bench: Bench) -> None:
    """Each step of looking and reading fails, before it acts and behind it: nothing is lost or repeated."""
    bench.feed(0)
    bench.feed(1)
    for number in range(MOST_POINTS):
        job = bench.job()
        bench.points.arm(number, crash=False)
        bench.step(f"no answer to step {number}")
        job.drain()
        job.check()
        if not bench.points.struck:
            break
        bench.hit("failed-step")
        job.end()


def errors_between(bench: Bench) -> None:
    """The same where one call reads several splits: what it had read of the first ones is not lost."""
    for partition in range(9):
        bench.feed(partition)
    for number in range(MOST_POINTS):
        job = bench.job(1)
        bench.points.arm(number, crash=False)
        bench.step(f"no answer to step {number}")
        job.drain(7)
        job.check()
        if not bench.points.struck:
            break
        bench.hit("failed-step")
        job.end()


def foreign(bench: Bench) -> None:
    """What is of another version, or was not written by this source, is refused, and nothing of it is read."""
    bench.feed(0)
    bench.feed(1)
    job = bench.job(1)
    job.checkpoint()
    assert job.completed is not None
    assigned = job.enumerator.assign([0], now_ms=bench.now_ms).values()
    right_one, *_, split = [split for splits in assigned for split in splits] * 2
    version = max(bench.description.readable_versions) + 1_000
    other, damaged = b"certainly no split", (Damaged, Incompatible)
    for strange, right in (
        (SourceSplit(split.id, version, split.content), (Incompatible,)),
        (SourceSplit(split.id, split.version, other), damaged),
    ):
        for splits in ([strange], [right_one, strange]):
            try:
                job.readers[0].add(splits)
            except right:
                continue
            raise Violation(bench.rule, f"a reader took {strange}; {right[0].__name__} is right.")
    job.poll(0, 1)
    if job.read or job.readers[0].snapshot(2):
        raise Violation(bench.rule, f"a reader has split {right_one.id}, which came with one that it refused.")
    state = job.completed.enumerator
    for changed, right in (
        (EnumeratorState(version, state.content), (Incompatible,)),
        (EnumeratorState(state.version, b"certainly no state"), damaged),
    ):
        try:
            bench.source("job", 1).enumerator(changed)
        except right:
            continue
        raise Violation(bench.rule, f"an enumerator took {changed}; {right[0].__name__} is right.")


def published(bench: Bench) -> None:
    """Positions outside are falsified, and a restore goes on where its checkpoint stood."""
    bench.feed(0)
    bench.feed(1)
    job = bench.job()
    job.assign()
    for subtask in range(2):
        job.poll(subtask, 3)
    job.checkpoint()
    bench.step("what was published is falsified")
    bench.feeder.falsify_positions(job.name)
    bench.hit("falsified")
    job.restart()
    job.drain()
    job.check()


def begins_again(bench: Bench) -> None:
    """A job that has published its positions begins again without a checkpoint, and reads all of it."""
    bench.feed(0)
    bench.feed(1)
    job = bench.job()
    for _ in range(2):
        job.assign()
        for subtask in range(2):
            job.poll(subtask, 2)
        job.checkpoint()
    bench.step("the checkpoints are gone")
    job.completed = None
    job.restart()
    job.drain()
    job.check()


def unpublished(bench: Bench) -> None:
    """A checkpoint completes, and nobody hears of it: nothing but the checkpoint counts."""
    bench.feed(0)
    job = bench.job(1)
    job.assign()
    job.poll(0, 2)
    job.checkpoint()
    job.poll(0, 1)
    job.checkpoint(confirmed=False)
    job.poll(0, 1)
    job.restart()
    job.drain()
    job.check()


def not_publishable(bench: Bench) -> None:
    """Each step of publishing fails, before it acts and behind it: the job goes on, since none but people read it."""
    bench.feed(0)
    bench.feed(1)
    for number in range(MOST_POINTS):
        job = bench.job()
        job.assign()
        for subtask in range(2):
            job.poll(subtask, 2)
        completed = job.checkpoint(confirmed=False)
        bench.points.arm(number, crash=False)
        bench.step(f"no answer to step {number} of publishing")
        try:
            for reader in job.readers:
                reader.confirmed(completed.number)
        except Transient as error:
            raise Violation(bench.rule, f"confirmed() raised {error!r}; a failure to publish is no error.") from error
        bench.points.disarm()
        job.drain()
        job.check()
        if not bench.points.struck:
            break
        bench.hit("failed-step")
        job.end()


RESTORED = ("restored",)
CHECKS = (
    Check("REC-02/resumes", "A restore goes on behind the last record.", resumes, REPLAYABLE, RESTORED),
    Check("REC-02/unread", "What was not handed out or not read is not lost.", unread, REPLAYABLE, RESTORED),
    Check("REC-02/ended", "What was read to its end is not read again.", ended, REPLAYABLE, RESTORED),
    Check("REC-02/discovered", "What comes around a checkpoint is found once.", discovered, UNBOUNDED, ("came-later",)),
    Check("REC-02/errors", "An error that passes loses and repeats nothing.", errors, FAULTS, ("failed-step",)),
    Check("REC-02/errors-between", "So does one between two splits.", errors_between, FAULTS, ("failed-step",)),
    Check("REC-02/foreign", "Splits and states of another kind are refused.", foreign, REPLAYABLE),
    Check("E2E-07/published", "What is published does not steer a restore.", published, PUBLISHES, ("falsified",)),
    Check("E2E-07/not-publishable", "A failure to publish is no error.", not_publishable, PUBLISHES | FAULTS,
          ("failed-step",)),
    Check("E2E-07/begins-again", "Nor does it steer a job that begins.", begins_again, PUBLISHES),
    Check("E2E-07/unpublished", "A notice that is lost changes nothing.", unpublished, REPLAYABLE, RESTORED),
)  # fmt: skip
