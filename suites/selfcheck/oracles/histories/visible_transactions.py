"""Histories for TXN: what sinks report of transactions, and what the committed reader saw of them."""

from __future__ import annotations

from holdfast.harness.model.events import ReaderPolled, RowsChanged
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.records import CommittedRows
from holdfast.suites.selfcheck.oracles.builder import exhibits
from holdfast.suites.selfcheck.oracles.histories.txn import (
    SINK,
    UNREACHED,
    closed,
    commits,
    completes,
    restarted,
    transaction,
    unit,
    whole,
)
from holdfast.suites.selfcheck.oracles.lines import ack_sent, attempt, commit_tried, heard, precommitted, snapshot, task

LOOKED = ReaderPolled(polls=9, interval_ms=5)

bad, near = exhibits("TXN", attempt(), task(SINK), job=FORWARD, parallelism=1)

bad("committed-not-visible", "reported and never seen", whole(1), whole(2), LOOKED, units=(unit("out/t-1.arrow"),))
bad("committed-not-visible", "all reported and none seen", whole(1), whole(2), LOOKED)
bad(
    "committed-not-visible", "reported at a recovery and never seen",
    closed(1), completes(1), restarted(1, 1), commits(1, recovering=True), whole(2), LOOKED, units=(unit("t-2"),),
)  # fmt: skip
near(
    "committed-not-visible", "reported and seen",
    whole(1), whole(2), LOOKED, units=(unit("out/t-1.arrow"), unit("out/t-2.arrow")),
)  # fmt: skip
near(
    "committed-not-visible", "nothing was in it",
    whole(1), snapshot(SINK, 2, pending=tuple(transaction(each) for each in (2,))),
    precommitted("t-2", 2, subtask=SINK, records=0), ack_sent(SINK, 2), completes(2), heard(SINK, 2), commits(2),
    LOOKED, units=(unit("t-1"),),
)  # fmt: skip
near(
    "committed-not-visible", "the answer to the second is lost at the end",
    whole(1), closed(2), completes(2), heard(SINK, 2), commit_tried(transaction(2), subtask=SINK), LOOKED,
    units=(unit("t-1"),), end=UNREACHED,
)  # fmt: skip

bad("visible-without-commit", "seen and never pre committed", whole(1), units=(unit("t-1"), unit("t-9")))
bad(
    "visible-without-commit", "promised and seen and nobody commits",
    closed(1), completes(1), whole(2), units=(unit("t-1"), unit("t-2")), end=UNREACHED,
)  # fmt: skip
near(
    "visible-without-commit", "seen and its worker dies before the report",
    closed(1), completes(1), heard(SINK), commit_tried(transaction(1), subtask=SINK), units=(unit("t-1"),),
    end=UNREACHED,
)  # fmt: skip

bad(
    "committed-twice",
    "visible under two names in a numbered folder",
    whole(1),
    units=(unit("out#1/t-1.arrow"), unit("out#1/retry/t-1.arrow")),
)

near("visible-without-commit", "seen again under a number", whole(1), units=(unit("t-1"), unit("t-1#2")))

bad("rows-differ", "shows fewer rows than were pre committed", whole(1), LOOKED, units=(CommittedRows("t-1", 0, ()),))
near("rows-differ", "shows what was pre committed", whole(1), LOOKED, units=(unit("t-1"),))
near(
    "rows-differ", "was seen torn and changed",
    whole(1), whole(2), RowsChanged(name="t-2", poll=1, vanished=False), LOOKED,
    units=(unit("t-1"), CommittedRows("t-2", 0, ())),
)  # fmt: skip
