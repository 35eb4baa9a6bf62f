"""Uploads of state: one that was given up stores nothing, and while one runs its snapshot is not released."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from threading import Event, Thread

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.operator_state import OperatorStateBackend
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams, StoredState
from holdfast.fixtures.reference.protocol.tasks.state_handler import StateHandler, StateSnapshot
from holdfast.fixtures.reference.protocol.tasks.uploads import StateUpload
from holdfast.harness.spi.state import Cancelled, StateContext, StateDescriptor, StateKind
from holdfast.harness.spi.storage import CheckpointStreamFactory

CONTEXT = StateContext(
    job="job", operator="sum", subtask=0, attempt=1, key_groups=range(4), max_parallelism=4, memory_bytes=1 << 20
)
SUMS = StateDescriptor(name="sums", kind=StateKind.VALUE)
NOTHING = StoredState(None, None)


class Scripted(StateSnapshot):
    """A snapshot whose upload is what a test says."""

    def __init__(self, act: Callable[[Cancelled], None]) -> None:
        super().__init__(StateHandler(), None, None)
        self.act = act

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> StoredState:
        self.act(cancelled)
        return super().upload(streams, cancelled)


def streams() -> StagedStreams:
    return StagedStreams(lambda scope, name: f"{scope}/{name}")


def raising(error: Exception) -> Scripted:
    def act(cancelled: Cancelled) -> None:
        raise error

    return Scripted(act)


def test_what_was_given_up_before_it_began_is_not_uploaded() -> None:
    upload = StateUpload(raising(AssertionError("it was uploaded")))
    assert upload.give_up()
    assert upload.run(streams()) is None


def test_while_it_runs_it_is_not_released_and_hears_that_nobody_waits() -> None:
    began, go_on, heard = Event(), Event(), []

    def act(cancelled: Cancelled) -> None:
        began.set()
        go_on.wait()
        heard.append(cancelled())
        raise CancelledError

    upload = StateUpload(Scripted(act))
    answers: list[StoredState | None] = []
    thread = Thread(target=lambda: answers.append(upload.run(streams())))
    thread.start()
    began.wait()
    assert not upload.give_up()
    go_on.set()
    thread.join()
    assert (heard, answers) == ([True], [None])
    assert upload.give_up()


def test_an_upload_of_what_was_released_fails_as_a_store_does() -> None:
    with pytest.raises(OSError, match="was released"):
        StateUpload(raising(RuntimeError("the snapshot was released."))).run(streams())


def test_whoever_waits_is_answered() -> None:
    assert StateUpload(Scripted(lambda cancelled: None)).run(streams()) == NOTHING


def test_a_subtask_keeps_both_kinds_of_state() -> None:
    keyed, operator = HashMapBackend(CONTEXT), OperatorStateBackend(CONTEXT)
    handler = StateHandler(keyed, operator)
    keyed.table(SUMS).put(2, b"", [(b"k", b"v")], now_ms=0)
    first, second = handler.snapshot(1), handler.snapshot(2)
    assert first is not None
    assert second is not None
    assert handler.open_snapshots == 2
    staged = streams()
    stored = first.upload(staged, lambda: False)
    first.release()
    first.release()
    assert handler.open_snapshots == 1
    assert stored.keyed is not None
    assert stored.operator is not None
    restored = StateHandler(HashMapBackend(CONTEXT), OperatorStateBackend(CONTEXT))
    contents = {path: bytes(file.content) for path, file in staged.files.items()}
    restored.restore((stored.keyed,), (stored.operator,), PreloadedStreams(contents))
    assert restored.stored == {2}


def test_what_a_snapshot_costs_is_told_where_the_backend_tells_it() -> None:
    backend = HashMapBackend(CONTEXT)
    table = backend.table(SUMS)
    taken = StateHandler(backend).snapshot(1)
    assert taken is not None
    table.put(2, b"", [(b"k", b"v"), (b"l", b"v")], now_ms=0)
    kept = taken.kept()
    assert kept is not None
    assert (kept.kept_entries, kept.page_entries) == (2, 1)
    assert StateSnapshot(StateHandler(), None, None).kept() is None


def test_state_that_the_subtask_does_not_have_is_refused() -> None:
    stored = StateHandler(HashMapBackend(CONTEXT)).snapshot(1)
    assert stored is not None
    keyed, _ = stored.upload(streams(), lambda: False)
    assert keyed is not None
    with pytest.raises(ValueError, match="of a kind that the subtask has not"):
        StateHandler().restore((keyed,), (), PreloadedStreams({}))


def test_behind_its_end_a_subtask_hears_of_no_checkpoint() -> None:
    backend = HashMapBackend(CONTEXT)
    handler = StateHandler(backend)
    handler.confirmed(1)
    handler.close()
    handler.confirmed(2)
    handler.aborted(3)
    with pytest.raises(RuntimeError, match="closed"):
        backend.confirmed(2)
