"""The operator state backend: lists and broadcast maps at a snapshot, dealt out as Flink does."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError

import pytest
from msgspec.structs import replace

from holdfast.fixtures.backends.operator_state import DESCRIPTION, OperatorStateBackend
from holdfast.fixtures.reference.parts import max_parallelism
from holdfast.fixtures.reference.protocol.job.rescaling import dealt, modes_of, redistributed, with_union
from holdfast.fixtures.reference.protocol.messages import SubtaskState
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.plan import Topology
from holdfast.harness.spi.errors import Damaged, Full, Incompatible
from holdfast.harness.spi.state import Extent, StateContext, StateHandle
from holdfast.harness.spi.state.operator_state import (
    OperatorStateDescriptor,
    OperatorStateManifest,
    OperatorStateSnapshot,
    RedistributionMode,
)
from holdfast.harness.spi.storage import Scope

CONTEXT = StateContext(
    job="job", operator="sum", subtask=0, attempt=1, key_groups=range(4), max_parallelism=4, memory_bytes=1 << 20
)
HELD = OperatorStateDescriptor(name="held", mode=RedistributionMode.SPLIT_DISTRIBUTE)
RULES = OperatorStateDescriptor(name="rules", mode=RedistributionMode.BROADCAST)


def never() -> bool:
    return False


def upload(snapshot: OperatorStateSnapshot) -> tuple[OperatorStateManifest, dict[str, bytes]]:
    streams = StagedStreams(lambda scope, name: f"{scope}/{name}")
    manifest = snapshot.upload(streams, never)
    return manifest, {path: bytes(file.content) for path, file in streams.files.items()}


def filled() -> OperatorStateBackend:
    backend = OperatorStateBackend(CONTEXT)
    backend.list_state(HELD).add([b"a", b"", b"b"])
    backend.broadcast_state(RULES).put([(b"k", b"v"), (b"j", b"w")])
    return backend


def test_a_snapshot_is_the_state_at_its_cut() -> None:
    backend = filled()
    taken = backend.snapshot(1)
    backend.list_state(HELD).update([b"later"])
    backend.broadcast_state(RULES).remove([b"k"])
    manifest, contents = upload(taken)
    restored = OperatorStateBackend(CONTEXT)
    restored.restore((manifest,), PreloadedStreams(contents))
    assert restored.list_state(HELD).get() == (b"a", b"", b"b")
    assert restored.broadcast_state(RULES).items() == [(b"j", b"w"), (b"k", b"v")]
    assert restored.broadcast_state(RULES).get(b"k") == b"v"
    assert len(contents) == 1


def test_lists_of_several_parts_follow_each_other_and_broadcast_state_is_one_copy() -> None:
    manifest, contents = upload(filled().snapshot(1))
    restored = OperatorStateBackend(CONTEXT)
    restored.restore((manifest, manifest), PreloadedStreams(contents))
    assert restored.list_state(HELD).get() == (b"a", b"", b"b") * 2
    assert len(restored.broadcast_state(RULES).items()) == 2


def test_what_is_restored_and_not_registered_is_in_the_next_snapshot() -> None:
    manifest, contents = upload(filled().snapshot(1))
    restored = OperatorStateBackend(CONTEXT)
    restored.restore((manifest,), PreloadedStreams(contents))
    again, _ = upload(restored.snapshot(2))
    assert (again.descriptors, again.elements) == (manifest.descriptors, manifest.elements)


def test_empty_state_is_no_file() -> None:
    backend = OperatorStateBackend(CONTEXT)
    backend.list_state(HELD)
    manifest, contents = upload(backend.snapshot(1))
    assert (manifest.handle, contents, manifest.descriptors) == (None, {}, (HELD,))


def test_damage_is_told() -> None:
    manifest, contents = upload(filled().snapshot(1))
    for wrong in (dict.fromkeys(contents, b"x" * 20), dict.fromkeys(contents, b"")):
        with pytest.raises(Damaged):
            OperatorStateBackend(CONTEXT).restore((manifest,), PreloadedStreams(wrong))
    with pytest.raises(Damaged, match="no file"):
        OperatorStateBackend(CONTEXT).restore((replace(manifest, handle=None),), PreloadedStreams(contents))


def test_state_of_another_kind_is_refused() -> None:
    manifest, contents = upload(filled().snapshot(1))
    with pytest.raises(Incompatible, match="other-1"):
        OperatorStateBackend(CONTEXT).restore((replace(manifest, format="other-1"),), PreloadedStreams(contents))
    restored = OperatorStateBackend(CONTEXT)
    restored.restore((manifest,), PreloadedStreams(contents))
    with pytest.raises(Incompatible, match="held"):
        restored.list_state(replace(HELD, mode=RedistributionMode.UNION))


def test_misuse_is_refused() -> None:
    backend = filled()
    with pytest.raises(ValueError, match="broadcast"):
        backend.list_state(RULES)
    with pytest.raises(ValueError, match="list state"):
        backend.broadcast_state(HELD)
    with pytest.raises(RuntimeError, match="registered as"):
        backend.list_state(replace(HELD, version=2))
    with pytest.raises(RuntimeError, match="comes first"):
        backend.restore((), PreloadedStreams({}))
    backend.snapshot(2)
    with pytest.raises(RuntimeError, match="not greater"):
        backend.snapshot(2)
    with pytest.raises(ValueError, match="unknown"):
        OperatorStateBackend(replace(CONTEXT, options={"a": "b"}))


def test_what_is_too_long_is_refused_and_changes_nothing() -> None:
    rules = filled().broadcast_state(RULES)
    with pytest.raises(Full, match="max_key_bytes"):
        rules.put([(b"l", b"v"), (b"x" * (DESCRIPTION.max_key_bytes + 1), b"v")])
    assert len(rules.items()) == 2


def test_behind_release_give_up_and_close_there_is_nothing() -> None:
    backend = filled()
    streams = StagedStreams(lambda scope, name: name)
    with pytest.raises(CancelledError):
        backend.snapshot(1).upload(streams, lambda: True)
    taken = backend.snapshot(2)
    taken.release()
    with pytest.raises(RuntimeError, match="released"):
        taken.upload(streams, never)
    assert not streams.files
    held = backend.list_state(HELD)
    backend.close()
    backend.close()
    with pytest.raises(RuntimeError, match="closed"):
        held.get()


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
