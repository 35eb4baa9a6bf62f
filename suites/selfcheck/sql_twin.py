"""The slow twin: what the oracles of output decide by counting and prefix sums, as joins in SQL.

It computes everything from the contract again, the identity hash included, in DuckDB. Arithmetic modulo 2**64 is done
in 128 bits. Rows of the output are numbered in the order of visibility.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import duckdb
import pyarrow as pa

from holdfast.harness.model.records import FoldRow, IdentityRow, InputLog, Output

MASK = (1 << 64) - 1

_INPUT = """
CREATE OR REPLACE TEMP TABLE input AS
WITH seeded AS (
    SELECT *, ((digest_key::UHUGEINT + (partition::UHUGEINT << 48) + "offset"::UHUGEINT + 1)
        % 18446744073709551616)::UBIGINT AS z0 FROM fed),
first AS (
    SELECT *, ((xor(z0, z0 >> 30)::UHUGEINT * 13787848793156543929) % 18446744073709551616)::UBIGINT AS z1 FROM seeded),
second AS (
    SELECT *, ((xor(z1, z1 >> 27)::UHUGEINT * 10723151780598845931) % 18446744073709551616)::UBIGINT AS z2 FROM first)
SELECT partition, "offset", key, value, xor(z2, z2 >> 31) AS hash,
    row_number() OVER (PARTITION BY partition, key ORDER BY "offset") AS rank
FROM second
"""

# Plain enough for Spark, too, where double quotes mark names.
LOST = """SELECT partition, "offset" FROM input ANTI JOIN identities USING (partition, "offset") ORDER BY ALL"""
DUPLICATED = """SELECT partition, "offset" FROM identities SEMI JOIN input USING (partition, "offset")
GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL"""
UNKNOWN = """SELECT partition, "offset" FROM identities ANTI JOIN input USING (partition, "offset") ORDER BY ALL"""

_WRONG = """
WITH held AS (
    SELECT position, counts.partition, any_value(count) AS count, count(rank) AS found,
        coalesce(sum(input.value), 0) AS value, coalesce(sum(hash), 0) AS digest
    FROM folds JOIN counts USING (position)
    LEFT JOIN input ON input.key = folds.key AND input.partition = counts.partition AND rank <= count
    GROUP BY ALL),
total AS (
    SELECT position, bool_and(found = count) AS inside, sum(value) AS value, sum(digest) AS digest
    FROM held GROUP BY position)
SELECT position FROM folds LEFT JOIN total USING (position)
WHERE NOT coalesce(inside, false)
    OR (folds.value - total.value) % 18446744073709551616 <> 0
    OR (folds.digest::HUGEINT - total.digest) % 18446744073709551616 <> 0
ORDER BY position
"""

_SHORT = """
WITH last AS (SELECT key, max(position) AS position FROM folds GROUP BY key),
expected AS (SELECT key, partition, count(*) AS records FROM input GROUP BY ALL)
SELECT DISTINCT key FROM expected LEFT JOIN last USING (key) LEFT JOIN counts USING (position, partition)
WHERE coalesce(count, 0) < records ORDER BY key
"""

_NOT_RISING = """
WITH steps AS (
    SELECT position, partition, count - lag(count) OVER (PARTITION BY key, partition ORDER BY position) AS step
    FROM folds JOIN counts USING (position))
SELECT position FROM steps WHERE step IS NOT NULL GROUP BY position HAVING min(step) < 0 OR max(step) = 0
ORDER BY position
"""


class SqlTwin:
    """Answers about the input and the output that were taken last."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(":memory:", config={"threads": 1})

    def take(self, inputs: InputLog, digest_key: int, output: Output) -> None:
        """Load a run.

        Args:
            inputs: what was fed.
            digest_key: of the identity hash.
            output: what was committed.
        """
        self._take_input(inputs, digest_key)
        self._take_output(output)

    def _take_input(self, inputs: InputLog, digest_key: int) -> None:
        firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
        fed = [
            (number, offset, inputs.keys[int(partition.key[offset])], int(partition.value[offset]), digest_key & MASK)
            for number, (partition, first) in enumerate(zip(inputs.partitions, firsts, strict=True))
            for offset in range(first, len(partition))
        ]
        types = {"partition": "i8", "offset": "i8", "key": "s", "value": "i8", "digest_key": "u8"}
        self._load("fed", types, fed)
        self._connection.execute(_INPUT)

    def _take_output(self, output: Output) -> None:
        rows = list(output.rows())
        identities = [(row.partition, row.offset) for row in rows if isinstance(row, IdentityRow)]
        self._load("identities", {"partition": "i8", "offset": "i8"}, identities)
        folds = [(position, row) for position, row in enumerate(rows) if isinstance(row, FoldRow)]
        content = [(position, row.key, row.value, row.digest & MASK) for position, row in folds]
        self._load("folds", {"position": "i8", "key": "s", "value": "i8", "digest": "u8"}, content)
        counts = [(position, partition, n) for position, row in folds for partition, n in enumerate(row.counts)]
        self._load("counts", {"position": "i8", "partition": "i8", "count": "i8"}, counts)

    def lost(self) -> list[tuple[int, int]]:
        """Expected identities without a row."""
        return cast("list[tuple[int, int]]", self._connection.execute(LOST).fetchall())

    def duplicated(self) -> list[tuple[int, int]]:
        """Expected identities with more than one row."""
        return cast("list[tuple[int, int]]", self._connection.execute(DUPLICATED).fetchall())

    def unknown(self) -> list[tuple[int, int]]:
        """Rows that stand for no expected identity."""
        return cast("list[tuple[int, int]]", self._connection.execute(UNKNOWN).fetchall())

    def wrong(self) -> list[int]:
        """Fold rows that are not the prefix that their counts name."""
        return [position for (position,) in self._connection.execute(_WRONG).fetchall()]

    def not_rising(self) -> list[int]:
        """Fold rows that do not hold all that the row of their key before them holds, and more."""
        return [position for (position,) in self._connection.execute(_NOT_RISING).fetchall()]

    def short(self) -> list[str]:
        """Keys whose last row counts fewer records than the input has."""
        return [key for (key,) in self._connection.execute(_SHORT).fetchall()]

    def close(self) -> None:
        """Free the database."""
        self._connection.close()

    def _load(self, table: str, types: dict[str, str], rows: Sequence[tuple[object, ...]]) -> None:
        of = {"i8": pa.int64(), "u8": pa.uint64(), "s": pa.string()}
        columns = list(zip(*rows, strict=True)) or [()] * len(types)
        schema = pa.schema([(name, of[kind]) for name, kind in types.items()])
        arrow = pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema)
        self._connection.register("incoming", arrow)
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS FROM incoming")
        self._connection.unregister("incoming")
