"""The clock of arrivals goes on from where it stands, and says when it will show a time."""

from __future__ import annotations

from holdfast.fixtures.reference.connectors.arrival_clock import ArrivalClock


def test_a_surge_moves_what_comes_and_not_what_has_come() -> None:
    clock = ArrivalClock()
    clock.change(100, 300)
    assert [clock.reading_ns(at) for at in (100, 110, 120)] == [100, 130, 160]
    clock.change(120, 100)
    assert [clock.reading_ns(at) for at in (120, 130)] == [160, 170]


def test_a_time_is_reached_when_it_is_shown() -> None:
    clock = ArrivalClock()
    clock.change(100, 300)
    for arrival in range(100, 200):
        reached = clock.reached_ns(arrival)
        assert clock.reading_ns(reached) >= arrival > clock.reading_ns(reached - 1)
