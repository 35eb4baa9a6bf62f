"""Files as Spark writes them, by hand: logs of a query, folders of foreachBatch, and those of its file sink."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holdfast.fixtures.pipelines.rows.row_form import EVENT_START_MS


def log_entry(path: Path, *lines: object) -> None:
    """An entry of one of Spark's logs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["v1", *(json.dumps(line) for line in lines)]))


def planned(
    checkpoint: Path, batch: int, files: Sequence[str], *, compact: bool = False, watermark_ms: int = 0
) -> None:
    """A micro-batch that reads some files was begun."""
    entries = [{"path": f"file:///somewhere/input/{name}", "timestamp": 1, "batchId": batch} for name in files]
    log_entry(checkpoint / "sources" / "0" / (f"{batch}.compact" if compact else str(batch)), *entries)
    log_entry(
        checkpoint / "offsets" / str(batch), {"batchWatermarkMs": EVENT_START_MS + watermark_ms}, {"logOffset": batch}
    )


def committed(checkpoint: Path, batch: int) -> None:
    """It was done."""
    log_entry(checkpoint / "commits" / str(batch), {"nextBatchWatermarkMs": 0})


def identities(path: Path, *rows: tuple[int, int]) -> None:
    """A file of identity rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partition, offset = zip(*rows, strict=True) if rows else ((), ())
    schema = pa.schema([("partition", pa.int32()), ("offset", pa.int64())])
    pq.write_table(pa.table([list(partition), list(offset)], schema=schema), path)


def sink_log(output: Path, batch: str, *names: str) -> None:
    """An entry of the file sink's log."""
    entries = [{"path": (output / name).as_uri(), "size": 1, "isDir": False, "action": "add"} for name in names]
    log_entry(output / "_spark_metadata" / batch, *entries)
