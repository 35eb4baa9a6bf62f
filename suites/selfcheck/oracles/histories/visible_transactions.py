"""Histories for TXN: what sinks report of transactions, and what the committed reader saw of them."""

from __future__ import annotations

from holdfast.harness.model.events import ReaderPolled, RowsChanged, TransactionPrecommitted
from holdfast.harness.model.history import History
from holdfast.harness.model.records import CommittedRows
from holdfast.suites.selfcheck.oracles.histories.txn import (
    SINK,
    UNREACHED,
    acked,
    bad,
    closed,
    committed,
    completed,
    near,
    restarted,
    story,
    taken,
    told,
    tried,
    unit,
    whole,
)

LOOKED = ReaderPolled(polls=9, interval_ms=5)


@bad("committed-not-visible")
def reported_and_never_seen() -> History:
    return story(whole(1), whole(2), LOOKED, units=(unit("out/t-1.arrow"),))


@bad("committed-not-visible")
def all_reported_and_none_seen() -> History:
    return story(whole(1), whole(2), LOOKED)


@bad("committed-not-visible")
def reported_at_a_recovery_and_never_seen() -> History:
    return story(
        closed(1), completed(1), restarted(1, 1), committed(1, recovering=True), whole(2), LOOKED, units=(unit("t-2"),)
    )


@near("committed-not-visible")
def reported_and_seen() -> History:
    return story(whole(1), whole(2), LOOKED, units=(unit("out/t-1.arrow"), unit("out/t-2.arrow")))


@near("committed-not-visible")
def nothing_was_in_it() -> History:
    empty = TransactionPrecommitted(subtask=SINK, transaction="t-2", checkpoint=2, records=0)
    return story(
        whole(1), taken(2, 2), empty, acked(2), completed(2), told(2), committed(2), LOOKED, units=(unit("t-1"),)
    )


@near("committed-not-visible")
def the_answer_to_the_second_is_lost_at_the_end() -> History:
    return story(whole(1), closed(2), completed(2), told(2), tried(2), LOOKED, units=(unit("t-1"),), end=UNREACHED)


@bad("visible-without-commit")
def seen_and_never_pre_committed() -> History:
    return story(whole(1), units=(unit("t-1"), unit("t-9")))


@bad("visible-without-commit")
def promised_and_seen_and_nobody_commits() -> History:
    return story(closed(1), completed(1), whole(2), units=(unit("t-1"), unit("t-2")), end=UNREACHED)


@near("visible-without-commit")
def seen_and_its_worker_dies_before_the_report() -> History:
    return story(closed(1), completed(1), told(1), tried(1), units=(unit("t-1"),), end=UNREACHED)


@bad("committed-twice")
def visible_under_two_names_in_a_numbered_folder() -> History:
    return story(whole(1), units=(unit("out#1/t-1.arrow"), unit("out#1/retry/t-1.arrow")))


@near("visible-without-commit")
def seen_again_under_a_number() -> History:
    return story(whole(1), units=(unit("t-1"), unit("t-1#2")))


@bad("rows-differ")
def shows_fewer_rows_than_were_pre_committed() -> History:
    return story(whole(1), LOOKED, units=(CommittedRows("t-1", 0, ()),))


@near("rows-differ")
def shows_what_was_pre_committed() -> History:
    return story(whole(1), LOOKED, units=(unit("t-1"),))


@near("rows-differ")
def was_seen_torn_and_changed() -> History:
    torn = RowsChanged(name="t-2", poll=1, vanished=False)
    return story(whole(1), whole(2), torn, LOOKED, units=(unit("t-1"), CommittedRows("t-2", 0, ())))
