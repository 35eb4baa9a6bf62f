"""Columns of keyed state: a snapshot is the state at its cut, whatever is written afterwards, and in which thread."""

from __future__ import annotations

import threading
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.fixtures.reference.operators.columnar import ColumnarSum
from holdfast.fixtures.reference.operators.dictionary import Dictionary
from holdfast.fixtures.reference.operators.local_aggregation import LocalAggregation
from holdfast.fixtures.reference.operators.paged_state import PagedVersion
from holdfast.fixtures.reference.operators.partial_sums import InputColumns, PartialSums
from holdfast.fixtures.reference.operators.stored_sums import StoredSums
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.reference.protocol.execution_graph import graph_of
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec

PLAN = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic", {}))
GRAPH = graph_of(PLAN, configure(PLAN))
LANES = 2
Sums = dict[str, tuple[int, list[int], int]]
DICTIONARIES: dict[int, Dictionary] = {}
"""By number of keys; building one takes a while."""


def operator(keys: int) -> ColumnarSum:
    """A keyed sum over so many keys."""
    if keys not in DICTIONARIES:
        DICTIONARIES[keys] = Dictionary.of(tuple(f"key-{code}" for code in range(keys)), GRAPH)
    return ColumnarSum(GRAPH.tasks["sum[0]"], DICTIONARIES[keys], LANES)


def batch(codes: list[int], lane: int) -> PartialSums:
    """A record of each key."""
    key = np.array(sorted(codes), dtype=np.int64)
    return PartialSums(lane, len(key), key, key + 1, np.ones(len(key), dtype=np.int64), key.astype(np.uint64) + 7)


def content(stored: bytes) -> Sums:
    """What a snapshot holds, by key."""
    rows = StoredSums.decode(stored)
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
    open_versions: list[tuple[PagedVersion, Sums]] = []
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
            open_versions.append((paged.snapshot(), dict(model)))
        elif open_versions:
            version, expected = open_versions.pop(data.draw(st.integers(0, len(open_versions) - 1)))
            assert content(bytes(version.encode())) == expected
            version.release()
        assert paged.open_versions() == len(open_versions)
    summary = paged.summary()
    assert summary.keys == len(model)
    assert summary.records == sum(sum(counts) for _, counts, _ in model.values())
    restored = operator(keys)
    restored.restore((bytes(paged.snapshot().encode()),))
    assert restored.summary() == summary


def test_what_is_written_while_a_snapshot_is_stored_is_not_in_it() -> None:
    paged = operator(20_000)
    draw = np.random.default_rng(3)
    for _ in range(4):
        paged.process(batch(draw.permutation(20_000)[:15_000].tolist(), 0))
    for _ in range(10):
        expected = content(bytes(paged.snapshot().encode()))
        version = paged.snapshot()
        stored: list[bytes] = []
        writer = threading.Thread(target=lambda version=version, stored=stored: stored.append(bytes(version.encode())))
        writer.start()
        while writer.is_alive():
            paged.process(batch(draw.permutation(20_000)[:3_000].tolist(), 1))
        writer.join()
        assert content(stored[0]) == expected
        version.release()


def test_only_pages_that_change_are_kept_and_each_once() -> None:
    paged = operator(20_000)
    paged.process(batch(list(range(20_000)), 0))
    version = paged.snapshot()
    assert version.page_entries == 8
    assert version.kept_entries == 0
    paged.process(batch([5], 0))
    paged.process(batch([5], 0))
    assert version.kept_entries == version.page_entries


@pytest.mark.parametrize("keys", [3, 50, 5_000])
def test_few_records_of_many_keys_are_summed_alike(keys: int) -> None:
    draw = np.random.default_rng(keys)
    count = 60
    key, value = draw.integers(0, keys, count), draw.integers(-9, 9, count)
    hashes = draw.integers(0, 1 << 63, count).astype(np.uint64)
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
    with pytest.raises(ValueError, match="damaged"):
        operator(10).restore((bytes(paged.snapshot().encode()),))
    with pytest.raises(ValueError, match="damaged"):
        operator(40).restore((b"nonsense",))
