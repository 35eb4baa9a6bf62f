"""Histories for STATE: checkpoint 1 of two sums stands at offset 4 of partition 0 and at offset 2 of partition 1."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Claims
from holdfast.harness.model.events import (
    SnapshotTaken,
    StateSummary,
    SubtaskAudited,
)
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, undecided
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import completed, read_back, snapshot

COMPLETED = completed(1, 4, 2)
A, B = [(0, 0), (0, 2), (1, 0)], [(0, 1), (0, 3), (1, 1)]
"""Even offsets have key `a`, odd ones `b`."""


def audited(*states: StateSummary, problem: str = "", before: tuple[SnapshotTaken, ...] = ()) -> list[Line]:
    """One state by subtask."""
    read = [SubtaskAudited(checkpoint=1, subtask=f"sum[{index}]", state=state) for index, state in enumerate(states)]
    return [*before, COMPLETED, read_back(1, problem), *read]


bad, near = exhibits("STATE")

bad(
    "state-missing", "a key forgotten",
    audited(summary(A), StateSummary(entries={})), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip
bad(
    "state-missing", "more forgotten than one partition has",
    completed(1, 10, 10),
    *[SubtaskAudited(checkpoint=1, subtask=f"sum[{index}]", state=StateSummary(entries={})) for index in (0, 1)],
)  # fmt: skip
bad(
    "state-missing", "rolled back by one record",
    audited(summary(A), summary(B[:2])), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip
near(
    "state-missing", "records behind the positions are not there",
    audited(summary(A), summary(B)), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip
near(
    "state-missing", "a subtask without keys",
    audited(summary(A + B), StateSummary(entries={})), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip
near(
    "state-missing", "values decide where there is no digest",
    audited(*(msgspec.structs.replace(summary(held), digest=0) for held in (A, B))), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip

# Nothing is left of its state; the next checkpoint, of both, is whole.
near(
    "state-missing", "one of two had finished",
    audited(summary(A)), SubtaskAudited(checkpoint=1, subtask="sum[1]"), completed(2, 4, 2),
    *[SubtaskAudited(checkpoint=2, subtask=f"sum[{i}]", state=summary(held)) for i, held in enumerate((A, B))],
)  # fmt: skip

# When it had completed, and after the run.
near(
    "state-missing", "read twice from storage",
    audited(summary(A), summary(B)),
    *[at("audit", SubtaskAudited(checkpoint=1, subtask=f"sum[{i}]", state=summary(x))) for i, x in enumerate((A, B))],
)  # fmt: skip
bad(
    "state-missing",
    "lost when it is read again",
    audited(summary(A), summary(B)),
    *[
        at("audit", SubtaskAudited(checkpoint=1, subtask=f"sum[{i}]", state=summary(x)))
        for i, x in enumerate((A, B[:2]))
    ],
)

bad("state-extra", "a record twice", audited(summary([*A, A[0]]), summary(B)), claimed=Claims(state=EXACTLY_ONCE))
bad(
    "state-extra", "a record behind the positions",
    audited(summary([*A, (0, 4)]), summary(B)), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip
near(
    "state-extra", "as many as are before the positions",
    audited(summary(B), summary(A)), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip

bad(
    "key-wrong",
    "sums of two keys exchanged",
    audited(
        msgspec.structs.replace(summary(A), entries={"a": summary(B).value}),
        msgspec.structs.replace(summary(B), entries={"b": summary(A).value}),
    ),
    claimed=Claims(state=EXACTLY_ONCE),
)
near(
    "key-wrong", "a key in two subtasks",
    audited(summary(A[:1]), summary(A[1:] + B)), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip
near(
    "key-wrong",
    "too many keys to show decide by their sum",
    audited(summary(A), summary(B)),
    completed(2, 4, 2),
    *[
        SubtaskAudited(checkpoint=2, subtask=f"sum[{index}]", state=state)
        for index, state in enumerate([msgspec.structs.replace(summary(held), entries=None) for held in (A, B)])
    ],
)

bad(
    "state-unreadable", "a file of the state is missing",
    audited(problem="3.delta is missing"), claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip
near(
    "state-unreadable", "only a checkpoint that never completed is unreadable",
    audited(summary(A), summary(B)), read_back(2, "its metadata is torn"),
)  # fmt: skip


# Nobody denies the repeat, and it may hide a loss.
undecided("STATE", "repeated under at least once", audited(summary([*A, A[0]]), summary(B)), claimed=AT_LEAST_ONCE)


# What was in flight is not among what was read.
undecided(
    "STATE", "unaligned",
    audited(summary(A), summary(B[:2]), before=(snapshot("sum[0]", unaligned=True),)),
    claimed=Claims(state=EXACTLY_ONCE),
)  # fmt: skip


undecided("STATE", "one subtask unread", audited(summary(A)), claimed=Claims(state=EXACTLY_ONCE))
