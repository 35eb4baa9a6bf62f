"""The flights are all there, and a file that is not right is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.workloads.flights import OWN_FILE, Flights
from holdfast.harness.model.records import InputLog

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
