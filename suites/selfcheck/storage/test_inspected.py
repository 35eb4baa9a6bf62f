"""What a stored savepoint holds, as `holdfast checkpoint inspect` shows it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdfast.fixtures.reference.drivers.inspected import inspected
from holdfast.fixtures.reference.protocol.checkpoints.completed_checkpoint_store import (
    CheckpointMetadata,
    encode_metadata,
)
from holdfast.fixtures.reference.protocol.messages import SubtaskState
from holdfast.harness.engine.pictures.of_checkpoint import picture_of
from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.state import Extent, Manifest, StateDescriptor, StateHandle, StateKind
from holdfast.harness.spi.storage import Scope

GROUPS = 8
STATE = FileReference("state-0", 12, 7)
MANIFEST = Manifest(
    format="canonical-1",
    checkpoint=4,
    subtask=0,
    first_key_group=0,
    end_key_group=4,
    max_parallelism=GROUPS,
    handles=(StateHandle("state-0", Scope.EXCLUSIVE, STATE, {1: Extent(0, 12, 3)}),),
    descriptors=(StateDescriptor(name="sums", kind=StateKind.VALUE),),
)
STATES = (
    SubtaskState("source[0]", positions=((0, 57),)),
    SubtaskState("sum[0]", files=(STATE,), keyed=(MANIFEST,)),
)


@pytest.fixture
def savepoint(tmp_path: Path) -> Path:
    (tmp_path / "state-0").write_bytes(b"twelve bytes")
    content = encode_metadata(4, CheckpointMetadata(GROUPS, STATES, savepoint=True))
    (tmp_path / "_metadata").write_bytes(content)
    return tmp_path


def test_operators_subtasks_key_groups_and_files_are_shown(savepoint: Path) -> None:
    found = inspected(savepoint)
    assert (found.checkpoint, found.savepoint, found.max_parallelism) == (4, True, GROUPS)
    source, total = found.operators
    assert source.subtasks[0].positions == ((0, 57),)
    part = total.subtasks[0]
    assert (part.first_key_group, part.end_key_group, part.states) == (0, 4, ("sums",))
    (file,) = part.files
    assert (file.path, file.length, file.scope, file.key_groups) == ("state-0", 12, "exclusive", ((1, 12),))
    assert file.present


def test_the_metadata_file_is_a_pointer_as_well(savepoint: Path) -> None:
    assert inspected(savepoint / "_metadata") == inspected(savepoint)


def test_a_missing_file_is_shown_as_missing(savepoint: Path) -> None:
    (savepoint / "state-0").unlink()
    assert not inspected(savepoint).operators[1].subtasks[0].files[0].present


@pytest.mark.parametrize("content", [b"", b"no metadata at all, but long enough to have a header"])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "_metadata").write_bytes(content)
    with pytest.raises(ValueError, match="it is no checkpoint of the reference runtime"):
        inspected(tmp_path)


def test_a_folder_without_metadata_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no checkpoint is there"):
        inspected(tmp_path)


def test_the_picture_draws_each_subtask(savepoint: Path) -> None:
    drawn = ElementTree.fromstring(picture_of(inspected(savepoint)))
    texts = [element.text for element in drawn.iter() if element.tag.endswith(("text", "title"))]
    assert {"source", "sum", "partition 0 at 57", "12 bytes in 1 file", "key group 1: 12 bytes"} <= set(texts)
