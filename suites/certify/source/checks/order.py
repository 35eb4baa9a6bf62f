"""E2E-06: order within a split, and what watermarks say."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.spi.source import ReaderStatus, SourceFlag
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.source.bench import Bench, Job
from holdfast.suites.certify.source.checks.positions import REPLAYABLE, RESTORED

WATERMARKS = REPLAYABLE | {SourceFlag.WATERMARKS}
UNORDERED_MS = (50, 10, 30, 20, 80, 60, 70, 40, 110, 90, 120, 100)
LATER_MS = 100_000
MOST_POLLS = 100
FAR, BATCH = 1_120, 47
"""Records, and how many of them are read at once."""


def order(bench: Bench) -> None:
    """Over restarts at every third record, with long splits, and in large batches, whatever the times of records."""
    for partition in range(2):
        bench.feed(partition, 25)
    job = bench.job()
    job.assign()
    for number in range(12):
        job.poll(number % 2, 3)
        job.poll(number % 2, 1)
        if number % 3 == 0:
            job.checkpoint()
        if number % 3 == 2:
            job.restart(shift=number % 2)
        job.check(all_of_it=False)
    job.drain()
    job.check()
    job = bench.job(1)
    job.drain(20)
    job.check()


def watermarks(bench: Bench) -> None:
    """Two splits, far from each other in time and each in no order of it, record by record, and again from a
    checkpoint."""
    for partition in range(2):
        bench.step(f"write {len(UNORDERED_MS)} records of partition {partition} in no order of time")
        bench.write(partition, [(b"%d/%d" % (partition, ms), LATER_MS * partition + ms) for ms in UNORDERED_MS])
    split_of = _split_of(bench)
    job = bench.job(1)
    job.assign()
    _follow(bench, job, split_of, len(UNORDERED_MS) + 1)
    job.checkpoint()
    _follow(bench, job, split_of, len(UNORDERED_MS) + 6)
    job.restart()
    _follow(bench, job, split_of, len(UNORDERED_MS) * 2)
    if not bench.windows["watermark"]:
        return
    read = {split_of[record.position] for record in job.read[len(UNORDERED_MS) + 1 :]}
    there = read & {split.id for split in job.readers[0].snapshot(2)}  # The others were read to their ends.
    if there and not job.readers[0].watermarks():
        raise Violation(bench.rule, "behind all records nothing is said of any split; a watermark is right.")


def late_times(bench: Bench) -> None:
    """More than a thousand records, the last of which is the earliest: no watermark lies behind it."""
    earliest_ms = 1_000
    times_ms = [*range(earliest_ms + 1, earliest_ms + FAR), earliest_ms]
    bench.step(f"write {len(times_ms)} records, the last of which is the earliest, of {earliest_ms} ms")
    bench.write(0, [(b"at %d" % at_ms, at_ms) for at_ms in times_ms])
    job = bench.job(1)
    job.assign()
    for _ in range(MOST_POLLS):
        job.poll(0, BATCH)
        if len(job.read) >= FAR - 1:
            break
        for id_, said_ms in job.readers[0].watermarks().items():
            bench.hit("watermark")
            if said_ms >= earliest_ms:
                what = f"the watermark is {said_ms} ms, and a record of {earliest_ms} ms follows"
                raise Violation(bench.rule, f"{what} in split {id_}.")
    job.drain(BATCH)
    job.check()


def _split_of(bench: Bench) -> Mapping[str, str]:
    """By position of a record, the id of its split: each split is read by a reader of its own."""
    job = bench.job(1)
    found: dict[str, str] = {}
    for splits in job.enumerator.assign([0], now_ms=bench.now_ms).values():
        for split in splits:
            before = len(job.read)
            job.readers[0] = job.reader(0)
            job.readers[0].add([split])
            for _ in range(MOST_POLLS):
                read = len(job.read)
                if job.poll(0, 5) is not ReaderStatus.MORE and len(job.read) == read:
                    break
            found |= {record.position: split.id for record in job.read[before:]}
    job.check()
    return found


def _follow(bench: Bench, job: Job, split_of: Mapping[str, str], until: int) -> None:
    """Read on until so many were read in all: none lies behind a watermark of its split, and no watermark falls."""
    said: Mapping[str, int] = {}
    for _ in range(MOST_POLLS):
        said = _said(bench, job, said)
        if len(job.read) >= until:
            return
        before = len(job.read)
        job.poll(0, 1)
        for record in job.read[before:]:
            split = split_of.get(record.position)
            if split is None:
                raise Violation(bench.rule, f"{record} lay elsewhere when its split was read alone.")
            said_ms = said.get(split)
            if said_ms is not None and record.timestamp_ms <= said_ms:
                what = f"the watermark is {said_ms} ms, and a record of {record.timestamp_ms} ms follows"
                raise Violation(bench.rule, f"{what} in split {split}.")
    raise Violation(bench.rule, f"{len(job.read)} records were read in {MOST_POLLS} polls; {until} are there.")


def _said(bench: Bench, job: Job, before: Mapping[str, int]) -> Mapping[str, int]:
    """What is said now; what was said of a split before holds for ever."""
    now = job.readers[0].watermarks()
    if strange := now.keys() - job.known:
        raise Violation(bench.rule, f"a watermark is that of {min(strange)!r}, which is no split of the reader.")
    for id_, now_ms in now.items():
        bench.hit("watermark")
        if now_ms < before.get(id_, now_ms):
            raise Violation(bench.rule, f"the watermark of split {id_} is {now_ms} ms, and was {before[id_]} ms.")
    return {**before, **now}


CHECKS = (
    Check("E2E-06/order", "Records of a split come in order, over restarts too.", order, REPLAYABLE, RESTORED),
    Check("E2E-06/late-times", "However many come before it.", late_times, WATERMARKS, ("watermark",)),
    Check("E2E-06/watermarks", "No record comes behind its watermark.", watermarks, WATERMARKS, ("watermark",)),
)
