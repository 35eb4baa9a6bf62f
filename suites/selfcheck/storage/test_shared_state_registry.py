"""The shared state registry alone: what it replaces, what it rejects, and when a file is unused (RULES INC)."""

from __future__ import annotations

import pytest

from holdfast.fixtures.reference.protocol.checkpoints.shared_state_registry import (
    RejectedState,
    Release,
    SharedStateRegistry,
)
from holdfast.fixtures.reference.protocol.messages import SubtaskState
from holdfast.harness.model.events import FileReference, SharedFileUse
from holdfast.harness.spi.state import Manifest, StateHandle
from holdfast.harness.spi.storage import Scope

SUM = "sum[0]"
SIZE = 10


def stored(name: str, subtask: str = SUM, checkpoint: int = 1) -> FileReference:
    """A shared file as it was written for a checkpoint."""
    return FileReference(f"shared/{subtask}-{checkpoint}-{name}", SIZE, checksum=int(name))


def state(
    new: tuple[str, ...] = (),
    again: tuple[str, ...] = (),
    *,
    subtask: str = SUM,
    checkpoint: int = 1,
    inline: bool = False,
) -> SubtaskState:
    """What a subtask acknowledges: these files are new, and those again under placeholders."""
    files = tuple(stored(name, subtask, checkpoint) for name in new)
    handles = [StateHandle(name, Scope.SHARED, file, {}) for name, file in zip(new, files, strict=True)]
    handles += [StateHandle(name, Scope.SHARED, None, {}) for name in again]
    kept = () if inline else files
    contents = tuple((file.path, b"0" * SIZE) for file in files) if inline else ()
    return SubtaskState(subtask, files=kept, inline=contents, keyed=(manifest(checkpoint, handles, subtask),))


def manifest(checkpoint: int, handles: list[StateHandle], subtask: str = SUM) -> Manifest:
    return Manifest(
        format="files-1",
        checkpoint=checkpoint,
        subtask=int(subtask[-2]),
        first_key_group=0,
        end_key_group=8,
        max_parallelism=8,
        handles=tuple(handles),
        descriptors=(),
    )


def counts(registry: SharedStateRegistry) -> dict[str, int]:
    return {key.name: len(users) for key, users in registry.users.items()}


def unused(releases: list[Release]) -> set[str]:
    return {path.rpartition("-")[2] for release in releases for path in release.unused}


def golden(registry: SharedStateRegistry, checkpoint: int) -> SubtaskState:
    """A checkpoint of the run of seeds/001 completes."""
    states = {
        1: state(("1", "2"), checkpoint=1),
        2: state(("3", "4"), ("1", "2"), checkpoint=2),
        3: state(("123", "5"), ("4",), checkpoint=3),
        4: state(("456",), ("123",), checkpoint=4),
    }
    registered = registry.register(checkpoint, states[checkpoint])
    assert registry.completed(checkpoint) == []
    return registered


def test_golden_run_counts_and_files_with_two_retained() -> None:
    registry = SharedStateRegistry()
    golden(registry, 1)
    assert counts(registry) == {"1": 1, "2": 1}
    golden(registry, 2)
    assert counts(registry) == {"1": 2, "2": 2, "3": 1, "4": 1}
    golden(registry, 3)
    assert unused(registry.dropped(1)) == set()
    assert counts(registry) == {"1": 1, "2": 1, "3": 1, "4": 2, "123": 1, "5": 1}
    golden(registry, 4)
    assert unused(registry.dropped(2)) == {"1", "2", "3"}
    assert counts(registry) == {"4": 1, "5": 1, "123": 2, "456": 1}


def test_placeholders_are_replaced_and_all_files_are_named() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    resolved = registry.register(2, state(("2",), ("1",), checkpoint=2))
    assert [handle.reference for handle in resolved.keyed[0].handles] == [stored("2", checkpoint=2), stored("1")]
    assert resolved.files == (stored("2", checkpoint=2), stored("1"))


def test_content_below_the_inline_threshold_goes_on_with_its_placeholder() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",), inline=True))
    resolved = registry.register(2, state((), ("1",), checkpoint=2))
    assert resolved.files == ()
    assert resolved.inline == ((stored("1").path, b"0" * SIZE),)
    assert registry.reused_bytes(state((), ("1",), checkpoint=2)) == SIZE
    registry.completed(3)
    registry.dropped(1)
    assert registry.dropped(2) == [Release(2, (SharedFileUse("sum[0]/1", stored("1").path, 0),), ())]
    assert not registry.files


def test_state_without_shared_files_stays_as_it_is() -> None:
    registry, plain = SharedStateRegistry(), SubtaskState(SUM, files=(stored("1"),))
    assert registry.register(1, plain) is plain
    assert registry.aborted(1) == []


def test_equal_names_of_different_subtasks_never_meet() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    registry.register(1, state(("1",), subtask="sum[1]"))
    registry.register(1, state(("1",), subtask="join[0]"))
    resolved = registry.register(2, state((), ("1",), subtask="sum[1]", checkpoint=2))
    assert resolved.files == (stored("1", "sum[1]"),)
    assert counts(registry) == {"1": 1}
    assert len(registry.files) == 3


def test_unknown_placeholder_is_rejected_and_registers_nothing() -> None:
    registry = SharedStateRegistry()
    with pytest.raises(RejectedState, match=r"sum\[0\] refers to shared file sum\[0\]/7, which no checkpoint holds"):
        registry.register(2, state(("8",), ("7",)))
    assert not registry.files


def test_one_name_for_two_files_is_rejected_and_the_first_stays() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    second = state(("1",), checkpoint=2)
    with pytest.raises(RejectedState, match="gives name sum"):
        registry.register(2, second)
    assert registry.paths_in_use(second) == set()
    assert registry.paths_in_use(state(("1",))) == {stored("1").path}
    assert counts(registry) == {"1": 1}


def test_one_name_twice_in_one_state_is_rejected() -> None:
    files = (stored("1"), stored("1", checkpoint=2))
    twice = [StateHandle("1", Scope.SHARED, file, {}) for file in files]
    with pytest.raises(RejectedState, match="gives name"):
        SharedStateRegistry().register(1, SubtaskState(SUM, files=files, keyed=(manifest(1, twice),)))


def test_reference_to_a_file_that_is_gone_is_rejected() -> None:
    gone = [StateHandle("1", Scope.SHARED, stored("1"), {})]
    with pytest.raises(RejectedState, match="which no checkpoint holds"):
        SharedStateRegistry().register(4, SubtaskState(SUM, keyed=(manifest(4, gone),)))


def test_an_abort_releases_what_its_checkpoint_alone_brought() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    registry.triggered(2)
    registry.register(2, state(("2",), ("1",), checkpoint=2))
    assert unused(registry.aborted(2)) == {"2"}
    assert counts(registry) == {"1": 1}


def test_what_a_pending_checkpoint_may_rest_on_stays() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    registry.triggered(2)
    registry.triggered(3)
    registry.register(2, state(("2",), checkpoint=2))
    assert registry.completed(2) == []
    assert registry.dropped(1) == []
    resolved = registry.register(3, state((), ("1",), checkpoint=3))
    assert resolved.files == (stored("1"),)
    assert unused(registry.completed(3)) == set()
    assert unused(registry.dropped(2)) == {"2"}
    assert counts(registry) == {"1": 1}


def test_a_base_that_nobody_used_goes_with_the_pending_checkpoint() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    registry.completed(1)
    registry.triggered(3)
    registry.register(2, state(("2",), checkpoint=2))
    registry.completed(2)
    assert registry.dropped(1) == []
    assert unused(registry.aborted(3)) == {"1"}


def test_the_newest_checkpoint_stays_though_a_savepoint_takes_its_place() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    registry.completed(1)
    assert registry.dropped(1) == []
    assert registry.register(3, state(("2",), ("1",), checkpoint=3)).files[-1] == stored("1")
    assert registry.completed(3) == [Release(1, (SharedFileUse("sum[0]/1", stored("1").path, 1),), ())]


def test_what_a_job_that_is_over_drops_is_released() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    registry.completed(1)
    registry.ended()
    assert unused(registry.dropped(1)) == {"1"}


def test_a_recovery_begins_anew_with_what_is_retained() -> None:
    registry = SharedStateRegistry()
    registry.register(1, state(("1",)))
    retained = registry.register(2, state(("2",), ("1",), checkpoint=2))
    registry.register(3, state(("3",), ("2",), checkpoint=3))
    registry.triggered(4)
    registry.recover([(2, (retained,))])
    assert counts(registry) == {"2": 1, "1": 1}
    registry.completed(5)
    assert unused(registry.dropped(2)) == {"1", "2"}
