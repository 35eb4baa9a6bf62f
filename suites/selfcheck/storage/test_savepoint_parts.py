"""A savepoint whose parts need files of checkpoints is given up, and its coordinator goes on (INC-06)."""

from __future__ import annotations

import pytest

from holdfast.faults.savepoint import savepoint
from holdfast.fixtures.reference.protocol.checkpoints.checkpoint_publication import require_whole
from holdfast.fixtures.reference.protocol.checkpoints.shared_state_registry import RejectedState
from holdfast.fixtures.reference.protocol.messages import SubtaskState
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.state import Manifest, StateHandle
from holdfast.harness.spi.storage import Scope
from holdfast.suites.conformance import plans

FOLDER = "savepoints/one/"
INSIDE, OUTSIDE = FileReference(f"{FOLDER}a", 1, 1), FileReference("checkpoints/job-0/shared/a", 1, 1)


def part(reference: FileReference | None, *files: FileReference) -> SubtaskState:
    manifest = Manifest(
        format="any",
        checkpoint=1,
        subtask=0,
        first_key_group=0,
        end_key_group=1,
        max_parallelism=1,
        handles=(StateHandle("a", Scope.EXCLUSIVE, reference, {}),),
        descriptors=(),
    )
    return SubtaskState("sum[0]", files=files, keyed=(manifest,))


def test_what_lies_in_its_folder_is_whole() -> None:
    require_whole(part(INSIDE, INSIDE), FOLDER)


@pytest.mark.parametrize("wrong", [part(OUTSIDE, OUTSIDE), part(OUTSIDE), part(None), part(INSIDE, OUTSIDE)])
def test_what_lies_elsewhere_is_rejected_by_name(wrong: SubtaskState) -> None:
    with pytest.raises(RejectedState, match=r"needs .* of sum\[0\], which lies elsewhere"):
        require_whole(wrong, FOLDER)


def test_its_coordinator_lives() -> None:
    options = {**plans.STATE_IN_FILES, profile.BACKEND: "rocksdb", profile.INCREMENTAL: "true"}
    plan = plans.plan(savepoint(after_checkpoint=2), options=options)
    history = run_plan(plan, ReferenceSystem("rests-on-savepoint"), registry.toolbox()).history
    [triggered] = history.of(events.SavepointTriggered)
    ends = {aborted.checkpoint: aborted.reason for aborted in history.of(events.CheckpointAborted)}
    assert ends[triggered.checkpoint] == FailureReason.REJECTED_STATE
    assert not history.of(events.NodeDied)
    assert any(completed.checkpoint > triggered.checkpoint for completed in history.of(events.CheckpointCompleted))
