"""REC-02, RSC-05: each split has one owner, whatever the parallelism is and however many and long splits are."""

from __future__ import annotations

from holdfast.fixtures.feeders import Sqlite
from holdfast.suites.certify.check import CannotTry, Check
from holdfast.suites.certify.programs import MOST_BYTES
from holdfast.suites.certify.source.bench import Bench
from holdfast.suites.certify.source.checks.positions import REPLAYABLE, RESTORED, UNBOUNDED

SPLITS = 13
HUNDREDS = 260
LONG = 1_600
"""More records than one request or one buffer has room for, up to a thousand."""
LENGTH = 900
"""Of each of them, in bytes, so that they take more than a MiB."""
FOLLOWED = ((64, 1_100), (26, 45_000), (1, 1_500_000))
"""How many records, and of how many bytes."""
FAR_MS = (-(1 << 50), -1, 0, (1 << 31), (1 << 32) + 1, (1 << 53))


def splits(bench: Bench) -> None:
    """Numbered past ten, so that names as text are in another order than numbers; a crash in the middle of each."""
    for partition in range(SPLITS):
        bench.feed(partition, 4)
    job = bench.job(2)
    for number in range(4):
        job.assign()
        for subtask in range(len(job.readers)):
            for _ in range(3):
                job.poll(subtask, 1)
        job.checkpoint()
        for subtask in range(len(job.readers)):
            job.poll(subtask, 2)
        job.restart((11, 3, 12, 1)[number], shift=number)
    job.drain()
    job.check()


def grown(bench: Bench) -> None:
    """The eleventh split and those behind it come between two checkpoints, the others were read."""
    for partition in range(SPLITS - 4):
        bench.feed(partition, 2)
    job = bench.job(2)
    job.drain()
    job.checkpoint()
    for partition in range(SPLITS - 4, SPLITS + 8):
        bench.feed(partition, 2)
        if partition % 5:
            job.assign()
            continue
        job.assign([])  # What was found waits for readers.
        job.checkpoint()
        job.restart()
    job.drain()
    job.check()
    bench.hit("came-later")


def hundreds(bench: Bench) -> None:
    """More than a number of one byte has room for, read in turn; each of them is known behind a restore."""
    for partition in range(HUNDREDS):
        bench.feed(partition, 3)
    job = bench.job(2)
    job.drain(2)
    job.checkpoint()
    job.restart()
    job.drain(HUNDREDS)
    job.check()


def given_back(bench: Bench) -> None:
    """A reader dies alone, and with it more than ten splits that it got since the checkpoint. They are handed out
    again, or wait in a checkpoint until then."""
    job = bench.job(1)
    job.assign()
    job.checkpoint()
    for partition in range(SPLITS):
        bench.feed(partition, 3)
    job.assign()
    job.poll(0, 2)
    job.restart_reader(0)
    job.drain()
    job.check()
    job.restart_reader(0)
    job.checkpoint()
    job.restart()
    job.drain()
    job.check()


def long_splits(bench: Bench) -> None:
    """One record at a time, few, more than there are, and a tenth of them, by one reader and by three in turn."""
    bench.feed(0, LONG, LENGTH)
    bench.feed(1, 7)
    job = bench.job(1)
    job.assign()
    for most in (1, 1_000, 3, 1_001):
        job.poll(0, most)
        job.checkpoint()
        job.poll(0, most)
        job.restart()
    job.drain(LONG * 2)
    job.check()
    for parallelism in (1, 3):
        job = bench.job(parallelism)
        job.drain(LONG // 10)
        job.check()


def followed(bench: Bench) -> None:
    """Each record is read before the next one is written, so that a reader waits at each place where something may be
    full: of 16 KiB, of 64 KiB, and of a MiB."""
    job = bench.job(1)
    for count, length in FOLLOWED:
        longest = min(length, MOST_BYTES) if bench.connected.location else length
        for _ in range(count):
            bench.feed(0, 1, longest)
            job.drain()
            job.check()
        job.checkpoint()
        job.restart()


def last_ids(bench: Bench) -> None:
    """The last ids that there can be, of two partitions; nothing comes behind them."""
    if not isinstance(bench.feeder, Sqlite):
        raise CannotTry("only the format sqlite has a last id")
    bench.feed(0, 2)
    bench.feed(1, 2)
    job = bench.job(1)
    job.assign()
    job.poll(0, 1)
    bench.step("the next five ids are the last ones")
    bench.feeder.leave(5)
    bench.feed(0, 3)
    bench.feed(1, 2)
    job.drain()
    job.check()
    job.checkpoint()
    for _ in range(2):
        job.restart()
        job.drain()
        job.check()


def far_times(bench: Bench) -> None:
    """Timestamps are any whole numbers."""
    bench.step("write records of times far out")
    bench.write(0, [(b"at %d" % at_ms, at_ms) for at_ms in FAR_MS])
    job = bench.job(1)
    job.assign()
    job.poll(0, 2)
    job.checkpoint()
    job.restart()
    job.drain()
    job.check()


def rescaled(bench: Bench) -> None:
    """Wider and narrower, each time with splits that are half read, and a crash."""
    for partition in range(4):
        bench.feed(partition, 9)
    job = bench.job(2)
    job.assign()
    for parallelism in (4, 2, 1, 3):
        for subtask in range(len(job.readers)):
            job.poll(subtask, 2)
        job.checkpoint()
        for subtask in range(len(job.readers)):
            job.poll(subtask, 1)
        job.restart(parallelism)
        job.assign()
        job.check(all_of_it=False)
    job.drain()
    job.check()


def handed_out_once(bench: Bench) -> None:
    """The enumerator is asked again and again, for some readers and for all."""
    for partition in range(5):
        bench.feed(partition, 1)
    job = bench.job(3)
    for subtasks in ([], [0], [0, 1, 2], [2], [0, 1, 2]):
        job.assign(subtasks)
    job.checkpoint()
    job.restart(2)
    job.assign()
    job.drain()
    job.check()


def late_readers(bench: Bench) -> None:
    """Splits are found while no reader is there, and a checkpoint completes."""
    for partition in range(3):
        bench.feed(partition)
    job = bench.job(2)
    job.assign([])
    job.checkpoint()
    job.restart()
    job.assign([])
    job.assign([1])
    job.checkpoint()
    job.restart(3)
    job.drain()
    job.check()


def grows(bench: Bench) -> None:
    """New splits come at each parallelism."""
    job = bench.job(1)
    for parallelism in (1, 3, 2):
        bench.feed(parallelism, 4)
        bench.feed(0, 2)
        job.drain()
        job.checkpoint()
        bench.feed(parallelism + 4, 3)
        job.restart(parallelism)
        job.drain()
        job.check()


CHECKS = (
    Check("RSC-05/rescaled", "Splits that are half read go on at another parallelism.", rescaled, REPLAYABLE, RESTORED),
    Check("RSC-05/handed-out-once", "Each split is handed out once.", handed_out_once, REPLAYABLE, RESTORED),
    Check("RSC-05/late-readers", "Splits wait for readers, over checkpoints too.", late_readers, REPLAYABLE, RESTORED),
    Check("RSC-05/grows", "New splits are found at any parallelism.", grows, UNBOUNDED, RESTORED),
    Check("RSC-05/many-splits", "More than ten splits go on, over more than ten readers.", splits, REPLAYABLE,
          RESTORED),
    Check("REC-02/many-discovered", "The eleventh split and later ones are found once.", grown, UNBOUNDED,
          ("came-later", "restored")),
    Check("RSC-05/hundreds", f"{HUNDREDS} splits are found and read once.", hundreds, REPLAYABLE, RESTORED),
    Check("RSC-05/given-back", "More than ten splits of a reader that dies go on.", given_back, UNBOUNDED,
          ("reader-restarted",)),
    Check("REC-02/long-splits", f"A split of {LONG} records goes on at each place.", long_splits, REPLAYABLE, RESTORED),
    Check("E2E-05/followed", "A reader that waits goes on, wherever it stands.", followed, UNBOUNDED, RESTORED),
    Check("REC-02/last-ids", "Rows are read up to the greatest id.", last_ids, REPLAYABLE, RESTORED),
    Check("E2E-05/far-times", "Times far from the epoch are read as they were written.", far_times, REPLAYABLE,
          RESTORED),
)  # fmt: skip
