"""Histories of jobs that keep more by key than a sum: a top list, repeats for a while, sessions.

One split: even offsets have key `a`, odd ones `b`; offset n has the value n + 1, and comes 10 ms behind the one before.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.jobs import DEDUPLICATE, SESSION_SUM, TOP_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.histories.window import row
from holdfast.suites.selfcheck.oracles.legal import fold_row
from holdfast.suites.selfcheck.oracles.output_builder import fold, identities, one_by_one, units

# --- the three largest values of a key -------------------------------------------------------------------------------


bad_rows, near_rows = exhibits("EXACT", inputs=input_log(22), job=TOP_SUM)

near_rows(
    "row-wrong",
    "the three largest of four",
    inputs=input_log(8),
    units=one_by_one(
        *[
            replace(each, value=value)
            for each, value in zip(
                [fold_row(key, [(0, offset) for offset in range(first, 8, 2)], 1) for first, key in enumerate("ab")],
                (15, 18),
                strict=True,
            )
        ]
    ),
)
bad_rows(
    "row-wrong",
    "all four are summed",
    inputs=input_log(8),
    units=one_by_one(
        *[
            replace(each, value=value)
            for each, value in zip(
                [fold_row(key, [(0, offset) for offset in range(first, 8, 2)], 1) for first, key in enumerate("ab")],
                (16, 18),
                strict=True,
            )
        ]
    ),
)


near_rows(
    "row-wrong", "equal values stand side by side",
    inputs=input_log(2, 2), units=units([replace(fold("a", (0,), (0,)), value=2)], [fold("b", (1,), (1,))]),
)  # fmt: skip
bad_rows(
    "row-wrong", "equal values stand once",
    inputs=input_log(2, 2), units=units([replace(fold("a", (0,), (0,)), value=1)], [fold("b", (1,), (1,))]),
)  # fmt: skip


# --- repeats of a key within 200 ms ----------------------------------------------------------------------------------


near_rows(
    "row-unknown", "a repeat when the first has expired",
    job=DEDUPLICATE, units=units(identities(*(f"0:{each}" for each in (0, 1, 20, 21)))),
)  # fmt: skip
bad_rows(
    "row-unknown", "a repeat before the first has expired",
    job=DEDUPLICATE, units=units(identities(*(f"0:{each}" for each in (0, 1, 18, 20, 21)))),
)  # fmt: skip

bad_rows(
    "input-missing", "a repeat is dropped for too long",
    job=DEDUPLICATE, units=units(identities(*(f"0:{each}" for each in (0, 1, 20)))),
)  # fmt: skip


# --- sessions that end 40 ms behind their last record ----------------------------------------------------------------


B = row("b", 10, 1, 3, 5, 7, 9)

bad_windows, near_windows = exhibits("WINDOW", expected=ExpectedEnd.FINISHED, inputs=input_log(10), job=SESSION_SUM)

near_windows("window-wrong", "one session of each key", units=one_by_one(row("a", 0, 0, 2, 4, 6, 8), B))
bad_windows("window-wrong", "a session ends while records come", units=one_by_one(row("a", 0, 0, 2, 4), B))

bad_windows("window-missing", "a session never ends", units=one_by_one(row("a", 0, 0, 2, 4, 6, 8)))
