"""Histories for EXACT: sums of two keys over two partitions, and identities of one."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from holdfast.harness.model.capability import EXACTLY_ONCE, Guarantee, OutputMode
from holdfast.harness.model.events import (
    CheckpointCompleted,
    CheckpointTriggered,
    TransactionAborted,
    TransactionCommitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD, REBALANCE
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import NO_PARTITION, CommittedRows, FoldRow, IdentityRow, InputLog, Partition
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.legal import MASK, fold_row
from holdfast.suites.selfcheck.oracles.output_builder import (
    INPUTS,
    MARKED,
    STOPPED,
    WHOLE_A,
    WHOLE_B,
    fold,
    identities,
    marked,
    row_by_row,
    units,
    up_to_the_markers,
)

bad, near = exhibits("EXACT")

THREE = input_log(3)


@bad("row-wrong")
def record_applied_twice() -> History:
    return row_by_row(fold("a", (0, 2, 2), (0,)), fold("a", (0, 2, 2), (0, 2)))


@bad("row-wrong")
def value_off_by_one() -> History:
    return row_by_row(fold("a", (0,), ()), FoldRow("a", WHOLE_A.value + 1, WHOLE_A.counts, WHOLE_A.digest))


@near("row-wrong")
def sums_wrapped() -> History:
    return row_by_row(fold("a", (0,), ()), FoldRow("a", WHOLE_A.value - (1 << 64), WHOLE_A.counts, WHOLE_A.digest))


UNORDERED = EXACTLY_ONCE - {Guarantee.KEY_ORDER}
"""Of a source that hands a partition out in several splits."""


@near("row-wrong")
def later_split_took_effect_first() -> History:
    return row_by_row(fold("a", (2,), ()), fold("a", (2, 4), (2,)), WHOLE_A, claimed=UNORDERED)


@bad("row-wrong")
def one_record_for_another_in_no_order() -> History:
    return row_by_row(fold("a", (2,), ()), fold("a", (0, 2, 2), (0, 2)), claimed=UNORDERED)


@bad("input-missing")
def split_lost_in_no_order() -> History:
    return row_by_row(fold("a", (2,), ()), fold("a", (2, 4), (0, 2)), claimed=UNORDERED)


@bad("beyond-input")
def split_applied_twice_in_no_order() -> History:
    return row_by_row(fold("a", (2,), ()), fold("a", (2, 4), (0,)), fold("a", (0, 2, 4), (0, 2, 2)), claimed=UNORDERED)


def off(row: FoldRow) -> FoldRow:
    """The row with a digest of another hash."""
    return FoldRow(row.key, row.value, row.counts, row.digest * 3 + 1 & MASK)


@bad("digest-wrong")
def digest_of_another_hash() -> History:
    """Whoever writes rows computes their digests in a way of his own; no record is missing or there twice."""
    rows = off(fold("a", (0,), (0,))), off(WHOLE_A)
    return story(inputs=INPUTS, units=units(*([row] for row in rows), [off(WHOLE_B)]))


@near("digest-wrong")
def digest_of_the_records() -> History:
    return row_by_row(fold("a", (0,), (0,)), WHOLE_A)


@bad("row-wrong")
def digest_of_another_hash_and_value_of_other_records() -> History:
    wrong = off(WHOLE_A)
    return row_by_row(fold("a", (0,), (0,)), FoldRow("a", wrong.value - 2, wrong.counts, wrong.digest))


@bad("row-wrong")
def equal_values_tell_no_records_apart() -> History:
    """Some records are there twice and others not at all: where all values are equal, only the digest shows it."""
    alike = InputLog(("a",), (Partition(np.zeros(8, np.int64), np.full(8, 7), preloaded=8),))
    held = fold_row("a", [(0, offset) for offset in (0, 0, 1, 1, 2, 2, 6, 7)], 1)
    return story(inputs=alike, units=units([FoldRow("a", 56, (8,), held.digest)]))


@bad("row-unknown")
def key_of_nobody() -> History:
    return row_by_row(WHOLE_A, fold("c", (0,), ()))


def _totals(mode: OutputMode, expected: ExpectedEnd) -> History:
    """Of two rows that their author expects both are there, and another one."""
    described = InputLog(("row a", "row b", "row c"), input_log(2).partitions, described=True)
    rows = units([IdentityRow(0, 0), IdentityRow(0, 1), IdentityRow(NO_PARTITION, 0)])
    return story(job=FORWARD, inputs=described, units=rows, mode=mode, expected=expected)


@bad("row-unknown")
def total_that_nobody_expects_in_the_end() -> History:
    return _totals(OutputMode.OVERWRITE, ExpectedEnd.RUNNING)


@bad("row-unknown")
def appended_row_of_a_job_that_failed_as_it_was_to() -> History:
    return _totals(OutputMode.APPEND, ExpectedEnd.FAILED)


@near("row-unknown")
def total_of_a_job_that_failed_as_it_was_to() -> History:
    """A later micro-batch would have replaced it."""
    return _totals(OutputMode.OVERWRITE, ExpectedEnd.FAILED)


@near("row-unknown")
def keys_of_the_input() -> History:
    return row_by_row(WHOLE_A)


@bad("row-repeated")
def transaction_committed_again() -> History:
    return row_by_row(fold("a", (0, 2), (0,)), WHOLE_A, WHOLE_A)


@near("row-repeated")
def one_record_more() -> History:
    return row_by_row(fold("a", (0, 2, 4), (0,)), WHOLE_A)


@bad("row-repeated")
def identity_twice() -> History:
    return story(job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1"), identities("0:1", "0:2")))


@near("row-repeated")
def identities_once_in_any_order() -> History:
    return story(job=REBALANCE, inputs=THREE, units=units(identities("0:2"), identities("0:1", "0:0")))


@bad("counts-stepped-back")
def one_partition_rewound() -> History:
    return row_by_row(fold("a", (0, 2), ()), fold("a", (0,), (0,)), WHOLE_A)


@near("counts-stepped-back")
def units_of_one_poll_listed_in_no_order() -> History:
    later, earlier = CommittedRows("unit-10", 1, [WHOLE_A]), CommittedRows("unit-9", 1, [fold("a", (0, 2), ())])
    return story(inputs=INPUTS, units=(*units([WHOLE_B]), later, earlier))


@bad("beyond-input")
def input_read_again() -> History:
    return row_by_row(fold("a", (0, 2, 4, 2, 4), (0, 2)))


@near("beyond-input")
def all_of_the_input() -> History:
    return row_by_row(WHOLE_A)


@bad("order-broken")
def later_offset_first() -> History:
    return story(job=FORWARD, inputs=THREE, units=units(identities("0:0"), identities("0:2"), identities("0:1")))


@near("order-broken")
def partitions_interleaved() -> History:
    rows = identities("1:0", "0:0", "0:1", "1:1")
    return story(job=FORWARD, inputs=input_log(2, 2), units=units(rows))


@bad("input-missing")
def last_records_missing() -> History:
    return row_by_row(fold("a", (0, 2), (0, 2)))


@bad("input-missing")
def key_without_row() -> History:
    return row_by_row()


@near("input-missing")
def nothing_owed_for_what_was_preloaded() -> History:
    late = InputLog(INPUTS.keys, INPUTS.partitions, first_offsets=(4, 2))
    return story(inputs=late, units=units([fold("a", (4,), (2,)), fold("b", (5,), (3,))]))


@bad("input-missing")
def identity_missing() -> History:
    return story(job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:2")))


@near("input-missing")
def all_identities() -> History:
    return story(job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1", "0:2")))


@bad("input-missing")
def hole_before_a_visible_marker() -> History:
    """The system under test does not report its end, and never will."""
    return up_to_the_markers([fold("a", (0, 2, 4), (0,))], [WHOLE_B])


@bad("input-missing")
def transactions_of_a_completed_checkpoint_aborted() -> History:
    lines = (
        CheckpointTriggered(checkpoint=1, participants=("sink[0]",)),
        TransactionPrecommitted(subtask="sink[0]", transaction="t-1", checkpoint=1, records=2),
        CheckpointCompleted(checkpoint=1, positions=(2,)),
        TransactionAborted(subtask="sink[0]", transaction="t-1"),
        TransactionCommitted(subtask="sink[0]", transaction="t-2"),
    )
    end = replace(STOPPED, reason="transaction t-1 of a completed checkpoint was not committed")
    rows = units(identities("0:2", "0:3"))
    return story(*lines, job=REBALANCE, inputs=marked(THREE), units=rows, end=end)


@bad("input-missing")
def reported_as_committed_and_missing_with_the_marker() -> History:
    return story(inputs=MARKED, units=units([WHOLE_A], [WHOLE_B]))


@near("input-missing")
def everything_there_though_the_end_is_not_reported() -> History:
    return up_to_the_markers([WHOLE_A], [WHOLE_B])


@bad("late-change")
def seen_by_the_second_read_only() -> History:
    return story(inputs=INPUTS, units=units([WHOLE_B], [WHOLE_A], final=True))


@near("late-change")
def seen_at_the_last_poll() -> History:
    return story(inputs=INPUTS, units=units([WHOLE_B], [WHOLE_A]))
