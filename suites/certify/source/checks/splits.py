"""RSC-05: each split has one owner, whatever the parallelism is."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.source.bench import Bench
from holdfast.suites.certify.source.checks.positions import REPLAYABLE, RESTORED, UNBOUNDED


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
)
