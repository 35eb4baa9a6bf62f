"""Histories for PROGRESS: what a mini-batch holds back for 15 ms."""

from __future__ import annotations

from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.suites.selfcheck.oracles.builder import exhibits
from holdfast.suites.selfcheck.oracles.histories.standing_job import WITHOUT_CHECKPOINTS
from holdfast.suites.selfcheck.oracles.lines import delivers, sends

bad, near = exhibits(
    "PROGRESS", delivers("source[0]->buffer[0]", 0, records=3), job=MINI_BATCH, options=WITHOUT_CHECKPOINTS
)

bad(
    "held-back-too-long", "the second time takes too long",
    13, sends("buffer[0]->sum[0]", 0, records=3), delivers("source[0]->buffer[0]", 1, records=3), 20,
    delivers("source[0]->buffer[0]", 2, records=3), 20, sends("buffer[0]->sum[0]", 1, records=3),
)  # fmt: skip
near(
    "held-back-too-long", "each time counts from the first",
    10, delivers("source[0]->buffer[0]", 1, records=3), 2, sends("buffer[0]->sum[0]", 0, records=3), 60,
    delivers("source[0]->buffer[0]", 2, records=3), 13, sends("buffer[0]->sum[0]", 1, records=3),
)  # fmt: skip
