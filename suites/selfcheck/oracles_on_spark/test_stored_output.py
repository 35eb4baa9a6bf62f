"""Output that stays in its file is judged as if it had been read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.harness.engine.artefacts import output_file
from holdfast.harness.engine.artefacts.history_files import OUTPUTS, read_history, write_history
from holdfast.harness.engine.artefacts.output_file import OutputFile
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.judge import judge
from holdfast.harness.engine.site import spark_session
from holdfast.harness.model.capability import EXACTLY_ONCE, Guarantee
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD, REBALANCE
from holdfast.harness.model.records import IdentityRow
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.harness.oracles.output.noloss import NoLossOracle
from holdfast.harness.oracles.output.stored_identities import StoredIdentities
from holdfast.suites.selfcheck.oracles.builder import input_log, story
from holdfast.suites.selfcheck.oracles.output_builder import columnar, identities, units

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHOLE = [f"{partition}:{offset}" for partition in (0, 1) for offset in range(5)]
OUTPUTS_OF = {
    "clean": [WHOLE[:3], WHOLE[3:]],
    "empty-unit": [WHOLE, []],
    "lost": [WHOLE[:3], WHOLE[4:]],
    "twice": [WHOLE, WHOLE[4:6]],
    "foreign": [WHOLE, ["0:5", "2:0"], ["0:5"]],
    "out-of-order": [WHOLE[1:], WHOLE[:1]],
}
FEW, MANY = ("IN_MEMORY_ROWS",), ("IN_MEMORY_ROWS", "COUNTED_HERE")
"""Limits below which a test goes: rows stay in their file, and then Spark counts them."""


def finished(name: str, *, ordered: bool) -> History:
    claimed = EXACTLY_ONCE | {Guarantee.KEY_ORDER} if ordered else EXACTLY_ONCE - {Guarantee.KEY_ORDER}
    content = [identities(*rows) for rows in OUTPUTS_OF[name]]
    job = FORWARD if ordered else REBALANCE
    return columnar(story(job=job, inputs=input_log(5, 5), units=units(*content), claimed=claimed))


def verdicts(history: History) -> tuple[Verdict, ...]:
    return judge(history, (ExactOracle(), NoLossOracle()))


def left_in_its_file(
    folder: Path, history: History, monkeypatch: pytest.MonkeyPatch, limits: Sequence[str] = MANY
) -> History:
    write_history(folder, history)
    for limit in limits:
        monkeypatch.setattr(output_file, limit, 0)
    return read_history(folder, history.plan)


@pytest.mark.tier("spark")
@pytest.mark.xdist_group("judging-session")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize("name", OUTPUTS_OF)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.share(12)
def test_verdicts_and_witnesses_are_those_of_rows_in_memory(
    name: str, ordered: bool, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = finished(name, ordered=ordered)
    stored = left_in_its_file(tmp_path, history, monkeypatch)
    found = verdicts(stored)
    assert found == verdicts(history)
    assert (found[0].outcome is Outcome.FAIL) == (name in ("lost", "twice", "foreign") or (name, ordered) == LATE)
    rows = stored.output.units[0].rows
    assert isinstance(rows, StoredIdentities)
    assert isinstance(rows.table, OutputFile)
    assert rows.table.count.cache_info().misses == 1  # Spark was asked, and once only


@pytest.mark.parametrize("name", OUTPUTS_OF)
@pytest.mark.parametrize("ordered", [False, True])
def test_rows_are_counted_here_while_they_are_not_too_many(
    name: str, ordered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = finished(name, ordered=ordered)
    stored = left_in_its_file(tmp_path, history, monkeypatch, FEW)
    assert verdicts(stored) == verdicts(history)
    rows = stored.output.units[0].rows
    assert isinstance(rows, StoredIdentities)
    assert isinstance(rows.table, OutputFile)
    assert not rows.table.on_spark


LATE = "out-of-order", True


def test_few_rows_are_read(tmp_path: Path) -> None:
    history = finished("clean", ordered=False)
    write_history(tmp_path, history)
    read = read_history(tmp_path, history.plan)
    assert not any(isinstance(unit.rows, StoredIdentities) for unit in read.output.units)


def test_an_edited_output_is_refused_before_it_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = finished("lost", ordered=False)
    run, other = tmp_path / "run", tmp_path / "other"
    for folder, content in ((run, history), (other, finished("clean", ordered=False))):
        folder.mkdir()
        write_history(folder, content)
    (run / OUTPUTS).write_bytes((other / OUTPUTS).read_bytes())
    monkeypatch.setattr(output_file, "IN_MEMORY_ROWS", 0)
    with pytest.raises(UsageError, match=r"outputs\.parquet: .*(bytes long|was edited)"):
        read_history(run, history.plan)


def test_many_rows_need_spark_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_session, "lacking", lambda tier: "needs PySpark 4")
    history = finished("clean", ordered=False)
    with pytest.raises(UsageError, match=r"outputs\.parquet: 10 rows are counted on Spark, which needs PySpark 4\."):
        left_in_its_file(tmp_path, history, monkeypatch)


@pytest.fixture
def rows(tmp_path: Path) -> StoredIdentities:
    """Rows 2 to 8 of a file with three rows to a group."""
    table = pa.table({"partition": np.arange(10) % 2, "offset": np.arange(10)})
    pq.write_table(table, tmp_path / OUTPUTS, row_group_size=3)
    return StoredIdentities(OutputFile(str(tmp_path / OUTPUTS)), 2, 7)


READ = [IdentityRow(number % 2, number) for number in range(2, 9)]


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (len, 7),
        (list, READ),
        (lambda rows: [len(each) for each in rows.batches()], [1, 3, 3]),
        (lambda rows: rows[0], READ[0]),
        (lambda rows: rows[-1], READ[-1]),
        (lambda rows: rows[1:5:2], tuple(READ[1:5:2])),
    ],
    ids=["length", "all", "batches", "first", "last", "some"],
)
def test_stored_rows_are_a_sequence(
    rows: StoredIdentities, ask: Callable[[Sequence[IdentityRow]], object], answer: object
) -> None:
    assert ask(rows) == answer
    with pytest.raises(IndexError):
        rows[7]
