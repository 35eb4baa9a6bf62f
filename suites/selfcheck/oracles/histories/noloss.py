"""Histories for NOLOSS: at-least-once is claimed."""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.records import FoldRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.output_builder import (
    INPUTS,
    MARKED,
    STOPPED,
    WHOLE_A,
    WHOLE_B,
    fold,
    identities,
    row_by_row,
    units,
    up_to_the_markers,
)

THREE = input_log(3)

bad, near = exhibits("NOLOSS", claimed=AT_LEAST_ONCE, inputs=INPUTS)

bad("input-lost", "last row lacks a record", units=row_by_row(fold("a", (0, 2, 4), (0,))))
bad("input-lost", "one lost and one repeated", units=row_by_row(fold("a", (0, 2, 2), (0, 2))))
bad("input-lost", "repeats hide a loss", units=row_by_row(fold("a", (0, 2, 0, 2), (0, 2, 0))))
bad("input-lost", "key never seen", units=row_by_row())
bad(
    "input-lost", "hole before a visible marker",
    inputs=MARKED, units=up_to_the_markers([WHOLE_A], [fold("b", (1, 3), (1, 3))]), end=STOPPED,
)  # fmt: skip
bad(
    "input-lost", "repeats hide a loss before a visible marker",
    inputs=MARKED, units=up_to_the_markers([fold("a", (0, 2, 2), (0, 2))], [WHOLE_B]), end=STOPPED,
)  # fmt: skip
near(
    "input-lost", "stepped back and caught up",
    units=row_by_row(fold("a", (0, 2), (0, 2)), fold("a", (0, 2), (0,)), WHOLE_A, WHOLE_A),
)  # fmt: skip
bad("input-lost", "identity lost", job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:2")))
near(
    "input-lost", "identity seen twice",
    job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1"), identities("0:1", "0:2")),
)  # fmt: skip

bad(
    "digest-wrong", "digest of another hash",
    units=row_by_row(FoldRow("a", WHOLE_A.value, WHOLE_A.counts, WHOLE_A.digest ^ 1)),
)  # fmt: skip
near("digest-wrong", "digest of the records", units=row_by_row(WHOLE_A))

bad("extra-not-a-repeat", "record of another key", units=row_by_row(fold("a", (0, 2, 3), (0, 2))))
bad(
    "extra-not-a-repeat",
    "value that no repeat explains",
    units=row_by_row(
        FoldRow(
            "a",
            fold("a", (0, 2, 4, 4), (0, 2)).value + 1,
            fold("a", (0, 2, 4, 4), (0, 2)).counts,
            fold("a", (0, 2, 4, 4), (0, 2)).digest,
        )
    ),
)
bad(
    "extra-not-a-repeat", "value of other records",
    units=row_by_row(FoldRow("a", WHOLE_A.value + 1, WHOLE_A.counts, WHOLE_A.digest)),
)  # fmt: skip
bad("extra-not-a-repeat", "key of no input", units=row_by_row(WHOLE_A, fold("c", (0,), ())))
bad(
    "extra-not-a-repeat", "identity of no input",
    job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1", "0:2", "0:3")),
)  # fmt: skip
near("extra-not-a-repeat", "record applied twice at least once", units=row_by_row(fold("a", (0, 2, 4, 4), (0, 2))))

near(
    "excess-unexplained", "one run of each partition repeated",
    units=row_by_row(fold("a", (0, 2, 4, 2, 4), (0, 2, 0, 2))),
)  # fmt: skip
