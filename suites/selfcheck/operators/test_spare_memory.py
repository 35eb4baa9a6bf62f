"""Memory that is used again."""

from __future__ import annotations

from holdfast.fixtures.reference.operators.spare_memory import SpareMemory


def test_memory_is_lent_to_one_at_a_time() -> None:
    memory = SpareMemory(2)
    with memory.lend() as one, memory.lend() as other:
        first, second = one(10), other(20)
        first[:], second[:] = b"1" * 10, b"2" * 20
        assert bytes(first) == b"1" * 10
    with memory.lend() as one, memory.lend() as other:
        assert {bytes(one(10)), bytes(other(10))} == {b"1" * 10, b"2" * 10}


def test_no_more_is_kept_than_wanted() -> None:
    memory = SpareMemory(1)
    pieces = [memory.take(10) for _ in range(3)]
    for piece in pieces:
        memory.give_back(piece)
    again = [memory.take(10) for _ in range(2)]
    assert [piece is again[0] for piece in pieces] == [True, False, False]
    assert all(piece is not again[1] for piece in pieces)


def test_a_piece_that_is_too_small_is_not_used() -> None:
    memory = SpareMemory(1)
    small = memory.take(10)
    memory.give_back(small)
    large = memory.take(10 * len(small))
    assert len(large) >= 10 * len(small)
