"""Arrays of Arrow that are made without pandas: the same as Arrow makes, or an error."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.reference.connectors.rows import encode_rows
from holdfast.harness.model.arrow_array import arrow_array, numpy_array
from holdfast.harness.model.records import FoldColumns


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
