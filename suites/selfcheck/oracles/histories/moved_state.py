"""Histories for RESTORE: keyed state of checkpoint 1 that was moved to another state backend."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.events import HeldState, SubtaskMoved
from holdfast.suites.selfcheck.oracles.builder import exhibits
from holdfast.suites.selfcheck.oracles.histories.restore import HELD, TAKEN
from holdfast.suites.selfcheck.oracles.legal import summary

SEEN = HeldState("seen", lives_for_a_time=True, entries=3, expiring=3, checksum=7)
SUMS = HeldState("sums", lives_for_a_time=False, entries=2, expiring=0, checksum=8)
EMPTY = HeldState("waiting", lives_for_a_time=False, entries=0, expiring=0, checksum=9)
RIGHT = SubtaskMoved(
    checkpoint=1,
    subtask="sum[0]",
    source="mine",
    target="hashmap",
    canonical=(SEEN, SUMS),
    answered=(SEEN, SUMS),
    moved=(SEEN, SUMS),
    moved_answered=(SEEN, SUMS),
    state=summary(HELD),
)


bad, near = exhibits("RESTORE", TAKEN)

bad("canonical-differs", "form lacks a state", replace(RIGHT, canonical=(SEEN,), moved=(SEEN,), moved_answered=(SEEN,)))
bad(
    "canonical-differs",
    "form lacks an entry",
    replace(
        RIGHT,
        canonical=(replace(SEEN, entries=2, expiring=2), SUMS),
        moved=(replace(SEEN, entries=2, expiring=2), SUMS),
        moved_answered=(replace(SEEN, entries=2, expiring=2), SUMS),
    ),
)
bad(
    "canonical-differs",
    "form has other content",
    replace(
        RIGHT,
        canonical=(SEEN, replace(SUMS, checksum=1)),
        moved=(SEEN, replace(SUMS, checksum=1)),
        moved_answered=(SEEN, replace(SUMS, checksum=1)),
    ),
)
bad(
    "canonical-differs",
    "form lacks an expiry",
    replace(
        RIGHT,
        canonical=(replace(SEEN, expiring=2), SUMS),
        moved=(replace(SEEN, expiring=2), SUMS),
        moved_answered=(replace(SEEN, expiring=2), SUMS),
    ),
)
bad(
    "canonical-differs", "second one expires too early",
    replace(RIGHT, moved_answered=(replace(SEEN, expiring=1), SUMS)),
)  # fmt: skip
near("canonical-differs", "form is what tables answer", RIGHT)
near("canonical-differs", "state without entries may be left out", replace(RIGHT, answered=(SEEN, SUMS, EMPTY)))
near("canonical-differs", "columns have no tables", replace(RIGHT, answered=None))

bad(
    "moved-differs",
    "it cannot be moved",
    SubtaskMoved(
        checkpoint=1,
        subtask="sum[0]",
        source="mine",
        target="h",
        problem="an entry is of state 'sums', which no descriptor names.",
    ),
)
bad(
    "moved-differs", "second one lacks an entry",
    replace(RIGHT, moved=(SEEN, replace(SUMS, entries=1)), moved_answered=(SEEN, replace(SUMS, entries=1))),
)  # fmt: skip
bad("moved-differs", "operator finds less than was recorded", replace(RIGHT, state=summary(HELD[1:])))
near("moved-differs", "all of it is there", RIGHT)
near("moved-differs", "operator above it tells nothing", replace(RIGHT, state=None))
