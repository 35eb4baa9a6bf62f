"""The two-bit counters: exact whatever overflows, however the identities are cut into calls and merged."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.harness.oracles.output.delivery import Delivery, DeliveryCounter
from holdfast.harness.oracles.output.two_bit_counters import BLOCK_BYTES, BLOCK_NUMBERS, NAMED

LENGTHS = (40, 0, 7)
calls = st.lists(st.tuples(st.integers(-1, 3), st.lists(st.integers(-2, 41), max_size=30)), max_size=8)


def counted(identities: list[tuple[int, list[int]]], firsts: tuple[int, ...] = ()) -> Delivery:
    counter = DeliveryCounter(LENGTHS, first_offsets=firsts)
    for partition, offsets in identities:
        counter.count(partition, np.array(offsets, np.int64))
    return counter.verdict()


@given(calls, st.sampled_from([(), (3, 0, 7), (40, 0, 0)]))
def test_counters_agree_with_a_dictionary(identities: list[tuple[int, list[int]]], firsts: tuple[int, ...]) -> None:
    rows = Counter((partition, offset) for partition, offsets in identities for offset in offsets)
    expected = [
        (partition, offset)
        for partition, length in enumerate(LENGTHS)
        for offset in range((firsts or (0, 0, 0))[partition], length)
    ]
    lost = [identity for identity in expected if not rows[identity]]
    duplicated = [identity for identity in expected if rows[identity] > 1]
    found = counted(identities, firsts)
    assert (found.lost, found.first_lost) == (len(lost), tuple(lost[:NAMED]))
    assert (found.duplicated, found.first_duplicated) == (len(duplicated), tuple(duplicated[:NAMED]))
    assert found.unknown == rows.total() - sum(rows[identity] for identity in expected)
    unknown = sorted(identity for identity in rows.elements() if identity not in expected)
    assert found.first_unknown == tuple(unknown[:NAMED])


@given(calls, calls)
def test_merged_counters_are_as_one(mine: list[tuple[int, list[int]]], others: list[tuple[int, list[int]]]) -> None:
    left, right = DeliveryCounter(LENGTHS), DeliveryCounter(LENGTHS)
    for counter, identities in ((left, mine), (right, others)):
        for partition, offsets in identities:
            counter.count(partition, np.array(offsets, np.int64))
    left.merge(right)
    assert left.verdict() == counted(mine + others)
    left.count(0, np.arange(40))  # what a merge leaves must still add up
    assert left.verdict() == counted([*mine, *others, (0, list(range(40)))])


def test_only_counters_of_the_same_identities_merge() -> None:
    with pytest.raises(ValueError, match="other identities"):
        DeliveryCounter((3,)).merge(DeliveryCounter((4,)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_large_calls_with_many_repeats(seed: int) -> None:
    length = BLOCK_BYTES * 4 + BLOCK_NUMBERS + 5
    random = np.random.default_rng(seed)
    counter, times = DeliveryCounter((length,)), np.zeros(length, np.int64)
    for _ in range(2 * seed):
        offsets = random.permutation(length)[: random.integers(length)]
        offsets = np.append(offsets, random.integers(0, length, random.integers(1_000)).repeat(random.integers(6)))
        counter.count(0, offsets)
        times += np.bincount(offsets, minlength=length)
    found = counter.verdict()
    assert found.lost == np.count_nonzero(times == 0)
    assert found.duplicated == np.count_nonzero(times > 1)
    assert [offset for _, offset in found.first_lost] == np.flatnonzero(times == 0)[:NAMED].tolist()
    assert [offset for _, offset in found.first_duplicated] == np.flatnonzero(times > 1)[:NAMED].tolist()


def test_a_small_call_into_a_large_partition_saturates_too() -> None:
    counter = DeliveryCounter((1_000_000,))
    for _ in range(3):
        counter.count(0, np.array([999_999, 5, 5]))
    found = counter.verdict()
    assert (found.lost, found.duplicated) == (999_998, 2)
    assert found.first_duplicated == ((0, 5), (0, 999_999))


def test_order_is_judged_within_a_partition_and_across_calls() -> None:
    counter = DeliveryCounter((9, 9), first_offsets=(2, 0), ordered=True)
    for partition, offsets in ((0, [2, 3, 3, 5]), (1, [0, 4]), (0, [4, 6]), (1, [4, 99, 3])):
        counter.count(partition, np.array(offsets))
    found = counter.verdict()
    assert found.disordered == 2
    assert found.first_disordered == ((0, 4), (1, 3))


def test_offsets_of_any_integer_type_and_layout_count() -> None:
    counter = DeliveryCounter((6,))
    counter.count(0, np.array([0, 1, 2], np.uint8))
    counter.count(0, np.arange(12)[6::2] // 2)
    assert counter.verdict() == Delivery(0, 0, 0, 0, (), (), (), ())
