"""REC-02: input that has lost its end, and what a dead attempt still does."""

from __future__ import annotations

from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.source import can_lose_its_end
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.source.bench import Bench, Job
from holdfast.suites.certify.source.checks.positions import REPLAYABLE

MOST_POLLS = 12
WRITTEN, READ, LEFT = 6, 5, 2


def loses_its_end(bench: Bench) -> None:
    """What was read is gone from the input. A restore says so, and neither waits for ever nor takes what is written
    there later for what comes next."""
    job = _loses(bench, checkpoint=True)
    _require_damaged(bench, job)
    if bench.description.feeder != "files":  # There it is another file, and another split.
        bench.feed(0, 1)
        _require_damaged(bench, job)


def loses_what_it_reads(bench: Bench) -> None:
    """The same while a reader lives: it reads what it has read ahead, and neither waits behind the end nor goes on
    with what is written there later. A split that it has read to its end is read."""
    job = _loses(bench, checkpoint=False)
    try:
        for _ in range(MOST_POLLS):
            job.poll(0, 2)
    except (Damaged, FileNotFoundError) as error:
        bench.step(f"    {type(error).__name__}: {error}")
        return
    if job.readers[0].snapshot(1):
        raise Violation(
            bench.rule,
            f"{MOST_POLLS} polls wait, though {len(job.read)} records of the split were read and {LEFT} are left of "
            "it; Damaged is right.",
        )
    job.check()


def _loses(bench: Bench, *, checkpoint: bool) -> Job:
    """A job that has read more than is left of its input, and may have completed a checkpoint of it."""
    if not can_lose_its_end(bench.feeder):
        raise CannotTry("its feeder has no lose_end(), so that nobody can take the end of its input away")
    bench.feed(0, WRITTEN)
    job = bench.job(1)
    job.assign()
    while len(job.read) < READ:
        job.poll(0, READ - len(job.read))
    if checkpoint:
        job.checkpoint()
    bench.step(f"the last {WRITTEN - LEFT} records of partition 0 are lost")
    bench.feeder.lose_end(0, WRITTEN - LEFT)
    bench.hit("lost-its-end")
    return job


def _require_damaged(bench: Bench, job: Job) -> None:
    """To begin again, or one of the next polls, raises. A reader that lives may have read ahead."""
    before = len(job.completed.read) if job.completed else 0
    try:
        job.restart()
        for _ in range(MOST_POLLS):
            job.assign()
            status = job.poll(0, 2)
    except (Damaged, FileNotFoundError) as error:
        bench.step(f"    {type(error).__name__}: {error}")
        return
    values = [record.value for record in job.read[before:]]
    raise Violation(
        bench.rule,
        f"{MOST_POLLS} polls returned {values} and {status}, though {READ} records of the split were read and {LEFT} "
        "are left of it; Damaged is right.",
    )


def late_calls(bench: Bench) -> None:
    """The readers and the enumerator of a dead attempt go on when the next one has begun: they look, read, publish
    and are closed, one before and one behind what the next one reads."""
    for partition in range(3):
        bench.feed(partition, 6)
    job = bench.job(2)
    job.assign()
    for subtask in range(2):
        job.poll(subtask, 2)
    job.checkpoint(confirmed=False)
    number = job.completed.number if job.completed else 0
    for _ in range(2):
        readers, enumerator = list(job.readers), job.enumerator
        job.restart()
        job.poll(0, 1)
        bench.step("the attempt before it looks, reads, publishes and is closed")
        enumerator.assign([0], now_ms=bench.now_ms)
        enumerator.snapshot(number + 1)
        for reader in readers:
            reader.poll(3, now_ms=bench.now_ms)
            reader.confirmed(number)
            reader.snapshot(number + 1)
            reader.close()
        enumerator.close()
        bench.hit("late-calls")
        job.poll(1, 2)
    job.drain()
    job.check()


CHECKS = (
    Check("REC-02/lost-end", "Input that is shorter than what was read of it is damage.", loses_its_end, REPLAYABLE,
          ("lost-its-end",)),
    Check("REC-02/lost-while-read", "So it is while a reader lives.", loses_what_it_reads, REPLAYABLE,
          ("lost-its-end",)),
    Check("REC-02/late-calls", "What a dead attempt still does changes nothing for the next one.", late_calls,
          REPLAYABLE, ("late-calls",)),
)  # fmt: skip
