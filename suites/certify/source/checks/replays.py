"""E2E-05: a range is read again identically, by whomever."""

from __future__ import annotations

from holdfast.harness.spi.source import ReaderStatus, SourceFlag, SourceRecord
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.programs import AWKWARD
from holdfast.suites.certify.source.bench import Bench, Job
from holdfast.suites.certify.source.checks.positions import REPLAYABLE, RESTORED, UNBOUNDED

BOUNDED = frozenset({SourceFlag.BOUNDED})
LATEST = UNBOUNDED | {SourceFlag.LATEST}
MOST_BATCHES = 20
LONG = b"".join(b"%07d/" % number for number in range(100_000))
"""Longer than ten blocks of 64 KiB, no two of which are alike, and shorter than what brokers refuse by default."""


def again(bench: Bench) -> None:
    """Two fresh jobs read all of it, with other batches and other readers."""
    for partition in range(3):
        bench.feed(partition)
    read = []
    for parallelism, most in ((1, 1), (3, 4), (2, 100)):
        job = bench.job(parallelism)
        job.drain(most)
        job.check()
        read.append(sorted(job.read))
    _same(bench, read[0], read[1])
    _same(bench, read[0], read[2])


def beside_others(bench: Bench) -> None:
    """Another job begins when there is more: what the first one read lies where it lay."""
    for partition in (1, 2, 3):
        bench.feed(partition)
    job = bench.job()
    job.drain()
    before = {record.value: record for record in job.read}
    for partition in (0, 1, 4):
        bench.feed(partition)
    job = bench.job(1)
    job.drain()
    job.check()
    found = {record.value: record for record in job.read}
    _same(bench, list(before.values()), [found[value] for value in before])


def from_a_checkpoint(bench: Bench) -> None:
    """Twice from one checkpoint."""
    for partition in range(2):
        bench.feed(partition, 8)
    job = bench.job(1)
    job.assign()
    job.poll(0, 3)
    job.checkpoint()
    read = []
    for most in (1, 2, 100):
        job.restart()
        job.drain(most)
        job.check()
        read.append(sorted(job.read))
    _same(bench, read[0], read[1])
    _same(bench, read[0], read[2])


def _same(bench: Bench, right: list[SourceRecord], said: list[SourceRecord]) -> None:
    if right != said:
        first, second = next((one, two) for one, two in zip(right, said, strict=False) if one != two)
        raise Violation(bench.rule, f"what was read as {first} was {second} when it was read again.")


def moved(bench: Bench) -> None:
    """Each split goes to another reader."""
    for partition in range(3):
        bench.feed(partition, 6)
    job = bench.job(3)
    job.assign()
    for subtask in range(3):
        job.poll(subtask, 1 + subtask)
    job.checkpoint()
    job.poll(0, 2)
    job.restart(shift=1)
    job.drain(2)
    job.check()


def one_reader(bench: Bench) -> None:
    """One reader dies alone, and with it splits that it got since the checkpoint."""
    bench.feed(0, 6)
    job = bench.job(1)
    job.assign()
    job.poll(0, 2)
    job.checkpoint()
    bench.feed(1, 4)
    job.assign()
    job.poll(0, 3)
    job.poll(0, 3)
    job.restart_reader(0)
    job.drain()
    job.check()
    job.checkpoint()
    job.restart()
    job.drain()
    job.check()


def idle(bench: Bench) -> None:
    """More readers than splits: those without one hold up nobody."""
    bench.feed(0)
    job = bench.job(4)
    job.drain()
    job.check()
    job.checkpoint()
    job.restart(6)
    job.drain()
    job.check()


def begins(bench: Bench) -> None:
    """A bounded source is not at its end before it has looked, nor while its splits wait for readers, come back from
    one, or are read by one that may get others."""
    for partition in range(3):
        bench.feed(partition)
    job = bench.job(2, bounded=True)
    _require_no_end(bench, job, "before anybody has looked for splits")
    job.assign([])
    _require_no_end(bench, job, "while splits wait for readers")
    job.checkpoint()
    job.hand_out([0])
    for _ in range(MOST_BATCHES):
        before = len(job.read)
        if job.poll(0, 4) is ReaderStatus.END:
            what = "a reader that has read its splits is at its end"
            raise Violation(bench.rule, f"{what}; no_more_splits() was not called.")
        if len(job.read) == before:
            break
    job.enumerator.exhausted()  # So it may be, until they come back.
    job.restart_reader(0)
    _require_no_end(bench, job, "while splits that were given back wait for readers")
    job.drain()
    job.check()
    _require_end(bench, job)


def any_bytes(bench: Bench) -> None:
    """Values that mean something elsewhere, and times before the epoch."""
    for partition, pieces in enumerate((AWKWARD, AWKWARD[::-1])):
        values = [b"%d/%d/" % (partition, number) + piece for number, piece in enumerate((*pieces, LONG))]
        values[:0] = [b""][partition:]
        bench.step(f"write {len(values)} records of partition {partition}, of any bytes")
        bench.write(partition, [(value, 1_000 * (number - 5)) for number, value in enumerate(values)])
    job = bench.job()
    job.assign()
    job.poll(0, 3)
    job.checkpoint()
    job.restart()
    job.drain()
    job.check()


def _require_no_end(bench: Bench, job: Job, when: str) -> None:
    if job.enumerator.exhausted():
        raise Violation(bench.rule, f"exhausted() is True {when}.")
    for subtask in range(len(job.readers)):
        if job.poll(subtask, 1) is ReaderStatus.END:
            raise Violation(bench.rule, f"reader {subtask} is at its end {when}; no_more_splits() was not called.")


def begins_late(bench: Bench) -> None:
    """What a bounded source reads is fixed when the first readers are there, and not while it waits for them."""
    bench.feed(0)
    job = bench.job(2, bounded=True)
    job.assign([])
    bench.feed(0)
    bench.feed(1)
    job.checkpoint()
    job.restart()
    job.assign([])
    bench.feed(2)
    job.hand_out([1])
    bench.feed_too_late(0)
    bench.feed_too_late(3)
    job.drain()
    job.check()
    _require_end(bench, job)


def ends(bench: Bench) -> None:
    """A bounded source reads what is there at its first start, says so, and stays at its end. Other input comes before
    its readers have begun, and when they are at their ends."""
    bench.feed(0)
    bench.feed(1)
    job = bench.job(3, bounded=True)
    job.hand_out(meanwhile=lambda: bench.feed_too_late(0))
    job.checkpoint()
    job.drain()
    job.check()
    _require_end(bench, job)
    bench.feed_too_late(0)
    bench.feed_too_late(2)
    for restarted in (False, True):
        if restarted:
            job.restart()
        job.drain()
        job.check()
        _require_end(bench, job)


def _require_end(bench: Bench, job: Job) -> None:
    for subtask in range(len(job.readers)):
        status = job.poll(subtask, 1)
        if status is not ReaderStatus.END:
            raise Violation(bench.rule, f"all is read, and reader {subtask} says {status}; end is right.")


def at_most_once(bench: Bench) -> None:
    """What cannot be read again is never read twice, and what is there when nobody dies is read."""
    if SourceFlag.REPLAYABLE in bench.flags:
        raise CannotTry("it can be read again")
    bench.feed(0, 6)
    bench.feed(1, 6)
    job = bench.job()
    job.assign()
    job.poll(0, 2)
    job.checkpoint()
    job.poll(0, 2)
    seen = list(job.read)
    job.restart()
    job.read = seen
    job.drain()
    job.check()


def starts_at_the_latest(bench: Bench) -> None:
    """What is there when the first readers are is passed over; what comes behind it, or in a split that is found later,
    is read from there on, over restarts too."""
    bench.feed_too_early(0)
    bench.feed_too_early(1)
    job = bench.job(2, bounded=False, latest=True)
    job.assign([])
    bench.feed_too_early(0)
    job.assign()
    bench.feed(0)
    bench.feed(2)
    job.drain()
    job.check()
    job.checkpoint()
    job.restart()
    bench.feed(1)
    bench.feed(3)
    job.drain()
    job.check()


def goes_on(bench: Bench) -> None:
    """An unbounded source never ends, and reads what comes, also when it was idle for a while and is restored."""
    job = bench.job(2, bounded=False)
    for _ in range(3):
        bench.feed(0, 3)
        bench.feed(1, 1)
        job.drain()
        job.check()
    for number in range(MOST_BATCHES):
        job.poll(number % 2, 4)
    job.checkpoint()
    job.restart()
    bench.feed(0, 3)
    job.drain()
    job.check()
    if job.ended or job.enumerator.exhausted():
        raise Violation(bench.rule, "an unbounded source says that it is at its end.")


CHECKS = (
    Check("E2E-05/again", "Fresh readers read the same records at the same positions.", again, REPLAYABLE),
    Check("E2E-05/beside-others", "So they do where there is more.", beside_others, REPLAYABLE),
    Check("E2E-05/from-a-checkpoint", "So they do from a checkpoint.", from_a_checkpoint, REPLAYABLE, RESTORED),
    Check("E2E-05/moved", "So does another reader.", moved, REPLAYABLE, RESTORED),
    Check("E2E-05/one-reader", "Splits of a reader that dies go on.", one_reader, UNBOUNDED, ("reader-restarted",)),
    Check("E2E-05/idle", "Readers without a split hold up nobody.", idle, REPLAYABLE, RESTORED),
    Check("E2E-05/any-bytes", "Values are bytes of any content.", any_bytes, REPLAYABLE, RESTORED),
    Check("E2E-05/begins", "A bounded source does not end before it has begun.", begins, BOUNDED),
    Check(
        "E2E-05/begins-late",
        "A bounded source reads what is there when its first readers are.",
        begins_late,
        BOUNDED,
        ("too-late",),
    ),
    Check("E2E-05/ends", "A bounded source reads what was there at first, and ends.", ends, BOUNDED, ("too-late",)),
    Check(
        "E2E-05/latest",
        "Started at the latest, it reads what comes then.",
        starts_at_the_latest,
        LATEST,
        ("too-early", "restored"),
    ),
    Check("E2E-05/at-most-once", "What cannot be read again is never read twice.", at_most_once, windows=RESTORED),
    Check("E2E-05/goes-on", "An unbounded source reads what comes, and never ends.", goes_on, UNBOUNDED),
)
