"""Histories for WINDOW and TIME: a split that is idle holds back no window, and may be late when it comes again.

Windows of 60 ms, one every 30 ms, take records until the watermark has passed their end by 20 ms; it stays 20 ms behind
the records, which are 10 ms apart. A split is idle when it has brought no record for 100 ms. The first one begins with
the run and brings 200 records a second; the second one brings as many, and begins later.
"""

from __future__ import annotations

import numpy as np

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import FaultInjected, RecordsDropped
from holdfast.harness.model.jobs import IDLE_SPLITS
from holdfast.harness.model.records import InputLog, Partition
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.histories.window import row
from holdfast.suites.selfcheck.oracles.lines import attempt
from holdfast.suites.selfcheck.oracles.output_builder import one_by_one

# --- nothing waits for the second split, which has no record; the first one has ten -----------------------------------


A, B = row("a", -1, 0, 2), row("b", -1, 1)

bad_row, near_row = exhibits("WINDOW", inputs=input_log(10, 0), job=IDLE_SPLITS)

bad_row("window-missing", "an idle split holds back a window", units=one_by_one(A))
near_row("window-missing", "what no split has passed stays open", units=one_by_one(A, B))


# --- the second split drops a record ----------------------------------------------------------------------------------


def _split(records: int, starts_ms: int) -> Partition:
    values = np.arange(records)
    return Partition(values % 2, values + 1, preloaded=0, starts_ms=starts_ms, records_per_second=200)


bad_drop, near_drop = exhibits(
    "TIME", attempt(), inputs=InputLog(("a", "b"), (_split(100, 0), _split(100, 40))), job=IDLE_SPLITS
)

bad_drop(
    "dropped-early", "a split that is late but not idle drops a record",
    RecordsDropped(subtask="sum[0]", records=((1, 0, -1, 500),)),
)  # fmt: skip
near_drop(
    "dropped-early", "what comes first behind idleness is late",
    RecordsDropped(subtask="sum[0]", records=((1, 0, -1, 500),)),
    inputs=InputLog(("a", "b"), (_split(100, 0), _split(100, 150))),
)  # fmt: skip

# The other one had come to 390 ms when it came again, and this window ends at 420.
bad_drop(
    "dropped-early", "a split that came again does not count",
    RecordsDropped(subtask="sum[0]", records=((1, 38, 12, 500),)),
    inputs=InputLog(("a", "b"), (_split(100, 0), _split(100, 150))),
)  # fmt: skip
near_drop(
    "dropped-early", "nobody says how far the other was behind a restart",
    FaultInjected(fault=0, fault_kind="knead", target="worker[0]", may_cause=(Consequence.ENDS_PROCESS,)),
    RecordsDropped(subtask="sum[0]", records=((1, 38, 12, 500),)),
    inputs=InputLog(("a", "b"), (_split(100, 0), _split(100, 150))),
)  # fmt: skip
bad_drop(
    "dropped-early", "a death makes no split idle",
    FaultInjected(fault=0, fault_kind="knead", target="worker[0]", may_cause=(Consequence.ENDS_PROCESS,)),
    RecordsDropped(subtask="sum[0]", records=((1, 0, -1, 500),)),
)  # fmt: skip
near_drop(
    "dropped-early", "a fault held its records up",
    FaultInjected(fault=0, fault_kind="knead", target="worker[0]", may_cause=(Consequence.HOLDS_UP_RECORDS,)),
    RecordsDropped(subtask="sum[0]", records=((1, 0, -1, 500),)),
)  # fmt: skip
near_drop(
    "dropped-early", "the machine had other things to do",
    RecordsDropped(subtask="sum[0]", records=((1, 0, -1, 500),)), real_time=True,
)  # fmt: skip
