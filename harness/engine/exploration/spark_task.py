"""The part of a campaign on Spark that runs in a worker, where at first none of our packages can be imported."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark import Broadcast

FOLDER = "holdfast-"
"""Of our packages, with their fingerprint, among the files of an executor, which go when it ends."""
COLUMNS = "first long, last long, passed long, failed long, inconclusive long, drawn binary"
_LACKS = "holdfast: "


def draw(
    system: str,
    code: str,
    archive: Broadcast[bytes],
    chunks: Sequence[tuple[int, int]],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Draw the chunks whose numbers come in.

    Args:
        system: under test, by name.
        code: fingerprint that the code here must have.
        archive: of our packages.
        chunks: first and last seed of each.
        batches: with a column `id`, places in `chunks`.

    Raises:
        RuntimeError: this worker lacks a package, or imports other code.
    """
    ours = _unpacked(code, archive)
    if ours not in sys.path:
        sys.path.insert(0, ours)
    try:
        import msgspec

        from holdfast.harness.engine.exploration.drawn_chunk import DrawnChunk, draw_chunk
        from holdfast.harness.engine.exploration.fingerprint import fingerprint
        from holdfast.harness.engine.site import registry
    except ImportError as error:
        raise RuntimeError(f"{_LACKS}Python {sys.version.split()[0]} there lacks a package ({error}).") from error
    here = fingerprint(registry.system(system), registry.toolbox())
    if here != code:
        raise RuntimeError(f"{_LACKS}the code there has the fingerprint {here}, ours has {code}.")
    names = [column.split()[0] for column in COLUMNS.split(", ")]
    for batch in batches:
        for number in batch.column("id").to_pylist():
            first, last = chunks[number]
            answer = draw_chunk(system, code, first, last)
            counts = msgspec.json.decode(answer, type=DrawnChunk).chunk.counts
            row = (first, last, counts.passed, counts.failed, counts.inconclusive, answer)
            yield pa.RecordBatch.from_pylist([dict(zip(names, row, strict=True))])


def _unpacked(code: str, archive: Broadcast[bytes]) -> str:
    """The folder of our packages. Workers of one executor share it, so it appears as a whole."""
    from pyspark import SparkFiles

    files = SparkFiles.getRootDirectory()
    folder = Path(files, f"{FOLDER}{code}")
    if not folder.exists():
        made = tempfile.mkdtemp(dir=files)
        zipfile.ZipFile(io.BytesIO(archive.value)).extractall(made)
        try:
            os.rename(made, folder)
        except OSError:
            if not folder.exists():  # Else another worker was first.
                raise
    return str(folder)


def sentence(text: str) -> str:
    """The cause in Spark's text on a failed task: our own message, or the last line that names an error."""
    lines = text.splitlines()
    ours = (line.partition(_LACKS)[2] for line in lines if _LACKS in line)
    return next(ours, next((line.strip() for line in reversed(lines) if "Error" in line), lines[0] if lines else ""))
