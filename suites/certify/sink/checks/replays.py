"""TPC-08: batches that were committed are replayed, and ignored."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.sink.bench import Bench, Job, Promise
from holdfast.suites.certify.sink.checks.phases import TWO_PHASE

A_YEAR_MS = 365 * 24 * 3_600_000
BATCHES = 3
Batch = list[Promise]


def replayed(bench: Bench) -> None:
    """What is known of commits is lost: attempts go on from the newest batch, from an old one and from all of them,
    with new rows behind each."""
    job = bench.job()
    batches = [_committed(job) for _ in range(BATCHES)]
    _replay(bench, job, batches[-1])
    _replay(bench, job, batches[0])
    bench.now_ms += max(bench.description.transaction_timeout_ms or 0, A_YEAR_MS)
    bench.step("a year goes by")
    batches.append(_committed(job))
    _replay(bench, job, [promise for batch in batches for promise in batch])


def _committed(job: Job) -> Batch:
    job.write(0)
    job.write(1)
    job.complete(job.prepare())
    batch = list(job.completed)
    job.commit()
    return batch


def _replay(bench: Bench, job: Job, batch: Batch) -> None:
    job.forget(batch)
    job.restart()
    bench.hit("replayed")
    bench.check()
    _committed(job)
    bench.check()


CHECKS = (
    Check(
        "TPC-08/replayed",
        "A batch that was committed is ignored when it is replayed, and no other batch is.",
        replayed,
        TWO_PHASE,
        ("replayed",),
    ),
)
