"""Files of input: every record once, in order, and Spark cannot mistake their order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.pipelines.input.fed_records import FedRecords
from holdfast.fixtures.pipelines.input.feeder import (
    FILE_INTERVAL_MS,
    IDLE_INTERVAL_MS,
    InputFiles,
    QueryFeeder,
    fed_by_files,
)
from holdfast.fixtures.pipelines.input.incoming import Incoming
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.adapter.feeder import Records
from holdfast.harness.engine.executor.markers import MARKER_KEY, with_markers
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.records import InputLog, Partition
from holdfast.suites.selfcheck.systems.driving import PLAN, identity_hash

INPUTS = Synthetic().generate({"records": 100, "preloaded_percent": 10, "records_per_second": 45, "keys": 3}, 1)
SIGN = 1 << 64


def fed(folder: Path, until_ms: int) -> InputFiles:
    feeder, files = fed_by_files(FedRecords(INPUTS, Incoming(), PLAN.digest_key), folder / "input")
    feeder.begin(0)
    for now_ms in range(0, until_ms, 10):
        feeder.tend(now_ms)
    return files


def files(folder: Path) -> list[Path]:
    return sorted((folder / "input").iterdir())


def test_only_what_is_preloaded_is_there_before_the_query_has_committed(tmp_path: Path) -> None:
    feeder, _ = fed_by_files(FedRecords(INPUTS, Incoming(), PLAN.digest_key), tmp_path / "input")
    feeder.tend(10_000)
    assert [pq.read_table(path).num_rows for path in files(tmp_path)] == [10]


def test_every_record_is_fed_once_and_in_order(tmp_path: Path) -> None:
    fed(tmp_path, 2_000)
    rows = [row for path in files(tmp_path) for row in pq.read_table(path).to_pylist()]
    for index, partition in enumerate(INPUTS.partitions):
        mine = [row for row in rows if row["partition"] == index]
        assert [row["offset"] for row in mine] == list(range(len(partition)))
        assert [row["value"] for row in mine] == partition.value.tolist()
        assert [row["key"] for row in mine] == [INPUTS.keys[key] for key in partition.key.tolist()]


def test_the_weight_is_the_identity_hash_as_a_signed_number(tmp_path: Path) -> None:
    fed(tmp_path, 200)
    for row in pq.read_table(files(tmp_path)[0]).to_pylist():
        assert row["weight"] % SIGN == identity_hash(row["partition"], row["offset"])


def test_files_are_apart_in_time_and_ordered_by_it(tmp_path: Path) -> None:
    fed(tmp_path, 2_000)
    modified = [path.stat().st_mtime_ns // 1_000_000 for path in files(tmp_path)]
    assert modified == sorted(set(modified))
    assert len(modified) <= 2 + 2_000 // FILE_INTERVAL_MS


def test_positions_behind_a_file(tmp_path: Path) -> None:
    written = fed(tmp_path, 3_000)
    behind = [written.positions(path.name) for path in files(tmp_path)]
    assert behind[0] == (5, 5)
    assert behind[-1] == INPUTS.lengths()
    assert behind == sorted(behind)


def test_markers_are_fed_when_the_faults_are_healed_and_files_without_records_go_on_before(tmp_path: Path) -> None:
    inputs = with_markers(INPUTS, KEYED_SUM)
    feeder, written = fed_by_files(FedRecords(inputs, Incoming(), PLAN.digest_key), tmp_path / "input")
    feeder.begin(0)
    for now_ms in range(0, 4_000, 10):
        feeder.tend(now_ms)
    last = files(tmp_path)[-1]
    assert (pq.read_table(last).num_rows, written.positions(last.name)) == (0, INPUTS.lengths())
    feeder.feed_markers()
    feeder.tend(5_000)
    last = files(tmp_path)[-1]
    assert pq.read_table(last)["key"].to_pylist() == [MARKER_KEY] * len(inputs.partitions)
    assert written.positions(last.name) == inputs.lengths()


def test_when_all_is_fed_files_without_records_go_on(tmp_path: Path) -> None:
    fed(tmp_path, 1_500)
    before = len(files(tmp_path))
    written = fed(tmp_path / "longer", 1_500 + 10 * IDLE_INTERVAL_MS)
    later = files(tmp_path / "longer")
    assert len(later) >= before + 8
    assert pq.read_table(later[-1]).num_rows == 0
    assert written.positions(later[-1].name) == INPUTS.lengths()


class Noting:
    """An appender that notes what is appended: partitions with numbers of records, and marks."""

    problem = ""

    def __init__(self) -> None:
        self.noted: list[tuple[int, int] | str] = []

    def append(self, partition: int, first: int, records: Records) -> int:
        self.noted.append((partition, len(records)))
        return len(records)

    def mark(self) -> None:
        self.noted.append("mark")

    def settle(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    ("interval_ms", "expected"),
    [
        (0, {0: [(0, 3), "mark"], 10: [], 500: ["mark"], 510: [(0, 1)], 1_000: ["mark"]}),
        (150, {0: [(0, 3)], 10: [], 150: ["mark"], 510: [], 650: [(0, 1)], 1_000: ["mark"]}),
    ],
)
def test_a_mark_comes_with_the_last_records_or_a_step_behind_them(
    interval_ms: float, expected: dict[int, list[tuple[int, int] | str]]
) -> None:
    """Behind a mark, markers wait for the next step where steps are apart."""
    numbers = np.arange(5, dtype=np.int64)
    noting = Noting()
    feeder = QueryFeeder(
        InputLog(("a",), (Partition(numbers * 0, numbers, preloaded=1, markers=1),)), noting, interval_ms
    )
    assert noting.noted == [(0, 1)]
    feeder.begin(0)
    seen = {}
    for now_ms in expected:
        if now_ms == 510:
            feeder.feed_markers()
        noting.noted = []
        feeder.tend(now_ms)
        seen[now_ms] = noting.noted
    assert seen == expected
    assert feeder.whole
