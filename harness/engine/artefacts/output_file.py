"""The committed output of a stored run: read into memory, or left where it lies and judged there.

Rows of contract RECORDS stay in their file when they are many or in an object store. Whoever counts them, or asks for
them in order, or for one of them, reads the file a part at a time. Those in a store, and very many, Spark counts.
Rows of contract FOLD are always read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem, LocalFileSystem

from holdfast.harness.engine.artefacts.files import require_regular
from holdfast.harness.engine.artefacts.record_files import (
    IN_MEMORY_ROWS,
    identities_of,
    read_output_shape,
    read_outputs,
    require_identities,
)
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site.spark_session import judging_session, require_spark
from holdfast.harness.model.history import FileDigest
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import CommittedRows, IdentityColumns, Output
from holdfast.harness.oracles.output.delivery import Delivery
from holdfast.harness.oracles.output.spark.delivery import count_on_spark
from holdfast.harness.oracles.output.stored_identities import StoredIdentities

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTED_HERE = 100_000_000
"""Rows that one process counts in some seconds; more are for Spark."""
_HASHED_AT_ONCE = 1 << 24


class OutputFile:
    """A Parquet file as `write_outputs` makes it.

    Args:
        path: within the file system.
        files: this machine's, unless given.
        url: the name of the file in messages; empty: its path.
        session: opens a session of Spark whose executors see the file system.

    Attributes:
        on_spark: see IdentityTable.
    """

    def __init__(
        self,
        path: str,
        *,
        files: FileSystem | None = None,
        url: str = "",
        session: Callable[[], AbstractContextManager[SparkSession]] = judging_session,
    ) -> None:
        self.url = url or path
        self._path = path
        self._remote = files is not None
        self._files = files or LocalFileSystem()
        self._session = session
        self.on_spark = self._remote
        self.count = cache(self._count)
        """Two oracles ask for the same."""

    def digest(self, length: int) -> FileDigest:
        """Length and SHA-256 under the name of the file; one of another length is not read, since it may be without
        end.

        Args:
            length: in bytes, as it was written.
        """
        digest, name = hashlib.sha256(), self._path.rpartition("/")[2]
        with self._open() as file:
            if (found := file.size()) != length:
                return FileDigest(name, found, "")
            while content := file.read(_HASHED_AT_ONCE):
                digest.update(content)
        return FileDigest(name, length, digest.hexdigest())

    def read(self, contract: Contract) -> Output:
        """The output; rows of contract RECORDS are StoredIdentities if they stay.

        Raises:
            UsageError: the file is damaged, or its rows stay and Spark is not there to count them.
        """
        with self._open() as file:
            units = read_output_shape(file, self.url).units
            rows = sum(unit.rows for unit in units)
            if contract is not Contract.RECORDS or not (self._remote or rows > IN_MEMORY_ROWS):
                return read_outputs(file, contract, self.url)
            require_identities(file, units, self.url)
        self.on_spark = self._remote or rows > COUNTED_HERE
        if self.on_spark:
            require_spark(f"{self.url}: {rows:,} rows are counted")
        first, stored = 0, []
        for unit in units:
            stored.append(CommittedRows(unit.name, unit.poll, StoredIdentities(self, first, unit.rows), unit.final))
            first += unit.rows
        return Output(tuple(stored))

    def batches(self, first: int, length: int) -> Iterator[IdentityColumns]:
        """As an IdentityTable."""
        with self._open() as opened:
            file, position = pq.ParquetFile(opened), 0
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if position + rows > first and position < first + length:
                    yield from _within(identities_of(file, group, self.url), first - position, length)
                position += rows

    def _count(self, lengths: Sequence[int], first_offsets: Sequence[int]) -> Delivery:
        try:
            with self._session() as spark:
                path = self._path if self._remote else str(Path(self._path).resolve())
                return count_on_spark(spark, self._files, [path], lengths, first_offsets)
        except UsageError:
            raise
        except Exception as error:  # What Spark raises tells of Java at length.
            said = next((line for line in str(error).splitlines() if "Exception" in line), str(error))
            raise OSError(f"{self.url} cannot be counted on Spark: {said.strip()}") from error

    def _open(self) -> pa.NativeFile:
        if not self._remote:
            require_regular(Path(self._path))
        try:
            return self._files.open_input_file(self._path)
        except OSError as error:
            reason = error.strerror or str(error).partition("\n")[0]
            raise UsageError(f"{self.url}: cannot be read ({reason}); name the folder of a whole run.") from error


def _within(parts: Iterator[IdentityColumns], first: int, length: int) -> Iterator[IdentityColumns]:
    """The rows of a range, out of parts; the range may begin before the first part."""
    for part in parts:
        start, end = max(first, 0), min(first + length, len(part))
        if start < end:
            yield IdentityColumns(part.partition[start:end], part.offset[start:end])
        first -= len(part)
        if first + length <= 0:
            return
