"""Histories for EXACT, NOLOSS and NOREPEAT: sums of two keys over two partitions, and identities of one."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee, OutputMode
from holdfast.harness.model.events import TransactionAborted, TransactionCommitted, TransactionPrecommitted
from holdfast.harness.model.jobs import DEDUPLICATE, FORWARD, REBALANCE
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import NO_PARTITION, CommittedRows, FoldRow, IdentityRow, InputLog, Partition
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.legal import MASK, fold_row
from holdfast.suites.selfcheck.oracles.lines import completed, triggered
from holdfast.suites.selfcheck.oracles.output_builder import (
    INPUTS, MARKED, MARKERS, STOPPED, WHOLE_A, WHOLE_B, fold, identities, units,
)  # fmt: skip

# --- EXACT: sums of two keys over two partitions, and identities of one -----------------------------------------------


THREE = input_log(3)

bad, near = exhibits(
    "EXACT", inputs=INPUTS, units=units([IdentityRow(0, 0), IdentityRow(0, 1), IdentityRow(NO_PARTITION, 0)])
)

bad("row-wrong", "record applied twice", units=units(fold("a", (0, 2, 2), (0,)), fold("a", (0, 2, 2), (0, 2)), WHOLE_B))
bad("row-wrong", "value off by one",
    units=units(fold("a", (0,), ()), FoldRow("a", WHOLE_A.value + 1, WHOLE_A.counts, WHOLE_A.digest),
                WHOLE_B))  # fmt: skip
near("row-wrong", "sums wrapped",
     units=units(fold("a", (0,), ()), FoldRow("a", WHOLE_A.value - (1 << 64), WHOLE_A.counts, WHOLE_A.digest),
                 WHOLE_B))  # fmt: skip
UNORDERED = EXACTLY_ONCE - {Guarantee.KEY_ORDER}
"""Of a source that hands a partition out in several splits."""

near("row-wrong", "later split took effect first",
     units=units(fold("a", (2,), ()), fold("a", (2, 4), (2,)), WHOLE_A, WHOLE_B), claimed=UNORDERED)  # fmt: skip
bad("row-wrong", "one record for another in no order",
    units=units(fold("a", (2,), ()), fold("a", (0, 2, 2), (0, 2)), WHOLE_B), claimed=UNORDERED)  # fmt: skip

bad("input-missing", "split lost in no order",
    units=units(fold("a", (2,), ()), fold("a", (2, 4), (0, 2)), WHOLE_B), claimed=UNORDERED)  # fmt: skip

bad("beyond-input", "split applied twice in no order",
    units=units(fold("a", (2,), ()), fold("a", (2, 4), (0,)), fold("a", (0, 2, 4), (0, 2, 2)), WHOLE_B),
    claimed=UNORDERED)  # fmt: skip

OF_ANOTHER_HASH = [
    FoldRow(row.key, row.value, row.counts, row.digest * 3 + 1 & MASK)
    for row in (fold("a", (0,), (0,)), WHOLE_A, WHOLE_B)
]

# Whoever writes rows computes their digests in a way of his own; no record is missing or there twice.
bad("digest-wrong", "digest of another hash", units=units(*OF_ANOTHER_HASH))
near("digest-wrong", "digest of the records", units=units(fold("a", (0,), (0,)), WHOLE_A, WHOLE_B))

bad("row-wrong", "digest of another hash and value of other records",
    units=units(fold("a", (0,), (0,)), replace(OF_ANOTHER_HASH[1], value=OF_ANOTHER_HASH[1].value - 2),
                WHOLE_B))  # fmt: skip

# Some records are there twice and others not at all: where all values are equal, only the digest shows it.
bad("row-wrong", "equal values tell no records apart",
    inputs=InputLog(("a",), (Partition(np.zeros(8, np.int64), np.full(8, 7), preloaded=8),)),
    units=units(FoldRow("a", 56, (8,),
                        fold_row("a", [(0, offset) for offset in (0, 0, 1, 1, 2, 2, 6, 7)], 1).digest)))  # fmt: skip

bad("row-unknown", "key of nobody", units=units(WHOLE_A, fold("c", (0,), ()), WHOLE_B))

# Of two rows that their author expects both are there, and another one.
bad("row-unknown", "total that nobody expects in the end",
    job=FORWARD, inputs=InputLog(("row a", "row b", "row c"), input_log(2).partitions, described=True),
    mode=OutputMode.OVERWRITE)  # fmt: skip
bad("row-unknown", "appended row of a job that failed as it was to",
    job=FORWARD, inputs=InputLog(("row a", "row b", "row c"), input_log(2).partitions, described=True),
    mode=OutputMode.APPEND, expected=ExpectedEnd.FAILED)  # fmt: skip

# A later micro-batch would have replaced it.
near("row-unknown", "total of a job that failed as it was to",
     job=FORWARD, inputs=InputLog(("row a", "row b", "row c"), input_log(2).partitions, described=True),
     mode=OutputMode.OVERWRITE, expected=ExpectedEnd.FAILED)  # fmt: skip
near("row-unknown", "keys of the input", units=units(WHOLE_A, WHOLE_B))

# The row of key b has another total than its author expects: it is neither lost nor a row of nobody.
TOTALS = InputLog(("row a", "row b"), input_log(2).partitions, described=True)
B_TOO_HIGH = replace(TOTALS, keys=(*TOTALS.keys, "row b, where total is 3 instead of 2 (too high)"), wrong=((0, 1),),
                     too_high=(0,))  # fmt: skip
ANOTHER_B = units([IdentityRow(0, 0), IdentityRow(NO_PARTITION, 0)])

bad("value-wrong", "total too high in the end",
    job=FORWARD, inputs=B_TOO_HIGH, mode=OutputMode.OVERWRITE, units=ANOTHER_B)  # fmt: skip
bad("value-wrong", "appended total too high", job=FORWARD, inputs=B_TOO_HIGH, units=ANOTHER_B)

# A later micro-batch would have replaced it.
near("value-wrong", "total of a job that failed as it was to",
     job=FORWARD, inputs=B_TOO_HIGH, mode=OutputMode.OVERWRITE, units=ANOTHER_B,
     expected=ExpectedEnd.FAILED)  # fmt: skip
near("value-wrong", "all totals right",
     job=FORWARD, inputs=TOTALS, mode=OutputMode.OVERWRITE, units=units(identities("0:0", "0:1")))  # fmt: skip

bad("row-repeated", "transaction committed again", units=units(fold("a", (0, 2), (0,)), WHOLE_A, WHOLE_A, WHOLE_B))
near("row-repeated", "one record more", units=units(fold("a", (0, 2, 4), (0,)), WHOLE_A, WHOLE_B))
bad("row-repeated", "identity twice",
    job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1"), identities("0:1", "0:2")))  # fmt: skip
near("row-repeated", "identities once in any order",
     job=REBALANCE, inputs=THREE, units=units(identities("0:2"), identities("0:1", "0:0")))  # fmt: skip

bad("counts-stepped-back", "one partition rewound",
    units=units(fold("a", (0, 2), ()), fold("a", (0,), (0,)), WHOLE_A, WHOLE_B))  # fmt: skip
near("counts-stepped-back", "units of one poll listed in no order",
     units=(*units(WHOLE_B), CommittedRows("unit-10", 1, [WHOLE_A]),
            CommittedRows("unit-9", 1, [fold("a", (0, 2), ())])))  # fmt: skip

bad("beyond-input", "input read again", units=units(fold("a", (0, 2, 4, 2, 4), (0, 2)), WHOLE_B))
near("beyond-input", "all of the input", units=units(WHOLE_A, WHOLE_B))

bad("order-broken", "later offset first",
    job=FORWARD, inputs=THREE, units=units(identities("0:0"), identities("0:2"), identities("0:1")))  # fmt: skip
near("order-broken", "partitions interleaved",
     job=FORWARD, inputs=input_log(2, 2), units=units(identities("1:0", "0:0", "0:1", "1:1")))  # fmt: skip

bad("input-missing", "last records missing", units=units(fold("a", (0, 2), (0, 2)), WHOLE_B))
bad("input-missing", "key without row", units=units(WHOLE_B))
near("input-missing", "nothing owed for what was preloaded",
     inputs=InputLog(INPUTS.keys, INPUTS.partitions, first_offsets=(4, 2)),
     units=units([fold("a", (4,), (2,)), fold("b", (5,), (3,))]))  # fmt: skip
bad("input-missing", "identity missing", job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:2")))
near("input-missing", "all identities", job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1", "0:2")))
bad("input-missing", "total of a key missing", job=FORWARD, inputs=TOTALS, units=units(identities("0:0")))
bad("row-repeated", "total of a key twice", job=FORWARD, inputs=TOTALS, units=units(identities("0:0", "0:1", "0:1")))

# The system under test does not report its end, and never will.
bad("input-missing", "hole before a visible marker",
    inputs=MARKED, units=units(fold("a", (0, 2, 4), (0,)), WHOLE_B, MARKERS), end=STOPPED)  # fmt: skip
bad("input-missing", "transactions of a completed checkpoint aborted",
    triggered(1, "sink[0]"), TransactionPrecommitted(subtask="sink[0]", transaction="t-1", checkpoint=1, records=2),
    completed(1, 2), TransactionAborted(subtask="sink[0]", transaction="t-1"),
    TransactionCommitted(subtask="sink[0]", transaction="t-2"), job=REBALANCE, inputs=input_log(3, marked=True),
    units=units(identities("0:2", "0:3")),
    end=replace(STOPPED, reason="transaction t-1 of a completed checkpoint was not committed"))  # fmt: skip
bad("input-missing", "reported as committed and missing with the marker", inputs=MARKED, units=units(WHOLE_A, WHOLE_B))
near("input-missing", "everything there though the end is not reported",
     inputs=MARKED, units=units(WHOLE_A, WHOLE_B, MARKERS), end=STOPPED)  # fmt: skip

bad("late-change", "seen by the second read only", units=units(WHOLE_B, WHOLE_A, final=True))
near("late-change", "seen at the last poll", units=units(WHOLE_B, WHOLE_A))

# --- NOLOSS: at-least-once is claimed ---------------------------------------------------------------------------------

bad, near = exhibits("NOLOSS", claimed=AT_LEAST_ONCE, inputs=INPUTS)

bad("input-lost", "last row lacks a record", units=units(fold("a", (0, 2, 4), (0,)), WHOLE_B))
bad("input-lost", "one lost and one repeated", units=units(fold("a", (0, 2, 2), (0, 2)), WHOLE_B))
bad("input-lost", "repeats hide a loss", units=units(fold("a", (0, 2, 0, 2), (0, 2, 0)), WHOLE_B))
bad("input-lost", "key never seen", units=units(WHOLE_B))
bad("input-lost", "hole before a visible marker",
    inputs=MARKED, units=units(WHOLE_A, fold("b", (1, 3), (1, 3)), MARKERS), end=STOPPED)  # fmt: skip
bad("input-lost", "repeats hide a loss before a visible marker",
    inputs=MARKED, units=units(fold("a", (0, 2, 2), (0, 2)), WHOLE_B, MARKERS), end=STOPPED)  # fmt: skip
near("input-lost", "stepped back and caught up",
     units=units(fold("a", (0, 2), (0, 2)), fold("a", (0, 2), (0,)), WHOLE_A, WHOLE_A, WHOLE_B))  # fmt: skip
bad("input-lost", "identity lost", job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:2")))
near("input-lost", "identity seen twice",
     job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1"), identities("0:1", "0:2")))  # fmt: skip

bad("digest-wrong", "digest of another hash",
    units=units(FoldRow("a", WHOLE_A.value, WHOLE_A.counts, WHOLE_A.digest ^ 1), WHOLE_B))  # fmt: skip
near("digest-wrong", "digest of the records", units=units(WHOLE_A, WHOLE_B))

bad("extra-not-a-repeat", "record of another key", units=units(fold("a", (0, 2, 3), (0, 2)), WHOLE_B))
bad("extra-not-a-repeat", "value that no repeat explains",
    units=units(FoldRow("a", fold("a", (0, 2, 4, 4), (0, 2)).value + 1, fold("a", (0, 2, 4, 4), (0, 2)).counts,
                        fold("a", (0, 2, 4, 4), (0, 2)).digest),
                WHOLE_B))  # fmt: skip
bad("extra-not-a-repeat", "value of other records",
    units=units(FoldRow("a", WHOLE_A.value + 1, WHOLE_A.counts, WHOLE_A.digest), WHOLE_B))  # fmt: skip
bad("extra-not-a-repeat", "key of no input", units=units(WHOLE_A, fold("c", (0,), ()), WHOLE_B))
bad("extra-not-a-repeat", "identity of no input",
    job=REBALANCE, inputs=THREE, units=units(identities("0:0", "0:1", "0:2", "0:3")))  # fmt: skip
near("extra-not-a-repeat", "record applied twice at least once", units=units(fold("a", (0, 2, 4, 4), (0, 2)), WHOLE_B))

bad("value-wrong", "total too high",
    job=FORWARD, inputs=B_TOO_HIGH, mode=OutputMode.OVERWRITE, units=ANOTHER_B)  # fmt: skip
near("value-wrong", "total of a key twice at least once",
     job=FORWARD, inputs=TOTALS, units=units(identities("0:0", "0:1", "0:1")))  # fmt: skip

near("excess-unexplained", "one run of each partition repeated",
     units=units(fold("a", (0, 2, 4, 2, 4), (0, 2, 0, 2)), WHOLE_B))  # fmt: skip

# --- NOREPEAT: at-most-once is claimed --------------------------------------------------------------------------------

bad, near = exhibits("NOREPEAT", claimed=EXACTLY_ONCE - {Guarantee.NO_LOSS}, inputs=input_log(3), job=REBALANCE)

bad("record-repeated", "seen in two units", units=units(identities("0:0", "0:1"), identities("0:1", "0:2")))
near("record-repeated", "one is lost", units=units(identities("0:0"), identities("0:2")))

bad("value-wrong", "total too high", inputs=B_TOO_HIGH, units=ANOTHER_B)
near("value-wrong", "total of a key missing at most once", inputs=TOTALS, units=units(identities("0:0")))

bad("record-unknown", "behind the input", units=units(identities("0:0", "0:1"), identities("0:3")))

# Each second of thirty records is of key a. Of those that come within 200 ms of one that was handed on, which are
# nine, a deduplicating job drops all.
bad("record-unknown", "a record is handed on too close behind another",
    job=DEDUPLICATE, inputs=input_log(30),
    units=units(identities("0:0"), identities("0:1"), identities("0:2")))  # fmt: skip
bad("record-unknown", "it is too close behind one that stands in for another",
    job=DEDUPLICATE, inputs=input_log(30),
    units=units(identities("0:1"), identities("0:4"), identities("0:20")))  # fmt: skip
near("record-unknown", "the first of a key is lost and the next stands in for it",
     job=DEDUPLICATE, inputs=input_log(30),
     units=units(identities("0:1"), identities("0:4"), identities("0:24")))  # fmt: skip
near("record-unknown", "the last two are lost", units=units(identities("0:0")))
