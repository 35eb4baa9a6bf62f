"""Histories for STATE: what two sums and open windows hold in checkpoint 1."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Claims
from holdfast.harness.model.events import CheckpointAudited, StateSummary, SubtaskAudited
from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS
from holdfast.harness.model.jobs import WINDOW_SUM
from holdfast.harness.model.records import InputLog, Partition
from holdfast.suites.selfcheck.oracles.builder import at, exhibits, undecided
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import audited, completed, snapshot

# --- STATE: checkpoint 1 of two sums stands at offset 4 of partition 0 and at offset 2 of partition 1 -----------------


COMPLETED = completed(1, 4, 2)
A, B = [(0, 0), (0, 2), (1, 0)], [(0, 1), (0, 3), (1, 1)]
"""Even offsets have key `a`, odd ones `b`."""

bad, near = exhibits("STATE")

bad("state-missing", "a key forgotten",
    COMPLETED, audited(summary(A), StateSummary(entries={})), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
bad("state-missing", "more forgotten than one partition has",
    completed(1, 10, 10),
    *[SubtaskAudited(checkpoint=1, subtask=f"sum[{index}]", state=StateSummary(entries={}))
      for index in (0, 1)])  # fmt: skip
bad("state-missing", "rolled back by one record",
    COMPLETED, audited(summary(A), summary(B[:2])), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
near("state-missing", "records behind the positions are not there",
     COMPLETED, audited(summary(A), summary(B)), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
near("state-missing", "a subtask without keys",
     COMPLETED, audited(summary(A + B), StateSummary(entries={})), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
near("state-missing", "values decide where there is no digest",
     COMPLETED, audited(*(replace(summary(held), digest=0) for held in (A, B))),
     claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip

# Nothing is left of its state; the next checkpoint, of both, is whole.
near("state-missing", "one of two had finished",
     COMPLETED, audited(summary(A)), SubtaskAudited(checkpoint=1, subtask="sum[1]"), completed(2, 4, 2),
     *[SubtaskAudited(checkpoint=2, subtask=f"sum[{i}]", state=summary(held))
       for i, held in enumerate((A, B))])  # fmt: skip

# When it had completed, and after the run.
near("state-missing", "read twice from storage",
     COMPLETED, audited(summary(A), summary(B)),
     *[at("audit", SubtaskAudited(checkpoint=1, subtask=f"sum[{i}]", state=summary(x)))
       for i, x in enumerate((A, B))])  # fmt: skip
bad("state-missing", "lost when it is read again",
    COMPLETED, audited(summary(A), summary(B)),
    *[at("audit", SubtaskAudited(checkpoint=1, subtask=f"sum[{i}]", state=summary(x)))
      for i, x in enumerate((A, B[:2]))])  # fmt: skip

bad("state-extra", "a record twice",
    COMPLETED, audited(summary([*A, A[0]]), summary(B)), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
bad("state-extra", "a record behind the positions",
    COMPLETED, audited(summary([*A, (0, 4)]), summary(B)), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
near("state-extra", "as many as are before the positions",
     COMPLETED, audited(summary(B), summary(A)), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip

bad("key-wrong", "sums of two keys exchanged",
    COMPLETED,
    audited(replace(summary(A), entries={"a": summary(B).value}), replace(summary(B), entries={"b": summary(A).value})),
    claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
near("key-wrong", "a key in two subtasks",
     COMPLETED, audited(summary(A[:1]), summary(A[1:] + B)), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
near("key-wrong", "too many keys to show decide by their sum",
     COMPLETED, audited(summary(A), summary(B)), completed(2, 4, 2),
     *[SubtaskAudited(checkpoint=2, subtask=f"sum[{i}]", state=replace(summary(held), entries=None))
       for i, held in enumerate((A, B))])  # fmt: skip

bad("state-unreadable", "a file of the state is missing",
    COMPLETED, audited(problem="3.delta is missing"), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip
near("state-unreadable", "only a checkpoint that never completed is unreadable",
     COMPLETED, audited(summary(A), summary(B)),
     CheckpointAudited(checkpoint=2, problem="its metadata is torn"))  # fmt: skip

# Nobody denies the repeat, and it may hide a loss.
undecided("STATE", "repeated under at least once",
          COMPLETED, audited(summary([*A, A[0]]), summary(B)), claimed=AT_LEAST_ONCE)  # fmt: skip

# What was in flight is not among what was read.
undecided("STATE", "unaligned",
          snapshot("sum[0]", unaligned=True), COMPLETED, audited(summary(A), summary(B[:2])),
          claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip

# A source of somebody else notes its positions in a form of its own.
undecided("STATE", "positions unknown",
          completed(1), audited(summary(A), StateSummary(entries={})), claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip

undecided("STATE", "one subtask unread", COMPLETED, audited(summary(A)), claimed=Claims(state=EXACTLY_ONCE))

# --- STATE on windows, which hold two records of each of two partitions: checkpoint 1 stands at offset 8 of -----------

POSITIONS = (8, 6)
STEP_MS = WINDOW_MS // 2
LATEST_MS = 7 * STEP_MS - WATERMARK_DELAY_MS
"""The watermark when all before the positions was read: in the middle of window 1."""
WINDOWS_COMPLETED = completed(1, *POSITIONS, watermark_ms=LATEST_MS)
OPEN = [(partition, offset) for partition, end in enumerate(POSITIONS) for offset in range(2, end)]
"""The records of windows 1 to 3."""
OPEN_A, OPEN_B = ([each for each in OPEN if each[1] % 2 == remainder] for remainder in (0, 1))
"""Even offsets have key `a`, odd ones `b`."""

TWO_KEYS = Partition(np.arange(10) % 2, np.arange(1, 11), 10, event_step_ms=STEP_MS)
INPUTS = InputLog(("a", "b"), (TWO_KEYS, TWO_KEYS))
"""A record every half window; even offsets have key `a`, odd ones `b`, and the value of offset n is n + 1."""

HOLDS_A, HOLDS_B = (summary(each, by_window=True) for each in (OPEN_A, OPEN_B))
WINDOWS_OF_A, WINDOWS_OF_B = HOLDS_A.windows or (), HOLDS_B.windows or ()

bad, near = exhibits("STATE", claimed=Claims(state=EXACTLY_ONCE), inputs=INPUTS, job=WINDOW_SUM)

bad("state-missing", "a window forgotten",
    WINDOWS_COMPLETED,
    audited(summary([each for each in OPEN_A if each not in ((0, 4), (1, 4))], by_window=True), HOLDS_B))  # fmt: skip
bad("state-missing", "a record of a window dropped as if it were late",
    WINDOWS_COMPLETED,
    audited(summary([each for each in OPEN_A if each not in ((1, 2),)], by_window=True), HOLDS_B))  # fmt: skip
bad("state-missing", "windows forgotten among too many to show",
    WINDOWS_COMPLETED,
    audited(replace(HOLDS_A, windows=None), replace(summary(OPEN_B[:2], by_window=True), windows=None)))  # fmt: skip
near("state-missing", "windows that are over are not there", WINDOWS_COMPLETED, audited(HOLDS_A, HOLDS_B))
near("state-missing", "a subtask without windows",
     WINDOWS_COMPLETED, audited(summary(OPEN_A + OPEN_B, by_window=True), StateSummary(windows=())))  # fmt: skip
near("state-missing", "before the first window is over all are there",
     completed(1, *POSITIONS, watermark_ms=0),
     audited(summary([(partition, offset) for partition, end in enumerate(POSITIONS) for offset in range(end)],
                     by_window=True),
             StateSummary(windows=())))  # fmt: skip

bad("state-extra", "a record of a window twice",
    WINDOWS_COMPLETED, audited(summary([*OPEN_A, OPEN_A[0]], by_window=True), HOLDS_B))  # fmt: skip
bad("state-extra", "a window behind the positions",
    WINDOWS_COMPLETED, audited(summary([*OPEN_A, (0, 8)], by_window=True), HOLDS_B))  # fmt: skip
bad("state-extra", "a window that is over among too many to show",
    WINDOWS_COMPLETED,
    audited(replace(summary([(0, 0), *OPEN_A], by_window=True), windows=None),
            replace(HOLDS_B, windows=None)))  # fmt: skip
near("state-extra", "as many windows as are not over", WINDOWS_COMPLETED, audited(HOLDS_B, HOLDS_A))
near("state-extra", "too many windows to show decide by their sum",
     WINDOWS_COMPLETED, audited(replace(HOLDS_A, windows=None), replace(HOLDS_B, windows=None)))  # fmt: skip

bad("key-wrong", "records of two windows exchanged",
    WINDOWS_COMPLETED,
    audited(replace(HOLDS_A, windows=(replace(WINDOWS_OF_A[0], window=2), replace(WINDOWS_OF_A[1], window=1),
                                      WINDOWS_OF_A[2])),
            HOLDS_B))  # fmt: skip
bad("key-wrong", "a window of another key",
    WINDOWS_COMPLETED,
    audited(replace(HOLDS_A, windows=tuple(replace(each, key="b") for each in WINDOWS_OF_A)), HOLDS_B))  # fmt: skip
near("key-wrong", "a window of a key in two subtasks",
     WINDOWS_COMPLETED,
     audited(summary(OPEN_A[:1], by_window=True), summary(OPEN_A[1:] + OPEN_B, by_window=True)))  # fmt: skip

near("key-wrong", "values of windows decide where there is no digest",
     WINDOWS_COMPLETED,
     audited(replace(HOLDS_A, digest=0, windows=tuple(replace(each, digest=0) for each in WINDOWS_OF_A)),
             replace(HOLDS_B, digest=0, windows=tuple(replace(each, digest=0) for each in WINDOWS_OF_B))))  # fmt: skip

bad("window-outlives", "a window that is over is still there",
    WINDOWS_COMPLETED, audited(summary([(0, 0), (1, 0), *OPEN_A], by_window=True), HOLDS_B))  # fmt: skip
bad("window-outlives", "a window is over when the watermark reaches its end",
    completed(1, *POSITIONS, watermark_ms=WINDOW_MS),
    audited(summary([(0, 0), (1, 0), *OPEN_A], by_window=True), HOLDS_B))  # fmt: skip
near("window-outlives", "a window that ends one millisecond behind the watermark",
     completed(1, *POSITIONS, watermark_ms=WINDOW_MS - 1),
     audited(summary([*[(partition, offset) for partition in (0, 1) for offset in (0, 1)], *OPEN_A], by_window=True),
             HOLDS_B))  # fmt: skip

bad("watermark-ahead", "a watermark that no record has reached",
    completed(1, *POSITIONS, watermark_ms=LATEST_MS + 1), audited(HOLDS_A, HOLDS_B))  # fmt: skip
near("watermark-ahead", "a watermark of the batch before",
     completed(1, *POSITIONS, watermark_ms=LATEST_MS - STEP_MS), audited(HOLDS_A, HOLDS_B))  # fmt: skip

# Nobody knows which windows are over.
undecided("STATE", "no watermark",
          completed(1, *POSITIONS, watermark_ms=None), audited(HOLDS_A, summary(OPEN_B[:2], by_window=True)),
          job=WINDOW_SUM, inputs=INPUTS, claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip

undecided("STATE", "one subtask of windows unread",
          WINDOWS_COMPLETED, audited(HOLDS_A), job=WINDOW_SUM, inputs=INPUTS,
          claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip

# Nobody denies that the window is told again, and what it holds may hide a loss.
undecided("STATE", "outlived under at least once",
          WINDOWS_COMPLETED, audited(summary([(0, 0), *OPEN_A], by_window=True), HOLDS_B), job=WINDOW_SUM,
          inputs=INPUTS, claimed=Claims(state=AT_LEAST_ONCE))  # fmt: skip
