"""Histories for PROGRESS: what a mini-batch holds back for 15 ms."""

from __future__ import annotations

from holdfast.harness.model.events import BatchProcessed, BatchSent
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story
from holdfast.suites.selfcheck.oracles.histories.standing_job import WITHOUT_CHECKPOINTS

bad, near = exhibits("PROGRESS")


def took(position: int) -> BatchProcessed:
    return BatchProcessed(channel="source[0]->buffer[0]", position=position, records=3)


def gave(position: int) -> BatchSent:
    return BatchSent(channel="buffer[0]->sum[0]", position=position, records=3)


def buffered(*lines: Line) -> History:
    return story(*lines, job=MINI_BATCH, options=WITHOUT_CHECKPOINTS)


@bad("held-back-too-long")
def the_second_time_takes_too_long() -> History:
    return buffered(took(0), 13, gave(0), took(1), 20, took(2), 20, gave(1))


@near("held-back-too-long")
def each_time_counts_from_the_first() -> History:
    return buffered(took(0), 10, took(1), 2, gave(0), 60, took(2), 13, gave(1))
