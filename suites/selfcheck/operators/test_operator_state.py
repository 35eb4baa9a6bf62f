"""The operator state backend: lists and broadcast maps, as they were at a snapshot."""

from __future__ import annotations

from concurrent.futures import CancelledError

import pytest
from msgspec.structs import replace

from holdfast.fixtures.backends.operator_state import DESCRIPTION, OperatorStateBackend
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.harness.spi.errors import Damaged, Full, Incompatible
from holdfast.harness.spi.state import StateContext
from holdfast.harness.spi.state.operator_state import (
    OperatorStateDescriptor,
    OperatorStateManifest,
    OperatorStateSnapshot,
    RedistributionMode,
)

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
