"""What a savepoint holds: as it is inspected, compared by an audit, or given up (INC-06)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from holdfast.faults.user import savepoint
from holdfast.fixtures.reference.drivers.audit import restored_content
from holdfast.fixtures.reference.drivers.inspected import inspect_checkpoint
from holdfast.fixtures.reference.drivers.simulated import deployment
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.checkpoints.completed_checkpoint_store import (
    CheckpointMetadata,
    encode_metadata,
)
from holdfast.fixtures.reference.protocol.checkpoints.coordinator_parts import require_whole
from holdfast.fixtures.reference.protocol.checkpoints.shared_state_registry import RejectedState
from holdfast.fixtures.reference.protocol.execution_graph import ExecutionGraph
from holdfast.fixtures.reference.protocol.messages import SubtaskState
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.pictures.inspected_checkpoint import picture_of
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import Event, FileReference, SubtaskAudited
from holdfast.harness.spi.state import Extent, Manifest, StateDescriptor, StateHandle, StateKind
from holdfast.harness.spi.state.operator_state import OperatorStateDescriptor, OperatorStateManifest, RedistributionMode
from holdfast.harness.spi.storage import Scope
from holdfast.suites.conformance import plans

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
def stored_savepoint(tmp_path: Path) -> Path:
    (tmp_path / "state-0").write_bytes(b"twelve bytes")
    content = encode_metadata(4, CheckpointMetadata(GROUPS, STATES, savepoint=True))
    (tmp_path / "_metadata").write_bytes(content)
    return tmp_path


def test_operators_subtasks_key_groups_and_files_are_shown(stored_savepoint: Path) -> None:
    found = inspect_checkpoint(stored_savepoint)
    assert (found.checkpoint, found.savepoint, found.max_parallelism) == (4, True, GROUPS)
    source, total = found.operators
    assert source.subtasks[0].positions == ((0, 57),)
    part = total.subtasks[0]
    assert (part.first_key_group, part.end_key_group, part.states) == (0, 4, ("sums",))
    (file,) = part.files
    assert (file.path, file.length, file.scope, file.key_groups) == ("state-0", 12, "exclusive", ((1, 12),))
    assert file.present


def test_the_metadata_file_is_a_pointer_as_well(stored_savepoint: Path) -> None:
    assert inspect_checkpoint(stored_savepoint / "_metadata") == inspect_checkpoint(stored_savepoint)


def test_a_missing_file_is_shown_as_missing(stored_savepoint: Path) -> None:
    (stored_savepoint / "state-0").unlink()
    assert not inspect_checkpoint(stored_savepoint).operators[1].subtasks[0].files[0].present


@pytest.mark.parametrize("content", [b"", b"no metadata at all, but long enough to have a header"])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "_metadata").write_bytes(content)
    with pytest.raises(ValueError, match="it is no checkpoint of the reference runtime"):
        inspect_checkpoint(tmp_path)


def test_a_folder_without_metadata_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no checkpoint is there"):
        inspect_checkpoint(tmp_path)


def test_the_picture_draws_each_subtask(stored_savepoint: Path) -> None:
    drawn = ElementTree.fromstring(picture_of(inspect_checkpoint(stored_savepoint)))
    texts = [element.text for element in drawn.iter() if element.tag.endswith(("text", "title"))]
    assert {"source", "sum", "partition 0 at 57", "12 bytes in 1 file", "key group 1: 12 bytes"} <= set(texts)


PLAN = draw_plan(1)
GRAPH = REFERENCE.graph(PLAN, REFERENCE.configure(PLAN)).at(2)
FILE = StateHandle("full", Scope.EXCLUSIVE, FileReference("chk-1/full", 4, 7), {3: Extent(0, 4, 7)})
LISTS = StateHandle("lists", Scope.EXCLUSIVE, FileReference("chk-1/lists", 2, 8), {})
SUMS = StateDescriptor(name="sums", kind=StateKind.VALUE)
OFFSETS = OperatorStateDescriptor(name="offsets", mode=RedistributionMode.UNION)
KEYED = Manifest(
    format="hashmap-1",
    checkpoint=1,
    subtask=0,
    first_key_group=0,
    end_key_group=8,
    max_parallelism=16,
    handles=(FILE,),
    descriptors=(SUMS,),
)
OPERATOR = OperatorStateManifest(
    format="operator-state-1",
    checkpoint=1,
    descriptors=(OFFSETS,),
    handle=LISTS,
    elements={"offsets": (Extent(0, 2, 8),)},
)


class Restore(NamedTuple):
    """What a key is made of."""

    state: SubtaskState = SubtaskState("sum[0]", keyed=(KEYED,), operator=(OPERATOR,), channel_file="chk-1/channels")
    contents: Mapping[str, bytes] = {"chk-1/full": b"full", "chk-1/lists": b"ab", "chk-1/channels": b"batches"}
    graph: ExecutionGraph = GRAPH
    attempt: int = 1

    def key(self) -> Hashable:
        return restored_content(*self)


def _keyed(**changed: object) -> Restore:
    return Restore(replace(Restore().state, keyed=(replace(KEYED, **changed),)))


def _operator(**changed: object) -> Restore:
    return Restore(replace(Restore().state, operator=(replace(OPERATOR, **changed),)))


def _file(**changed: object) -> Restore:
    return _keyed(handles=(replace(FILE, **changed),))


def _referred(**changed: object) -> Restore:
    assert FILE.reference is not None
    return _file(reference=replace(FILE.reference, **changed))


def _content(path: str, content: bytes) -> Restore:
    return Restore(contents={**Restore().contents, path: content})


OTHERS: Mapping[str, Callable[[], Restore]] = {
    "attempt": lambda: Restore(attempt=2),
    "graph": lambda: Restore(graph=GRAPH.at(1)),
    "state.subtask": lambda: Restore(replace(Restore().state, subtask="sum[1]")),
    "state.finished": lambda: Restore(replace(Restore().state, finished=True)),
    "state.channel_file": lambda: Restore(replace(Restore().state, channel_file="")),
    "state.keyed": lambda: Restore(replace(Restore().state, keyed=(KEYED, KEYED))),
    "state.operator": lambda: Restore(replace(Restore().state, operator=())),
    "content of keyed state": lambda: _content("chk-1/full", b"Full"),
    "content of operator state": lambda: _content("chk-1/lists", b"ba"),
    "content of channels": lambda: _content("chk-1/channels", b"others"),
    "keyed.format": lambda: _keyed(format="named-files-1"),
    "keyed.subtask": lambda: _keyed(subtask=1),
    "keyed.first_key_group": lambda: _keyed(first_key_group=1),
    "keyed.end_key_group": lambda: _keyed(end_key_group=9),
    "keyed.max_parallelism": lambda: _keyed(max_parallelism=32),
    "keyed.handles": lambda: _keyed(handles=(FILE, FILE)),
    "keyed.descriptors": lambda: _keyed(descriptors=(replace(SUMS, version=2),)),
    "keyed.opaque": lambda: _keyed(opaque=b"log"),
    "operator.format": lambda: _operator(format="operator-state-2"),
    "operator.descriptors": lambda: _operator(descriptors=(replace(OFFSETS, mode=RedistributionMode.BROADCAST),)),
    "operator.handle": lambda: _operator(handle=None),
    "operator.elements": lambda: _operator(elements={"offsets": (Extent(0, 1, 8), Extent(1, 1, 8))}),
    "file.reference": lambda: _file(reference=None),
    "file.key_groups": lambda: _file(key_groups={4: Extent(0, 4, 7)}),
    "extent.offset": lambda: _file(key_groups={3: Extent(1, 4, 7)}),
    "extent.length": lambda: _file(key_groups={3: Extent(0, 3, 7)}),
    "extent.checksum": lambda: _file(key_groups={3: Extent(0, 4, 8)}),
    "reference.length": lambda: _referred(length=5),
    "reference.checksum": lambda: _referred(checksum=8),
}
"""By what is changed, a restore that ends otherwise."""
LEFT_OUT = {
    "state": {
        *("files", "inline"),  # The contents are in, however they were stored.
        *("positions", "transactions", "committables", "finishing", "former", "channel_files", "source"),
    },
    "keyed": {"checkpoint", "base"},
    "operator": {"checkpoint"},
    "file": {"name", "scope"},
    "extent": set[str](),
    "reference": {"path"},
}
"""Fields that no restore of an audit depends on."""


@pytest.mark.parametrize("changed", OTHERS)
def test_what_ends_otherwise_is_other_content(changed: str) -> None:
    assert OTHERS[changed]().key() != Restore().key()


def test_each_field_is_part_of_it_or_left_out_on_purpose() -> None:
    kinds = {
        "state": SubtaskState,
        "keyed": Manifest,
        "operator": OperatorStateManifest,
        "file": StateHandle,
        "extent": Extent,
        "reference": FileReference,
    }
    for name, kind in kinds.items():
        changed = {each.removeprefix(f"{name}.") for each in OTHERS if each.startswith(f"{name}.")}
        assert changed | LEFT_OUT[name] == {*kind.__struct_fields__}


def test_the_same_content_in_other_files_of_another_checkpoint_is_the_same() -> None:
    def moved(handle: StateHandle) -> StateHandle:
        assert handle.reference is not None
        path = handle.reference.path.replace("chk-1", "chk-2")
        return replace(handle, name=f"{handle.name}-2", reference=replace(handle.reference, path=path))

    state = replace(
        Restore().state,
        keyed=(replace(KEYED, checkpoint=2, base=1, handles=(moved(FILE),)),),
        operator=(replace(OPERATOR, checkpoint=2, handle=moved(LISTS)),),
        channel_file="chk-2/channels",
        positions=((0, 5),),
    )
    contents = {path.replace("chk-1", "chk-2"): content for path, content in Restore().contents.items()}
    assert Restore(state, contents).key() == Restore().key()


@pytest.mark.parametrize("seed", [2, 5])
def test_an_audit_that_restores_each_time_says_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def audited() -> list[Event]:
        run = run_plan(draw_plan(seed), registry.system("reference"), registry.toolbox())
        return [*run.history.of(SubtaskAudited)]

    once = audited()
    monkeypatch.setattr(deployment, "_restores_alike", lambda *_: False)
    assert once
    assert once == audited()


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
