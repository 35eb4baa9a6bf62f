"""What an audit takes for the same content, which it restores once: nothing else may look like it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.restored_content import restored_content
from holdfast.fixtures.reference.drivers.simulated import deployment
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.execution_graph import ExecutionGraph
from holdfast.fixtures.reference.protocol.messages import SubtaskState
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.events import Event, FileReference, SubtaskAudited
from holdfast.harness.spi.state import Extent, Manifest, StateDescriptor, StateHandle, StateKind
from holdfast.harness.spi.state.operator_state import (
    OperatorStateDescriptor,
    OperatorStateManifest,
    RedistributionMode,
)
from holdfast.harness.spi.storage import Scope

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
