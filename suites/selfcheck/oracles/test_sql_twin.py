"""Counting and prefix sums decide as joins do, on random outputs with losses, repeats and disorder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import KEYED_SUM, REBALANCE
from holdfast.harness.model.records import FoldRow, IdentityRow, InputLog, Partition
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.harness.oracles.output.fold_rows import NAMED, scan
from holdfast.harness.oracles.output.identity_rows import count_rows
from holdfast.harness.oracles.output.loss import is_short
from holdfast.harness.oracles.output.noloss import NoLossOracle
from holdfast.harness.oracles.shared.fold_model import FoldModel
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.legal import DIGEST_KEY
from holdfast.suites.selfcheck.oracles.output_builder import columnar, fold, units
from holdfast.suites.selfcheck.sql_twin import SqlTwin

KEYS = ("a", "b", "c")
examples = settings(max_examples=40, deadline=None)


@pytest.fixture(scope="module")
def twin() -> Iterator[SqlTwin]:
    with closing(SqlTwin()) as twin:
        yield twin


@st.composite
def inputs(draw: st.DrawFn) -> InputLog:
    """One or two partitions of a few records."""
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=2))
    partitions = []
    for length in lengths:
        keys = draw(st.lists(st.integers(0, len(KEYS) - 1), min_size=length, max_size=length))
        partitions.append(Partition(np.array(keys, np.int64), np.arange(1, length + 1), length))
    firsts = draw(st.one_of(st.just(()), st.tuples(*(st.integers(0, length) for length in lengths))))
    return InputLog(KEYS, tuple(partitions), firsts)


def offsets_of(log: InputLog, key: str) -> list[list[int]]:
    """By partition, the offsets at which a key must have an effect."""
    firsts = log.first_offsets or (0,) * len(log.partitions)
    return [
        [offset for offset in range(first, len(each)) if log.keys[int(each.key[offset])] == key]
        for each, first in zip(log.partitions, firsts, strict=True)
    ]


@st.composite
def fold_histories(draw: st.DrawFn) -> History:
    """Every key grows to its whole input; then rows are disturbed, dropped, repeated and moved."""
    log = draw(inputs())
    contents: list[tuple[str, list[list[int]]]] = []
    for key in log.keys:
        offsets = offsets_of(log, key)
        steps = draw(st.integers(0, 3))
        for step in range(steps + 1):
            contents.append((key, [each[: len(each) * (step + 1) // (steps + 1)] for each in offsets]))
    for _ in range(draw(st.integers(0, 3))):
        key, held = contents[draw(st.integers(0, len(contents) - 1))]
        lane = held[draw(st.integers(0, len(held) - 1))]
        lost: bool = draw(st.booleans())
        if lane and lost:
            lane.remove(draw(st.sampled_from(lane)))
        else:
            lane.append(draw(st.integers(0, 6)))
    rows = [fold(key, *held) for key, held in contents if any(held)]
    shuffled: bool = draw(st.booleans())
    if rows and shuffled:
        rows = draw(st.lists(st.sampled_from(rows), max_size=8))
    if draw(st.integers(0, 9)) == 0:
        rows.append(fold("stranger", [0], *([] for _ in log.partitions[1:])))
    return judged(KEYED_SUM, log, rows)


@st.composite
def identity_histories(draw: st.DrawFn) -> History:
    """Every record once, in some order; then rows are dropped, repeated and made up."""
    log = draw(inputs())
    firsts = log.first_offsets or (0,) * len(log.partitions)
    expected = [
        (partition, offset)
        for partition, (each, first) in enumerate(zip(log.partitions, firsts, strict=True))
        for offset in range(first, len(each))
    ]
    rows = draw(st.permutations(expected))
    rows = rows[draw(st.integers(0, 2)) :] + rows[: draw(st.integers(0, 2))]
    rows += draw(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 8)), max_size=2))
    return judged(REBALANCE, log, [IdentityRow(*row) for row in rows])


def judged(job: Job, log: InputLog, rows: list[FoldRow] | list[IdentityRow]) -> History:
    """A finished run with two rows in a unit."""
    contents = [rows[start : start + 2] for start in range(0, len(rows), 2)]
    return story(job=job, inputs=log, units=units(*contents))


@examples
@given(history=identity_histories())
def test_identities(twin: SqlTwin, history: History) -> None:
    twin.take(history.inputs, DIGEST_KEY, history.output)
    lost, duplicated, unknown = twin.lost(), twin.duplicated(), twin.unknown()
    for form in (history, columnar(history)):
        found = count_rows(form.inputs, form.output)
        assert (found.lost, found.duplicated, found.unknown) == (len(lost), len(duplicated), len(unknown))
        assert found.first_lost == tuple(lost[:NAMED])
        assert found.first_duplicated == tuple(duplicated[:NAMED])
        assert found.first_unknown == tuple(unknown[:NAMED])
        if ExactOracle().applies(form) and (form.inputs.total_records or form.output.units):
            failed = ExactOracle().judge(form).outcome is Outcome.FAIL
            assert failed == bool(lost or duplicated or unknown)
            failed = NoLossOracle().judge(form).outcome is Outcome.FAIL
            assert failed == bool(lost or unknown)


@examples
@given(history=fold_histories())
def test_folds(twin: SqlTwin, history: History) -> None:
    twin.take(history.inputs, DIGEST_KEY, history.output)
    wrong, not_rising, short = twin.wrong(), twin.not_rising(), twin.short()
    rows = [row for row in history.output.rows() if isinstance(row, FoldRow)]
    model = FoldModel(history.inputs, DIGEST_KEY)
    firsts = {rows[position].key: position for position in reversed(wrong) if rows[position].key in KEYS}
    for form in (history, columnar(history)):
        found = scan(model, form.output)
        assert found.wrong == sorted(firsts.values())[:NAMED]
        fallen = {later for _, later in found.repeated + found.stepped_back}
        assert fallen <= set(not_rising)
        assert len(fallen) >= min(len(not_rising), NAMED)
        assert short == [
            key
            for key, position in found.unfinished.items()
            if position is None or is_short(rows[position].counts, model.totals[KEYS.index(key)])
        ]
        if rows:
            assert (ExactOracle().judge(form).outcome is Outcome.FAIL) == bool(wrong or not_rising or short)
        if short:
            claims = story(inputs=form.inputs, units=form.output.units, claimed=AT_LEAST_ONCE)
            assert NoLossOracle().judge(claims).outcome is Outcome.FAIL
