"""E2E-06: order within a split, and what watermarks say."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.spi.source import SourceFlag
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.source.bench import Bench
from holdfast.suites.certify.source.checks.positions import REPLAYABLE, RESTORED
from holdfast.suites.certify.source.job import Job

WATERMARKS = REPLAYABLE | {SourceFlag.WATERMARKS}


def order(bench: Bench) -> None:
    """Over restarts at every third record, with long splits."""
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


def watermarks(bench: Bench) -> None:
    """One split, read record by record, and again from a checkpoint."""
    block = bench.feed(0, 12)
    job = bench.job(1)
    job.assign()
    _follow(bench, job, [at_ms for _, at_ms in block], 6)
    job.checkpoint()
    _follow(bench, job, [at_ms for _, at_ms in block[6:]], 3)
    job.restart()
    _follow(bench, job, [at_ms for _, at_ms in block[6:]], 6)
    if not bench.windows["watermark"]:
        return
    if max(job.readers[0].watermarks().values(), default=None) is None and SourceFlag.UNBOUNDED in bench.flags:
        raise Violation(bench.rule, "behind 12 records nothing is said of the split; a watermark is right.")


def _follow(bench: Bench, job: Job, rest: Sequence[int], count: int) -> None:
    """Read so many of what is left; each watermark lies before all that is left, and never falls."""
    last_ms: int | None = None
    for number in range(count + 1):
        for said_ms in job.readers[0].watermarks().values():
            bench.hit("watermark")
            if last_ms is not None and said_ms < last_ms:
                raise Violation(bench.rule, f"the watermark is {said_ms} ms, and was {last_ms} ms.")
            last_ms = said_ms
            if number < len(rest) and said_ms >= rest[number]:
                raise Violation(
                    bench.rule, f"the watermark is {said_ms} ms, and a record of {rest[number]} ms follows."
                )
        if number < count:
            job.poll(0, 1)


CHECKS = (
    Check("E2E-06/order", "Records of a split come in order, over restarts too.", order, REPLAYABLE, RESTORED),
    Check("E2E-06/watermarks", "No record comes behind its watermark.", watermarks, WATERMARKS, ("watermark",)),
)
