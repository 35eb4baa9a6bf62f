"""Keyed state in columns: a snapshot is the state at its cut, and memory is lent to one at a time."""

from __future__ import annotations

import threading
from collections import defaultdict
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.state_backends import state_backends
from holdfast.fixtures.reference.operators.batches import (
    Dictionary,
    InputColumns,
    PartialSums,
)
from holdfast.fixtures.reference.operators.columnar import ColumnarSum, LocalAggregation
from holdfast.fixtures.reference.operators.columnar_backend import PagedSnapshot
from holdfast.fixtures.reference.operators.spare_memory import SpareMemory
from holdfast.fixtures.reference.operators.stored_sums import StoredSums
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.reference.protocol.execution_graph import graph_of
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.spi.state import Extent, Manifest


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
