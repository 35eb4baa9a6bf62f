"""A run of more rows than fit in memory is judged a part at a time, as far as a user lets it be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts import output_file, record_files
from holdfast.harness.engine.artefacts.history_files import INPUTS, OUTPUTS
from holdfast.harness.engine.artefacts.record_files import read_inputs
from holdfast.harness.engine.artefacts.stored_run import HISTORY, store_run
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.abuse.mutations.kinds import mend_digests
from holdfast.suites.selfcheck.abuse.mutations.memory import MOST_MEGABYTES, grown_megabytes

BY_DAY, IN_MEMORY, BY_DAY_MEGABYTES = 16_000_000, 1_000_000, 200
"""Read as a whole, the rows of a day's test take 800 MB."""
BY_NIGHT = 100_000_000
A_GROUP = 4_000_000
PARTITIONS = 2
Numbers = npt.NDArray[np.int64]
Shape = Mapping[str, Any]


def make_run(folder: Path, rows: int) -> Path:
    """A stored run whose input has so many records, all of which are delivered in one unit."""
    run = store_run(folder / "run", run_plan(plan(job=FORWARD), registry.system("reference"), registry.toolbox()))
    history = run / HISTORY
    lengths = {"length": rows // PARTITIONS}
    _write_again(
        history / INPUTS,
        rows,
        lambda shape: {**shape, "partitions": [{**each, **lengths} for each in shape["partitions"]]},
        lambda number, shape: {
            "partition": pa.array(number // lengths["length"], pa.int32()),
            "offset": number % lengths["length"],
            "key": _texts(number % len(shape["keys"]), shape["keys"]),
            "value": number % 7,
        },
    )
    _write_again(
        history / OUTPUTS,
        rows,
        lambda shape: {"units": [{**shape["units"][-1], "rows": rows, "columnar": True}]},
        lambda number, shape: {
            "unit": _texts(0 * number, [shape["units"][0]["name"]]),
            "poll": 0 * number + shape["units"][0]["poll"],
            "final": pa.array(number < 0),
            "partition": number % PARTITIONS,
            "offset": number // PARTITIONS,
        },
    )
    mend_digests(history)
    return run


def _write_again(
    path: Path, rows: int, reshaped: Callable[[Shape], Shape], columns: Callable[[Numbers, Shape], Mapping[str, Any]]
) -> None:
    schema = pq.read_schema(path)
    shape = reshaped(json.loads(schema.metadata[b"holdfast"]))
    schema = schema.with_metadata({b"holdfast": json.dumps(shape).encode()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, A_GROUP):
            numbers = np.arange(start, min(start + A_GROUP, rows))
            writer.write_table(pa.table(dict(columns(numbers, shape)), schema), row_group_size=A_GROUP)


def _texts(indices: Numbers, texts: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(texts))


def judged(run: Path, limits: int, capsys: pytest.CaptureFixture[str]) -> tuple[str, float]:
    """What is said of it, and how many megabytes that takes. It fails: its checkpoints are those of a few records."""
    codes: list[int] = []
    grown = grown_megabytes(lambda: execute(["--limits", str(limits), "judge", str(run)]), codes)
    assert codes == [1]
    return capsys.readouterr().out, grown


def test_more_rows_than_fit_in_memory_are_judged_a_part_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (output_file, record_files):
        monkeypatch.setattr(module, "IN_MEMORY_ROWS", IN_MEMORY)
    said, grown = judged(make_run(tmp_path, BY_DAY), 1, capsys)
    assert f"EXACT    exactly-once output      pass         {4 * BY_DAY + 1} decided" in said
    assert grown < BY_DAY_MEGABYTES


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_hundred_million_rows_are_judged_once_limits_are_raised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path, BY_NIGHT)
    assert execute(["judge", str(run)]) == 3
    assert "holds 200,000,000 values, allowed are 40,000,000; raise the limits" in capsys.readouterr().err
    said, grown = judged(run, 5, capsys)
    assert f"EXACT    exactly-once output      pass         {4 * BY_NIGHT + 1} decided" in said
    assert grown < MOST_MEGABYTES


def test_input_that_stays_in_a_file_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = run_plan(plan(), registry.system("reference"), registry.toolbox()).history
    record_files.write_inputs(path := tmp_path / INPUTS, history.inputs)
    monkeypatch.setattr(record_files, "IN_MEMORY_ROWS", 0)
    monkeypatch.setattr(record_files, "_BATCH_ROWS", 7)
    found = read_inputs(path, INPUTS)
    assert isinstance(found.partitions[0].value, np.memmap)
    for mine, theirs in zip(found.partitions, history.inputs.partitions, strict=True):
        assert (mine.key.tolist(), mine.value.tolist()) == (theirs.key.tolist(), theirs.value.tolist())
