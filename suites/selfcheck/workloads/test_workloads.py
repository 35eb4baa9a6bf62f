"""Workloads have known answers, repeat exactly, and refuse what they cannot use; all flights are there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.workloads.flights import OWN_FILE, Flights
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.fixtures.workloads.worked_example import WorkedExample
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.spi.workload import Workload

SYNTHETIC: Workload = Synthetic()
WORKED_EXAMPLE: Workload = WorkedExample()
FLIGHTS: Workload = Flights()
ALL = (SYNTHETIC, WORKED_EXAMPLE, FLIGHTS)


def totals(log: InputLog) -> dict[str, tuple[int, int]]:
    """By key: number of records and sum of values, added up one by one."""
    found: dict[str, tuple[int, int]] = {}
    for partition in log.partitions:
        for key, value in zip(partition.key.tolist(), partition.value.tolist(), strict=True):
            count, total = found.get(log.keys[key], (0, 0))
            found[log.keys[key]] = (count + 1, total + value)
    return found


def digest(log: InputLog) -> str:
    content = b"".join(partition.key.tobytes() + partition.value.tobytes() for partition in log.partitions)
    return hashlib.sha256(content).hexdigest()[:16]


def keys_of(partition: Partition) -> list[int]:
    return [int(key) for key in partition.key]


def test_every_workload_is_registered_under_its_name() -> None:
    registered = {entry.name: type(entry.load()()) for entry in entry_points(group="holdfast.workloads")}
    assert registered.items() >= {workload.name: type(workload) for workload in ALL}.items()


@pytest.mark.parametrize("workload", ALL, ids=lambda workload: workload.name)
def test_every_log_is_made_of_dense_columns_and_keys_in_range(workload: Workload) -> None:
    log = workload.generate({}, 1)
    assert len(set(log.keys)) == len(log.keys)
    for partition in log.partitions:
        assert partition.key.dtype == partition.value.dtype == np.int64
        assert len(partition.key) == len(partition.value)
        assert 0 <= partition.preloaded <= len(partition)
        assert 0 <= partition.key.min() <= partition.key.max() < len(log.keys)


@pytest.mark.parametrize("workload", ALL, ids=lambda workload: workload.name)
def test_every_documented_default_is_accepted(workload: Workload) -> None:
    defaults = {name: default for name, (default, _) in workload.parameters.items()}
    assert digest(workload.generate(defaults, 1)) == digest(workload.generate({}, 1))
    assert all(meaning for _, meaning in workload.parameters.values())


@pytest.mark.parametrize(
    ("workload", "given", "sentence"),
    [
        (SYNTHETIC, {"record": 5}, "workload 'synthetic' has no parameter 'record': the nearest of 12 are records, "),
        (SYNTHETIC, {"records": 0}, "parameter 'records' of workload 'synthetic' is 0: expected `int` >= 1."),
        (SYNTHETIC, {"keys": "many"}, "parameter 'keys' of workload 'synthetic' is 'many': expected `int`, got `str`."),
        (
            SYNTHETIC,
            {"skew_percent": 101},
            "parameter 'skew_percent' of workload 'synthetic' is 101: expected",
        ),
        (
            SYNTHETIC,
            {"idle_partition": 2},
            "parameter 'idle_partition' of workload 'synthetic' is 2: there are 2 partitions, from 0.",
        ),
        (WORKED_EXAMPLE, {"resumes_ms": -1}, "parameter 'resumes_ms' of workload 'worked-example' is -1: expected"),
        (FLIGHTS, {"key": "origin"}, "parameter 'key' of workload 'flights' is 'origin': invalid enum value 'origin'."),
    ],
)
def test_a_parameter_that_cannot_be_used_is_refused(
    workload: Workload, given: Mapping[str, int | str], sentence: str
) -> None:
    with pytest.raises(ValueError) as refused:
        workload.generate(given, 1)
    assert str(refused.value).startswith(sentence)


class TestSynthetic:
    def test_the_same_seed_gives_the_same_records_everywhere(self) -> None:
        assert digest(SYNTHETIC.generate({}, 7)) == digest(SYNTHETIC.generate({}, 7)) == "2826d9d47beafd5b"
        assert digest(SYNTHETIC.generate({}, 8)) != digest(SYNTHETIC.generate({}, 7))

    def test_records_are_spread_over_partitions_and_partly_there(self) -> None:
        log = SYNTHETIC.generate({"records": 101, "partitions": 3, "preloaded_percent": 20}, 1)
        assert log.lengths() == (33, 34, 34)
        assert [partition.preloaded for partition in log.partitions] == [6, 6, 6]

    def test_skew_is_the_share_of_one_key(self) -> None:
        log = SYNTHETIC.generate({"records": 10_000, "keys": 10, "skew_percent": 60, "partitions": 1}, 1)
        counts = np.bincount(log.partitions[0].key, minlength=10)
        assert abs(int(counts[0]) - 6_000) < 200
        assert all(abs(int(count) - 444) < 100 for count in counts[1:])

    def test_without_skew_all_keys_are_alike(self) -> None:
        log = SYNTHETIC.generate({"records": 10_000, "keys": 10, "partitions": 1}, 1)
        assert all(abs(int(count) - 1_000) < 150 for count in np.bincount(log.partitions[0].key, minlength=10))

    def test_a_single_key_takes_everything_whatever_the_skew(self) -> None:
        log = SYNTHETIC.generate({"keys": 1, "skew_percent": 30}, 1)
        assert {key for partition in log.partitions for key in keys_of(partition)} == {0}

    def test_values_stay_within_their_limit_and_use_it(self) -> None:
        log = SYNTHETIC.generate({"records": 1_000, "value_limit": 2}, 1)
        assert {int(value) for partition in log.partitions for value in partition.value} == {-2, -1, 0, 1, 2}

    def test_event_time_passes_as_fast_as_it_is_told_to(self) -> None:
        assert {each.event_step_ms for each in SYNTHETIC.generate({}, 1).partitions} == {10}
        assert {each.event_step_ms for each in SYNTHETIC.generate({"event_step_ms": 100}, 1).partitions} == {100}

    def test_an_idle_partition_begins_later_and_empty(self) -> None:
        log = SYNTHETIC.generate({"preloaded_percent": 100, "idle_partition": 1, "starts_ms": 900}, 1)
        assert [(partition.preloaded, partition.starts_ms) for partition in log.partitions] == [(50, 0), (0, 900)]

    def test_an_idle_partition_may_have_fewer_records_or_none(self) -> None:
        chosen = {"partitions": 3, "records": 90, "idle_partition": 1}
        assert SYNTHETIC.generate({**chosen, "idle_records": 0}, 1).lengths() == (30, 0, 30)
        assert SYNTHETIC.generate({**chosen, "idle_records": 7}, 1).lengths() == (30, 7, 30)
        assert SYNTHETIC.generate({**chosen, "idle_records": 70}, 1).lengths() == (30, 30, 30)


class TestWorkedExample:
    def test_the_sums_are_those_of_the_rule(self) -> None:
        assert totals(WORKED_EXAMPLE.generate({}, 1)) == {"even": (8, 40), "odd": (8, 32)}

    def test_a_checkpoint_before_the_rest_arrives_holds_eight_and_eight(self) -> None:
        log = WORKED_EXAMPLE.generate({"resumes_ms": 700}, 1)
        sums = {"even": 0, "odd": 0}
        for partition in log.partitions:
            for key, value in islice(zip(partition.key, partition.value, strict=True), partition.preloaded):
                sums[log.keys[key]] += int(value)
        assert sums == {"even": 8, "odd": 8}
        assert [partition.preloaded for partition in log.partitions] == [3, 4]
        assert {partition.starts_ms for partition in log.partitions} == {700}


GOOD: dict[str, list[object]] = {
    "origin": ["JFK", "EWR", "JFK", "JFK"],
    "carrier": ["UA", "AA", "UA", "B6"],
    "tailnum": ["N1", None, "N2", "N1"],
    "arr_delay": [5, None, -3, 4],
}


def written(folder: Path, **columns: object) -> Path:
    path = folder / "flights.parquet"
    pq.write_table(pa.table({**GOOD, **columns}), path)
    return path


def total(log: InputLog) -> int:
    return sum(int(partition.value.sum()) for partition in log.partitions)


@pytest.mark.parametrize(("key", "keys"), [("carrier", 16), ("tailnum", 4_044)])
def test_every_flight_of_the_year_is_there(key: str, keys: int) -> None:
    log = Flights().generate({"key": key}, 1)
    assert log.total_records == 336_776
    assert log.lengths() == (120_835, 111_279, 104_662)
    assert total(log) == 2_257_174
    assert len(log.keys) == keys
    assert list(log.keys) == sorted(log.keys)


def test_flights_without_a_tail_number_share_the_empty_key() -> None:
    log = Flights().generate({"key": "tailnum"}, 1)
    empty = log.keys.index("")
    assert sum(int((partition.key == empty).sum()) for partition in log.partitions) == 2_512


def test_an_offset_is_the_order_of_the_rows_within_an_origin(tmp_path: Path) -> None:
    log = Flights().generate({"path": str(written(tmp_path)), "key": "tailnum"}, 1)
    newark, kennedy = log.partitions
    assert [log.keys[key] for key in newark.key] == [""]
    assert newark.value.tolist() == [0]
    assert [log.keys[key] for key in kennedy.key] == ["N1", "N2", "N1"]
    assert kennedy.value.tolist() == [5, -3, 4]


def test_a_year_can_be_cut_short_and_repeated(tmp_path: Path) -> None:
    parameters: dict[str, int | str] = {"path": str(written(tmp_path)), "limit": 3, "repeat": 2}
    log = Flights().generate({**parameters, "preloaded_percent": 50}, 1)
    assert log.lengths() == (2, 4)
    assert log.partitions[1].value.tolist() == [5, -3, 5, -3]
    assert [partition.preloaded for partition in log.partitions] == [1, 2]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"origin": ["JFK", None, "JFK", "JFK"]}, "broken in row 1 (counted from 0): origin is empty, expected a text"),
        ({"carrier": ["UA", "AA", None, None]}, "broken in row 2 (counted from 0): carrier is empty, expected a text"),
        (
            {"arr_delay": [1, 2, 3, 4_000_000]},
            "broken in row 3 (counted from 0): arr_delay is 4000000, expected whole minutes from -1000000 to 1000000",
        ),
        (
            {"arr_delay": pa.array(np.array([1, 2**63 + 5, 3, 4], dtype=np.uint64))},
            "broken in row 1 (counted from 0): arr_delay is 9223372036854775813, expected whole minutes",
        ),
        ({"arr_delay": [1.5, 2.0, 3.0, 4.0]}, "column 'arr_delay' of type double: expected whole minutes"),
        ({"arr_delay": ["1", "2", "3", "4"]}, "column 'arr_delay' of type string: expected whole minutes"),
        ({"origin": [1, 2, 3, 4]}, "column 'origin' of type int64: expected text"),
        ({name: pa.array([], pa.string()) for name in GOOD}, "holds no rows"),
    ],
)
def test_a_broken_file_is_refused_with_its_row(tmp_path: Path, columns: dict[str, object], complaint: str) -> None:
    path = written(tmp_path, **columns)
    with pytest.raises(ValueError) as refused:
        Flights().generate({"path": str(path)}, 1)
    assert complaint in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "flights.parquet"
    pq.write_table(pa.table({name: GOOD[name] for name in ("origin", "carrier", "tailnum")}), path)
    with pytest.raises(ValueError, match="has no column 'arr_delay': it needs origin, carrier, tailnum, arr_delay"):
        Flights().generate({"path": str(path)}, 1)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere\.parquet' does not exist: give the path of a Parquet file\."):
        Flights().generate({"path": str(tmp_path / "nowhere.parquet")}, 1)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "flights.parquet"
    path.write_bytes(OWN_FILE.read_bytes()[:-1_000])
    with pytest.raises(ValueError, match="is damaged at its ends: give a whole Parquet file"):
        Flights().generate({"path": str(path)}, 1)


def test_damage_inside_is_refused_with_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "flights.parquet"
    content = bytearray(OWN_FILE.read_bytes())
    content[1_000:2_000] = bytes(1_000)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged in rows 0 to 336775: give a whole Parquet file"):
        Flights().generate({"path": str(path)}, 1)
