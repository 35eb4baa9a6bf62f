"""Histories for NOLOSS: at-least-once is claimed."""

from __future__ import annotations

from functools import partial

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.records import FoldRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.output_builder import (
    WHOLE_A,
    WHOLE_B,
    fold,
    identities,
    row_by_row,
    units,
    up_to_the_markers,
)

bad, near = exhibits("NOLOSS")

THREE = input_log(3)


repeated = partial(row_by_row, claimed=AT_LEAST_ONCE)


@bad("input-lost")
def last_row_lacks_a_record() -> History:
    return repeated(fold("a", (0, 2, 4), (0,)))


@bad("input-lost")
def one_lost_and_one_repeated() -> History:
    return repeated(fold("a", (0, 2, 2), (0, 2)))


@bad("input-lost")
def repeats_hide_a_loss() -> History:
    return repeated(fold("a", (0, 2, 0, 2), (0, 2, 0)))


@bad("input-lost")
def key_never_seen() -> History:
    return repeated()


@bad("input-lost")
def hole_before_a_visible_marker() -> History:
    return up_to_the_markers([WHOLE_A], [fold("b", (1, 3), (1, 3))], claimed=AT_LEAST_ONCE)


@bad("input-lost")
def repeats_hide_a_loss_before_a_visible_marker() -> History:
    return up_to_the_markers([fold("a", (0, 2, 2), (0, 2))], [WHOLE_B], claimed=AT_LEAST_ONCE)


@near("input-lost")
def stepped_back_and_caught_up() -> History:
    return repeated(fold("a", (0, 2), (0, 2)), fold("a", (0, 2), (0,)), WHOLE_A, WHOLE_A)


@bad("input-lost")
def identity_lost() -> History:
    return story(job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:2")), claimed=AT_LEAST_ONCE)


@near("input-lost")
def identity_seen_twice() -> History:
    rows = identities("0:0", "0:1"), identities("0:1", "0:2")
    return story(job=REBALANCE, inputs=THREE, units=units(*rows), claimed=AT_LEAST_ONCE)


@bad("digest-wrong")
def digest_of_another_hash() -> History:
    return repeated(FoldRow("a", WHOLE_A.value, WHOLE_A.counts, WHOLE_A.digest ^ 1))


@near("digest-wrong")
def digest_of_the_records() -> History:
    return repeated(WHOLE_A)


@bad("extra-not-a-repeat")
def record_of_another_key() -> History:
    return repeated(fold("a", (0, 2, 3), (0, 2)))


@bad("extra-not-a-repeat")
def value_that_no_repeat_explains() -> History:
    twice = fold("a", (0, 2, 4, 4), (0, 2))
    return repeated(FoldRow("a", twice.value + 1, twice.counts, twice.digest))


@bad("extra-not-a-repeat")
def value_of_other_records() -> History:
    return repeated(FoldRow("a", WHOLE_A.value + 1, WHOLE_A.counts, WHOLE_A.digest))


@bad("extra-not-a-repeat")
def key_of_no_input() -> History:
    return repeated(WHOLE_A, fold("c", (0,), ()))


@bad("extra-not-a-repeat")
def identity_of_no_input() -> History:
    rows = identities("0:0", "0:1", "0:2", "0:3")
    return story(job=REBALANCE, inputs=THREE, units=units(rows), claimed=AT_LEAST_ONCE)


@near("extra-not-a-repeat")
def record_applied_twice_at_least_once() -> History:
    return repeated(fold("a", (0, 2, 4, 4), (0, 2)))


@near("excess-unexplained")
def one_run_of_each_partition_repeated() -> History:
    return repeated(fold("a", (0, 2, 4, 2, 4), (0, 2, 0, 2)))
