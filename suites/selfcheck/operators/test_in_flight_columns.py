"""Columns: of keyed state, a snapshot is the state at its cut; batches in flight come back as they were."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import defaultdict
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.rows import encode_rows
from holdfast.fixtures.reference.drivers.state_backends import state_backends
from holdfast.fixtures.reference.operators.batches import (
    Dictionary,
    InFlightColumns,
    InputColumns,
    PartialSums,
    RecordColumns,
    decode_columns_in_flight,
)
from holdfast.fixtures.reference.operators.columnar import ColumnarSum, LocalAggregation
from holdfast.fixtures.reference.operators.columnar_backend import PagedSnapshot
from holdfast.fixtures.reference.operators.plain import (
    InFlightRows,
    InputBatch,
    PlainPassThrough,
    decode_rows_in_flight,
)
from holdfast.fixtures.reference.operators.representation import Rows, rows_from_arrow, rows_to_arrow
from holdfast.fixtures.reference.operators.spare_memory import SpareMemory
from holdfast.fixtures.reference.operators.stored_sums import StoredSums
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.reference.protocol.execution_graph import execution_graph, graph_of
from holdfast.fixtures.reference.protocol.messages import Records
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.harness.model.arrow_array import arrow_array, numpy_array
from holdfast.harness.model.jobs import KEYED_SUM, SLIDING_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import FoldColumns, FoldRow, IdentityColumns, WindowRow
from holdfast.harness.spi.state import Extent, Manifest

KEYS = ("a", "b", "c", "d")


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def digests(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


SUMS = PartialSums(0, 5, numbers(1, 3), numbers(4, 5), numbers(2, 3), digests(6, 7))
OTHER_SUMS = PartialSums(1, 1, numbers(2), numbers(8), numbers(1), digests(9))
RECORDS = RecordColumns(1, numbers(0, 0), numbers(1, 2), numbers(10, 11), digests(3, 4))
ROWS = FoldColumns(KEYS, numbers(3), numbers(5), np.array([[6, 7]]), digests(8))
IDENTITIES = IdentityColumns(numbers(0, 0, 1), numbers(4, 5, 6))
INPUTS = tuple(
    Records(2, "source[0]->sum[0]", position, batch)
    for position, batch in enumerate((SUMS, RECORDS, OTHER_SUMS, IDENTITIES, SUMS, ROWS))
)
OUTPUTS = (Records(2, "sum[0]->sink[0]", 9, ROWS), Records(2, "sum[0]->sink[0]", 10, SUMS, origin=1))


def shown(element: Records) -> tuple[object, ...]:
    """Everything of it, comparable; the attempt is the one that counted it."""
    batch = element.batch
    names = getattr(batch, "__struct_fields__", None) or batch.__slots__
    columns = [getattr(batch, name) for name in names]
    values = [each.tolist() if isinstance(each, np.ndarray) else each for each in columns]
    return element.origin or element.attempt, element.channel, element.position, type(batch), values


def test_batches_come_back_in_their_order() -> None:
    inputs, outputs = decode_columns_in_flight(InFlightColumns(INPUTS, OUTPUTS).encode(), KEYS)
    assert list(map(shown, inputs)) == list(map(shown, INPUTS))
    assert list(map(shown, outputs)) == list(map(shown, OUTPUTS))


def test_nothing_in_flight_comes_back_as_nothing() -> None:
    assert decode_columns_in_flight(InFlightColumns((), ()).encode(), KEYS) == ((), ())


def test_damage_is_told() -> None:
    content = InFlightColumns(INPUTS, OUTPUTS).encode()
    with pytest.raises(ValueError, match="damaged"):
        decode_columns_in_flight(content[:-40], KEYS)


DIGEST = (1 << 64) - 1
BATCHES: tuple[Rows, ...] = (
    InputBatch(1, ["a", "é"], [-5, 1 << 62], [3, 4], [DIGEST, 0]),
    InputBatch(0, ["a"], [1], [0], [2], [10], 7),
    InputBatch(1, [], [], [], [], [], 30),
    [FoldRow("a", -3, (1, 0), DIGEST), FoldRow("", 0, (0, 0), 0)],
    [WindowRow("a", -1, 4, DIGEST)],
)
"""Among them one without records, which only says how far its partition has come."""


@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_travels_as_it_is(batch: Rows) -> None:
    assert rows_from_arrow(rows_to_arrow(batch)) == batch


def test_parts_that_meet_tell_event_time_when_all_of_them_are_taken() -> None:
    """Both halves of a batch of split 0 were in flight, to two subtasks that are one from now on."""
    graph = execution_graph(SLIDING_SUM, Topology(parallelism=2), chaining=False)
    operator = PlainPassThrough(graph.tasks["sum[0]"], graph)
    first, second, third = (
        InputBatch(0, [key], [1], [at], [2], [at], at) for key, at in (("a", 5), ("b", 5), ("a", 9))
    )
    other = InputBatch(1, ["c"], [1], [7], [2], [7], 7)
    silent = InputBatch(0, ["a"], [1], [5], [2], [5])
    assert operator.in_order([first, third, second, other]) == [silent, second, other, third]
    rows = [[FoldRow("a", value, (1,), 1)] for value in (3, 1, 2)]
    assert operator.in_order(rows) == rows


def test_what_is_no_batch_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="a batch of columns nothing came, which is none of ours"):
        rows_from_arrow(pa.record_batch({"nothing": [1]}))


def test_batches_in_flight_come_back_in_their_order() -> None:
    elements = tuple(Records(2, "channel", place, batch) for place, batch in enumerate(BATCHES))
    stored = InFlightRows(elements, elements[:1]).encode()
    assert decode_rows_in_flight(stored) == (elements, elements[:1])


def test_memory_is_lent_to_one_at_a_time() -> None:
    memory = SpareMemory(2)
    with memory.lend() as one, memory.lend() as other:
        first, second = one(10), other(20)
        first[:], second[:] = b"1" * 10, b"2" * 20
        assert bytes(first) == b"1" * 10
    with memory.lend() as one, memory.lend() as other:
        assert {bytes(one(10)), bytes(other(10))} == {b"1" * 10, b"2" * 10}


def test_no_more_is_kept_than_wanted() -> None:
    memory = SpareMemory(1)
    pieces = [memory.take(10) for _ in range(3)]
    for piece in pieces:
        memory.give_back(piece)
    again = [memory.take(10) for _ in range(2)]
    assert [piece is again[0] for piece in pieces] == [True, False, False]
    assert all(piece is not again[1] for piece in pieces)


def test_a_piece_that_is_too_small_is_not_used() -> None:
    memory = SpareMemory(1)
    small = memory.take(10)
    memory.give_back(small)
    large = memory.take(10 * len(small))
    assert len(large) >= 10 * len(small)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(5), pa.int32()),
        (np.arange(10)[::2], pa.int64()),
        (np.array([2**64 - 1, 0], np.uint64), pa.uint64()),
        (np.array([True] * 9 + [False] * 4), pa.bool_()),
        (np.empty(0, np.int64), pa.int64()),
        ([-(2**63), 2**63 - 1], pa.int64()),
        ([2**64 - 1], pa.uint64()),
        ([], pa.int64()),
        (("a", "", "Ä\0b"), pa.string()),
        ((), pa.string()),
        ([(1, 2), (), (3,)], pa.list_(pa.int64())),
        ([], pa.list_(pa.int64())),
        ([1, None], pa.int64()),
        ([1.0, 2.0], pa.int64()),
        (["a", None], pa.string()),
        ([(1,), None], pa.list_(pa.int64())),
    ],
)
def test_it_is_what_arrow_makes(values: Any, kind: pa.DataType) -> None:
    made = arrow_array(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1"], pa.int64()),
        ([2**63], pa.int64()),
        ([-1], pa.uint64()),
        ([1], pa.string()),
        (["\ud800"], pa.string()),
        (np.array([1.5]), pa.int64()),
        ([float("nan")], pa.int64()),
        (np.array([3.0, np.nan]), pa.int64()),
        (np.array([2**63 + 1], np.uint64), pa.int64()),
        (np.array([2**40]), pa.int32()),
    ],
)
def test_nothing_is_made_of_what_does_not_fit(values: Any, kind: pa.DataType) -> None:
    with pytest.raises((pa.ArrowException, OverflowError, UnicodeEncodeError)):
        pa.array(values, kind)
    with pytest.raises((pa.ArrowException, OverflowError, UnicodeEncodeError)):
        arrow_array(values, kind)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 1.5], pa.int64()),
        ([1.5, None], pa.int64()),
        ([0.5], pa.uint64()),
        ([Decimal("1.5")], pa.int64()),
        ([[1], [1.5, 2]], pa.list_(pa.int64())),
        ([None, [1.5]], pa.list_(pa.int64())),
    ],
)
def test_no_fraction_is_cut_off_as_arrow_does(values: Any, kind: pa.DataType) -> None:
    assert pa.array(values, kind).to_pylist() != values
    with pytest.raises(pa.ArrowInvalid, match="is no whole number"):
        arrow_array(values, kind)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, 3]),
        pa.array([1, 2, 3]).slice(1, 1),
        pa.array([2**64 - 1], pa.uint64()),
        pa.array([], pa.int32()),
        pa.chunked_array([[1, 2], [], [3]], pa.int64()),
        pa.chunked_array([pa.array([1, 2, 3]).slice(2)]),
        pa.chunked_array([], pa.int64()),
    ],
)
def test_numbers_are_read_as_arrow_reads_them(column: pa.Array | pa.ChunkedArray) -> None:
    read, expected = numpy_array(column), column.to_numpy()
    assert read.dtype == expected.dtype
    assert read.tolist() == expected.tolist()


@pytest.mark.parametrize(("values", "error"), [([1, None], ValueError), (["a"], TypeError), ([True] * 9, TypeError)])
def test_only_numbers_without_gaps_are_read(values: list[Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        numpy_array(pa.array(values))


STORE = """
import sys
from pathlib import Path
from holdfast.fixtures.reference.connectors.rows import load_rows
from holdfast.fixtures.reference.drivers.processes.file_log import write_log
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.engine.artefacts.record_files import write_inputs, write_outputs
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import CommittedRows, FoldRow, Output

folder = Path(sys.argv[1])
inputs = Synthetic().generate({}, 1)
write_log(folder, inputs)
write_inputs(folder / "input", inputs)
write_outputs(folder / "none", Output(()), Contract.FOLD)
output = Output((CommittedRows("unit", 0, (FoldRow("k", 1, (1,), 1),)),))
write_outputs(folder / "output", output, Contract.FOLD)
load_rows(folder / "rows", Contract.FOLD)
print("pandas" in sys.modules)
"""


def test_whoever_stores_a_run_imports_no_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    rows = FoldColumns(("k",), np.zeros(1, int), np.ones(1, int), np.ones((1, 2), int), np.ones(1, np.uint64))
    (tmp_path / "rows").write_bytes(encode_rows([rows]))
    done = subprocess.run([sys.executable, "-c", STORE, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


PLAN = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic", {}), topology=Topology(parallelism=1))
"""One subtask owns all key groups."""
GRAPH = graph_of(PLAN, configure(PLAN))
LANES = 2
CHECKPOINTS = count(1)
BACKENDS = state_backends(configure(PLAN))
Sums = dict[str, tuple[int, list[int], int]]
DICTIONARIES: dict[int, Dictionary] = {}
"""By number of keys; building one takes a while."""


def operator(keys: int) -> ColumnarSum:
    """A keyed sum over so many keys."""
    if keys not in DICTIONARIES:
        DICTIONARIES[keys] = Dictionary.of(tuple(f"key-{code}" for code in range(keys)), GRAPH)
    return ColumnarSum(GRAPH.tasks["sum[0]"], DICTIONARIES[keys], LANES, BACKENDS.of(GRAPH.tasks["sum[0]"], GRAPH, 1))


def snapshot(paged: ColumnarSum) -> PagedSnapshot:
    """What keyed state is written from."""
    checkpoint = next(CHECKPOINTS)
    return paged.keyed.snapshot(checkpoint)


def upload(taken: PagedSnapshot) -> tuple[Manifest, dict[str, bytes]]:
    """What a snapshot consists of, with the contents of its files."""
    streams = StagedStreams(lambda scope, name: f"{scope}/{name}")
    manifest = taken.upload(streams, lambda: False)
    return manifest, {path: bytes(file.content) for path, file in streams.files.items()}


def restored_from(keys: int, manifest: Manifest, contents: dict[str, bytes]) -> ColumnarSum:
    """An operator with the state of a snapshot."""
    restored = operator(keys)
    restored.state.restore((manifest,), (), PreloadedStreams(contents))
    restored.open()
    return restored


def batch(codes: list[int], lane: int) -> PartialSums:
    """A record of each key."""
    key = np.array(sorted(codes), dtype=np.int64)
    return PartialSums(lane, len(key), key, key + 1, np.ones(len(key), dtype=np.int64), key.astype(np.uint64) + 7)


def content(taken: PagedSnapshot) -> Sums:
    """What a snapshot holds, by key; every key group is said to be where it is."""
    manifest, contents = upload(taken)
    if not contents:
        return {}
    (stored,), (handle,) = contents.values(), manifest.handles
    rows = StoredSums.decode(stored)
    assert handle.reference is not None
    assert list(handle.key_groups) == sorted(set(rows.group.tolist()))
    assert set(handle.key_groups.values()) == {Extent(0, len(stored), handle.reference.checksum)}
    counts = np.stack(rows.counts, axis=1).tolist()
    columns = zip(rows.key.to_pylist(), rows.value.tolist(), counts, rows.digest.tolist(), strict=True)
    assert np.all(np.diff(rows.group) >= 0)
    return {key: (value, counts, digest) for key, value, counts, digest in columns}


@pytest.mark.parametrize("keys", [40, 20_000])
@given(steps=st.lists(st.tuples(st.sampled_from(["add", "add", "snapshot", "store"]), st.data()), max_size=25))
@settings(max_examples=60, deadline=None)
def test_snapshots_are_the_state_at_their_cut(keys: int, steps: list[tuple[str, st.DataObject]]) -> None:
    paged = operator(keys)
    model: dict[str, tuple[int, list[int], int]] = defaultdict(lambda: (0, [0] * LANES, 0))
    taken: list[tuple[PagedSnapshot, Sums]] = []
    for step, data in steps:
        if step == "add":
            codes = data.draw(st.lists(st.integers(0, keys - 1), min_size=1, max_size=12, unique=True))
            lane = data.draw(st.integers(0, LANES - 1))
            paged.process(batch(codes, lane))
            for code in codes:
                value, counts, digest = model[f"key-{code}"]
                counted = [count + (index == lane) for index, count in enumerate(counts)]
                model[f"key-{code}"] = value + code + 1, counted, digest + code + 7
        elif step == "snapshot":
            taken.append((snapshot(paged), dict(model)))
        elif taken:
            chosen, expected = taken.pop(data.draw(st.integers(0, len(taken) - 1)))
            assert content(chosen) == expected
            chosen.release()
        assert len(paged.sums.snapshots) == len(taken)
    summary = paged.summary()
    assert summary.keys == len(model)
    assert summary.records == sum(sum(counts) for _, counts, _ in model.values())
    assert restored_from(keys, *upload(snapshot(paged))).summary() == summary


def test_what_is_written_while_a_snapshot_is_stored_is_not_in_it() -> None:
    paged = operator(20_000)
    draw = np.random.default_rng(3)
    for _ in range(4):
        paged.process(batch(draw.permutation(20_000)[:15_000].tolist(), 0))
    for _ in range(10):
        expected = content(snapshot(paged))
        taken = snapshot(paged)
        stored: list[Sums] = []
        writer = threading.Thread(target=lambda taken=taken, stored=stored: stored.append(content(taken)))
        writer.start()
        while writer.is_alive():
            paged.process(batch(draw.permutation(20_000)[:3_000].tolist(), 1))
        writer.join()
        assert stored == [expected]
        taken.release()


def test_only_pages_that_change_are_kept_and_each_once() -> None:
    paged = operator(20_000)
    paged.process(batch(list(range(20_000)), 0))
    taken = snapshot(paged)
    assert taken.page_entries == 8
    assert taken.kept_entries == 0
    paged.process(batch([5], 0))
    paged.process(batch([5], 0))
    assert taken.kept_entries == taken.page_entries


@pytest.mark.parametrize("keys", [3, 50, 5_000])
def test_few_records_of_many_keys_are_summed_alike(keys: int) -> None:
    draw = np.random.default_rng(keys)
    records = 60
    key, value = draw.integers(0, keys, records), draw.integers(-9, 9, records)
    hashes = draw.integers(0, 1 << 63, records).astype(np.uint64)
    sums = LocalAggregation(keys).sums(InputColumns(1, 0, key, value), hashes)
    assert sums.key.tolist() == sorted(set(key.tolist()))
    for place, code in enumerate(sums.key.tolist()):
        chosen = key == code
        assert sums.count[place] == chosen.sum()
        assert sums.value[place] == value[chosen].sum()
        assert sums.digest[place] == hashes[chosen].sum()


def test_state_of_another_input_is_refused() -> None:
    paged = operator(40)
    paged.process(batch([1, 39], 0))
    manifest, contents = upload(snapshot(paged))
    assert restored_from(40, manifest, contents).summary() == paged.summary()
    with pytest.raises(ValueError, match="damaged"):
        restored_from(10, manifest, contents)
    assert len(contents) == 1
    with pytest.raises(ValueError, match="not what was written"):
        restored_from(40, manifest, dict.fromkeys(contents, b"n" * len(*contents.values())))
    with pytest.raises(ValueError, match="hashmap-1"):
        restored_from(40, replace(manifest, format="hashmap-1"), contents)
    with pytest.raises(ValueError, match="key group 0 is in none"):
        restored_from(40, replace(manifest, first_key_group=1), contents)
