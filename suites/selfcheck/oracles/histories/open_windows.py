"""Histories for STATE on windows, which hold two records of each of two partitions: checkpoint 1 stands at offset 8 of
partition 0 and at offset 6 of partition 1, and its watermark has passed window 0."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Claims
from holdfast.harness.model.events import StateSummary, SubtaskAudited
from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS
from holdfast.harness.model.jobs import WINDOW_SUM
from holdfast.harness.model.records import InputLog, Partition, WindowRow
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, undecided
from holdfast.suites.selfcheck.oracles.legal import fold_row, summary
from holdfast.suites.selfcheck.oracles.lines import completed, read_back

Records = Sequence[tuple[int, int]]
POSITIONS = (8, 6)
STEP_MS = WINDOW_MS // 2
LATEST_MS = 7 * STEP_MS - WATERMARK_DELAY_MS
"""The watermark when all before the positions was read: in the middle of window 1."""
OPEN = [(partition, offset) for partition, end in enumerate(POSITIONS) for offset in range(2, end)]
"""The records of windows 1 to 3."""
A, B = ([each for each in OPEN if each[1] % 2 == remainder] for remainder in (0, 1))
"""Even offsets have key `a`, odd ones `b`."""


def _log() -> InputLog:
    """A record every half window; even offsets have key `a`, odd ones `b`, and the value of offset n is n + 1."""
    offsets = np.arange(10)
    return InputLog(("a", "b"), tuple(Partition(offsets % 2, offsets + 1, 10, event_step_ms=STEP_MS) for _ in "01"))


def holding(records: Records) -> StateSummary:
    """The state that holds these records, each in its own window."""
    windows: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for partition, offset in records:
        windows.setdefault(("ab"[offset % 2], offset // 2), []).append((partition, offset))
    rows = tuple((row(*window, held) for window, held in windows.items()))
    return msgspec.structs.replace(summary(records), entries=None, windows=rows)


def row(key: str, window: int, records: Records) -> WindowRow:
    held = fold_row(key, records)
    return WindowRow(key, window, held.value, held.digest)


def audited(*states: StateSummary, watermark_ms: int | None = LATEST_MS) -> list[Line]:
    """One state by subtask."""
    completed_line = completed(1, *POSITIONS, watermark_ms=watermark_ms)
    read = [SubtaskAudited(checkpoint=1, subtask=f"sum[{index}]", state=state) for index, state in enumerate(states)]
    return [completed_line, read_back(), *read]


def hidden(state: StateSummary) -> StateSummary:
    """As it is told when there are too many windows to show."""
    return msgspec.structs.replace(state, windows=None)


bad, near = exhibits("STATE", claimed=Claims(state=EXACTLY_ONCE), inputs=_log(), job=WINDOW_SUM)

bad(
    "state-missing", "a window forgotten",
    audited(holding([each for each in A if each not in ((0, 4), (1, 4))]), holding(B)),
)  # fmt: skip
bad(
    "state-missing", "a record of a window dropped as if it were late",
    audited(holding([each for each in A if each not in ((1, 2),)]), holding(B)),
)  # fmt: skip
bad("state-missing", "windows forgotten among too many to show", audited(hidden(holding(A)), hidden(holding(B[:2]))))
near("state-missing", "windows that are over are not there", audited(holding(A), holding(B)))
near("state-missing", "a subtask without windows", audited(holding(A + B), StateSummary(windows=())))
near(
    "state-missing",
    "before the first window is over all are there",
    audited(
        holding([(partition, offset) for partition, end in enumerate(POSITIONS) for offset in range(end)]),
        StateSummary(windows=()),
        watermark_ms=0,
    ),
)

bad("state-extra", "a record of a window twice", audited(holding([*A, A[0]]), holding(B)))
bad("state-extra", "a window behind the positions", audited(holding([*A, (0, 8)]), holding(B)))
bad(
    "state-extra", "a window that is over among too many to show",
    audited(hidden(holding([(0, 0), *A])), hidden(holding(B))),
)  # fmt: skip
near("state-extra", "as many windows as are not over", audited(holding(B), holding(A)))
near("state-extra", "too many windows to show decide by their sum", audited(hidden(holding(A)), hidden(holding(B))))

bad(
    "key-wrong",
    "records of two windows exchanged",
    audited(
        msgspec.structs.replace(
            holding(A),
            windows=(
                msgspec.structs.replace({each.window: each for each in holding(A).windows or ()}[1], window=2),
                msgspec.structs.replace({each.window: each for each in holding(A).windows or ()}[2], window=1),
                {each.window: each for each in holding(A).windows or ()}[3],
            ),
        ),
        holding(B),
    ),
)
bad(
    "key-wrong",
    "a window of another key",
    audited(
        msgspec.structs.replace(
            holding(A), windows=tuple(msgspec.structs.replace(each, key="b") for each in holding(A).windows or ())
        ),
        holding(B),
    ),
)
near("key-wrong", "a window of a key in two subtasks", audited(holding(A[:1]), holding(A[1:] + B)))


near(
    "key-wrong",
    "values of windows decide where there is no digest",
    audited(
        msgspec.structs.replace(
            holding(A),
            digest=0,
            windows=tuple(msgspec.structs.replace(each, digest=0) for each in holding(A).windows or ()),
        ),
        msgspec.structs.replace(
            holding(B),
            digest=0,
            windows=tuple(msgspec.structs.replace(each, digest=0) for each in holding(B).windows or ()),
        ),
    ),
)

bad("window-outlives", "a window that is over is still there", audited(holding([(0, 0), (1, 0), *A]), holding(B)))
bad(
    "window-outlives", "a window is over when the watermark reaches its end",
    audited(holding([(0, 0), (1, 0), *A]), holding(B), watermark_ms=WINDOW_MS),
)  # fmt: skip
near(
    "window-outlives",
    "a window that ends one millisecond behind the watermark",
    audited(
        holding([*[(partition, offset) for partition in (0, 1) for offset in (0, 1)], *A]),
        holding(B),
        watermark_ms=WINDOW_MS - 1,
    ),
)

bad(
    "watermark-ahead", "a watermark that no record has reached",
    audited(holding(A), holding(B), watermark_ms=LATEST_MS + 1),
)  # fmt: skip
near(
    "watermark-ahead", "a watermark of the batch before",
    audited(holding(A), holding(B), watermark_ms=LATEST_MS - STEP_MS),
)  # fmt: skip


# Nobody knows which windows are over.
undecided(
    "STATE", "no watermark",
    audited(holding(A), holding(B[:2]), watermark_ms=None), job=WINDOW_SUM, inputs=_log(),
    claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip


undecided(
    "STATE", "one subtask of windows unread",
    audited(holding(A)), job=WINDOW_SUM, inputs=_log(), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip


# Nobody denies that the window is told again, and what it holds may hide a loss.
undecided(
    "STATE", "outlived under at least once",
    audited(holding([(0, 0), *A]), holding(B)), job=WINDOW_SUM, inputs=_log(), claimed=Claims(state=AT_LEAST_ONCE),
)  # fmt: skip
