"""List state is dealt out as Flink's RoundRobinOperatorStateRepartitioner does; key groups are as many as Flink's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.fixtures.reference.protocol.job.operator_state import dealt, modes_of, redistributed, with_union
from holdfast.fixtures.reference.protocol.max_parallelism import max_parallelism
from holdfast.fixtures.reference.protocol.messages import SubtaskState
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.plan import Topology
from holdfast.harness.spi.state import Extent, StateHandle
from holdfast.harness.spi.state.operator_state import (
    OperatorStateDescriptor,
    OperatorStateManifest,
    RedistributionMode,
)
from holdfast.harness.spi.storage import Scope

SPLIT, UNION, BROADCAST = RedistributionMode


def manifest(subtask: int, **elements: tuple[RedistributionMode, int]) -> OperatorStateManifest:
    """What one subtask holds: by name of a state its mode, and how many elements; each is known by its offset."""
    handle = StateHandle(f"{subtask}", Scope.EXCLUSIVE, FileReference(f"chk-1/{subtask}", 100, 0), {})
    return OperatorStateManifest(
        format="operator-state-1",
        checkpoint=1,
        descriptors=tuple(OperatorStateDescriptor(name=name, mode=mode) for name, (mode, _) in elements.items()),
        handle=handle,
        elements={
            name: tuple(Extent(100 * subtask + place, 1, 0) for place in range(count))
            for name, (_, count) in elements.items()
        },
    )


def given(parts: Sequence[OperatorStateManifest], name: str) -> list[int]:
    return [extent.offset for part in parts for extent in part.elements.get(name, ())]


@pytest.mark.parametrize(
    ("count", "parallelism", "first", "expected"),
    [
        (10, 3, 0, [4, 3, 3]),
        (11, 3, 0, [4, 4, 3]),
        (10, 3, 1, [3, 4, 3]),
        (11, 3, 2, [4, 3, 4]),
        (2, 4, 0, [1, 1, 0, 0]),
        (0, 2, 0, [0, 0]),
    ],
)
def test_runs_differ_by_one_at_most(count: int, parallelism: int, first: int, expected: list[int]) -> None:
    elements = [(0, Extent(place, 1, 0)) for place in range(count)]
    runs = list(dealt(elements, parallelism, first))
    assert [len(run) for run in runs] == expected
    in_turn = [runs[(first + turn) % parallelism] for turn in range(parallelism)]
    assert [each for run in in_turn for each in run] == elements


def test_the_second_state_goes_on_where_the_first_gave_one_more() -> None:
    shares = redistributed([manifest(0, a=(SPLIT, 4), b=(SPLIT, 4))], 3)
    assert [len(given(share, "a")) for share in shares] == [2, 1, 1]
    assert [len(given(share, "b")) for share in shares] == [1, 2, 1]


def test_a_copy_of_broadcast_state_goes_to_each() -> None:
    shares = redistributed([manifest(0, rules=(BROADCAST, 1)), manifest(1, rules=(BROADCAST, 1))], 3)
    assert [given(share, "rules") for share in shares] == [[0], [100], [0]]


def test_a_state_without_elements_keeps_its_descriptor() -> None:
    shares = redistributed([manifest(0, a=(SPLIT, 1), b=(SPLIT, 0))], 2)
    assert [sorted(modes_of(share)) for share in shares] == [["a", "b"], ["a", "b"]]


def test_union_state_is_whole_and_what_is_split_is_as_it_was() -> None:
    states = [
        SubtaskState(
            f"note[{index}]",
            files=(FileReference(f"chk-1/{index}", 100, 0),),
            operator=(manifest(index, all=(UNION, 2), own=(SPLIT, 1)),),
        )
        for index in (0, 1)
    ]
    whole = with_union(states[1], states)
    assert given(whole.operator, "all") == [0, 1, 100, 101]
    assert given(whole.operator, "own") == [100]
    assert [file.path for file in whole.files] == ["chk-1/0", "chk-1/1"]


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [(1, 128), (85, 128), (86, 256), (170, 256), (171, 256), (172, 512), (21_845, 32_768), (32_768, 32_768)],
)
def test_key_groups_by_default(parallelism: int, expected: int) -> None:
    assert max_parallelism(Topology(parallelism, 0)) == expected


def test_key_groups_that_are_said() -> None:
    assert max_parallelism(Topology(4, 300)) == 300
