"""Histories for COORD: what is made of acknowledgements and declines."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AckOutcome,
    StorageSlowed,
)
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected, on
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import ALL, FILE, whole
from holdfast.suites.selfcheck.oracles.lines import (
    aborted,
    ack_sent,
    acked,
    attempt,
    completed,
    declined,
    died,
    listed,
    published,
    told,
    triggered,
)

bad, near = exhibits("COORD", attempt(), job=FORWARD, parallelism=1)

bad("ack-counted-wrongly", "repeated ack counted", triggered(1, *ALL), acked(1, ALL[0], ALL[0]))
bad("ack-counted-wrongly", "late ack counted", whole(1), acked(1, ALL[0]))
bad("ack-counted-wrongly", "ack of older attempt counted", triggered(1, *ALL), on("", acked(1, ALL[0]), attempt=7))
bad("ack-counted-wrongly", "ack of no checkpoint counted", whole(1), acked(2, ALL[0]))
near(
    "ack-counted-wrongly", "repeated ack ignored",
    triggered(1, *ALL), acked(1, ALL[0]), acked(1, ALL[0], outcome=AckOutcome.DUPLICATE),
)  # fmt: skip

bad(
    "completed-after-decline", "completed after decline",
    triggered(1, *ALL), declined(1), acked(1, *ALL), published(1), completed(),
)  # fmt: skip
near(
    "completed-after-decline", "aborted after decline",
    triggered(1, *ALL), acked(1, ALL[0]), declined(1), aborted(), told(1, *ALL, completed=False), triggered(2, *ALL),
)  # fmt: skip
near(
    "completed-after-decline", "declined when all had acked",
    triggered(1, *ALL), declined(1), aborted(), told(1, *ALL, completed=False), triggered(2, *ALL), acked(2, *ALL),
    declined(2), published(2), completed(2),
)  # fmt: skip

bad(
    "abort-not-notified", "abort told to two of three",
    triggered(1, *ALL), aborted(), told(1, *ALL[:2], completed=False), acked(1, ALL[0], outcome=AckOutcome.DISCARDED),
    triggered(2, *ALL),
)  # fmt: skip
near(
    "abort-not-notified", "abort told to all",
    triggered(1, *ALL), aborted(), told(1, *ALL, completed=False), acked(1, ALL[0], outcome=AckOutcome.DISCARDED),
    triggered(2, *ALL),
)  # fmt: skip
near(
    "abort-not-notified", "died while telling",
    triggered(1, *ALL), aborted(), told(1, *ALL, completed=False), triggered(2, *ALL), aborted(2),
    told(2, *ALL[:1], completed=False), died("coordinator", "killed"), attempt(),
    acked(2, ALL[0], outcome=AckOutcome.UNKNOWN),
)  # fmt: skip

DISCARDS: list[Line] = [triggered(1, *ALL), ack_sent(ALL[0], 1, FILE)]
"""The source's file of checkpoint 1 belongs to nobody, for the checkpoint is aborted or the ack comes late."""


bad(
    "state-not-discarded", "state of aborted checkpoint left",
    *DISCARDS, acked(1, ALL[0]), aborted(), told(1, *ALL, completed=False), whole(2), listed(FILE),
)  # fmt: skip
bad(
    "state-not-discarded", "state of late ack left",
    *DISCARDS, aborted(), told(1, *ALL, completed=False), acked(1, ALL[0], outcome=AckOutcome.DISCARDED), whole(2),
    listed(FILE),
)  # fmt: skip
near(
    "state-not-discarded", "state of aborted checkpoint discarded",
    *DISCARDS, acked(1, ALL[0]), aborted(), told(1, *ALL, completed=False), whole(2), listed(),
)  # fmt: skip

DELETION_HELD_UP: list[Line] = [
    injected("slow-storage", "storage[0]"), triggered(1, *ALL), ack_sent(ALL[0], 1, FILE), acked(1, ALL[0]), aborted(),
    told(1, *ALL, completed=False),
]  # fmt: skip
"""The harness holds up an operation for 50 ms, on the source's file of the aborted checkpoint 1. The job
completes the next one, and then something cuts it short."""


near(
    "state-not-discarded", "suspended while the deletion is held up",
    *DELETION_HELD_UP, at("coordinator.0", StorageSlowed(operation="delete", path=FILE.path, delay_ms=50)), whole(2),
    30, injected("suspend", "coordinator[0]", fault=1), listed(FILE),
)  # fmt: skip
near(
    "state-not-discarded", "died while the deletion is held up",
    *DELETION_HELD_UP, at("coordinator.0", StorageSlowed(operation="delete", path=FILE.path, delay_ms=50)), whole(2),
    30, died("coordinator", "killed"), listed(FILE),
)  # fmt: skip
bad(
    "state-not-discarded", "suspended when the deletion was due",
    *DELETION_HELD_UP, at("coordinator.0", StorageSlowed(operation="delete", path=FILE.path, delay_ms=50)), whole(2),
    60, injected("suspend", "coordinator[0]", fault=1), listed(FILE),
)  # fmt: skip
bad(
    "state-not-discarded", "suspended while another operation is held up",
    *DELETION_HELD_UP, at("coordinator.0", StorageSlowed(operation="list", path=FILE.path, delay_ms=50)), whole(2), 30,
    injected("suspend", "coordinator[0]", fault=1), listed(FILE),
)  # fmt: skip
bad(
    "state-not-discarded", "another process died while the deletion is held up",
    *DELETION_HELD_UP, at("coordinator.0", StorageSlowed(operation="delete", path=FILE.path, delay_ms=50)), whole(2),
    30, died("worker-1", "killed"), listed(FILE),
)  # fmt: skip
