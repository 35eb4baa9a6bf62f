"""What each unit of output holds, at each look and in the end."""

from __future__ import annotations

from holdfast.fixtures.pipelines.output.pipeline_output import Seen, UnitVersions
from holdfast.harness.model.events import RowsChanged, RowsVisible


def visible(name: str, poll: int) -> RowsVisible:
    return RowsVisible(name=name, poll=poll, records=1, checksum=0)


def changed(name: str, poll: int, records: int | None = 1) -> RowsChanged:
    return RowsChanged(name=name, poll=poll, vanished=records is None, records=records)


def versions(*events: Seen, replaceable: bool = True) -> UnitVersions:
    made = UnitVersions(replaceable=replaceable)
    for event in events:
        made.add(event)
    return made


def held(made: UnitVersions) -> list[list[tuple[str, int]]]:
    """By look."""
    return [[(event.name, number) for number, event in found] for _, found in made.looks()]


def test_the_last_content_of_each_unit_counts() -> None:
    made = versions(visible("a", 1), visible("b", 1), changed("a", 2), visible("c", 3))
    assert held(made) == [[("a", 0), ("b", 1)], [("b", 1), ("a", 2)], [("b", 1), ("a", 2), ("c", 3)]]
    assert [(number, event.poll) for number, event in made.last()] == [(1, 1), (2, 2), (3, 3)]


def test_a_unit_that_vanished_counts_again_when_it_is_back() -> None:
    assert held(versions(visible("a", 1), changed("a", 2, None), changed("a", 3))) == [[("a", 0)], [], [("a", 1)]]


def test_where_nothing_may_be_replaced_what_was_seen_once_counts() -> None:
    rewritten = RowsChanged(name="b", poll=3, vanished=False)
    made = versions(visible("a", 1), changed("a", 2, None), rewritten, replaceable=False)
    assert held(made) == [[("a", 0)]]


def test_without_output_nothing_is_held() -> None:
    assert versions().last() == []
