"""Histories for RESTORE: the keyed sum restored from checkpoint 1, and state moved to another backend."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.events import (
    ChannelContent, ChannelStateRestored, CheckpointAudited, HeldState, InputRead, SubtaskAudited, SubtaskMoved,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import (
    attempt, completed, content, died, dropped, emitted, failure, in_flight, published, snapshot, submitted, task,
)  # fmt: skip

# --- RESTORE: one sum and one source of the keyed sum, restored from checkpoint 1 -------------------------------------


HELD = [(0, 0), (0, 2), (1, 0)]

TAKEN: list[Line] = [
    attempt(), snapshot("sum[0]", state=summary(HELD)), snapshot("source[0]", 1, (0, 4)),
    snapshot("sink[0]", pending=("t",)), published(1), completed(),
]  # fmt: skip
"""Checkpoint 1: sum[0] holds three records, source[0] stands at 4, sink[0] promises a transaction."""

bad, near = exhibits("RESTORE")

bad("state-differs", "starts with one record more",
    TAKEN, failure(), attempt(1), task("sum[0]", 1, state=summary((*HELD, (0, 4)))))  # fmt: skip
bad("state-differs", "starts with another record",
    TAKEN, failure(), attempt(1), task("sum[0]", 1, state=summary((*HELD[1:], (0, 6)))))  # fmt: skip

SUM_STARTS = task("sum[0]", 1, state=summary((*HELD,)))

near("state-differs", "starts with recorded state", TAKEN, failure(), attempt(1), SUM_STARTS)

bad("position-differs", "starts elsewhere", TAKEN, failure(), attempt(1), task("source[0]", 1, positions=((0, 5),)))

SOURCE_STARTS = task("source[0]", 1, positions=((0, 4),))

bad("position-differs", "emits elsewhere", TAKEN, failure(), attempt(1), SOURCE_STARTS, emitted(5, 6))
WITHOUT_IDS = {"source.connector": "rabbitmq", "source.correlation-ids": "false"}

bad("position-differs", "a queue without ids leaves records out",
    TAKEN, failure(), attempt(1), SOURCE_STARTS, emitted(5, 6), options=WITHOUT_IDS)  # fmt: skip
near("position-differs", "a queue without ids gives records again",
     TAKEN, failure(), attempt(1), SOURCE_STARTS, emitted(2, 3), emitted(3, 4), emitted(4, 5),
     options=WITHOUT_IDS)  # fmt: skip
near("position-differs", "goes on where it stood",
     TAKEN, failure(), attempt(1), SOURCE_STARTS, emitted(4, 5), emitted(5, 6))  # fmt: skip

bad("read-elsewhere", "reads one later than it reports",
    TAKEN, failure(), attempt(1), SOURCE_STARTS, InputRead(subtask="source[0]", partition=0, first_offset=5),
    emitted(4, 5))  # fmt: skip
near("read-elsewhere", "reads where it goes on",
     TAKEN, failure(), attempt(1), SOURCE_STARTS, InputRead(subtask="source[0]", partition=0, first_offset=4),
     emitted(4, 5))  # fmt: skip
near("read-elsewhere", "reads a split that it is given later",
     TAKEN, failure(), attempt(1), SOURCE_STARTS, InputRead(subtask="source[0]", partition=1, first_offset=7),
     InputRead(subtask="source[0]", partition=0, first_offset=4), emitted(4, 5))  # fmt: skip
near("read-elsewhere", "dies before it reports what it read",
     TAKEN, failure(), attempt(1), SOURCE_STARTS, InputRead(subtask="source[0]", partition=0, first_offset=4),
     died("worker-0", "killed"))  # fmt: skip
LEFT = "source[0]->sum[0]"
IN_FLIGHT = in_flight("sum[0]", content(LEFT, 5, 6))

# Two batches were in flight at checkpoint 1; the sum starts from it.
bad("channel-state-differs", "puts nothing back", TAKEN, IN_FLIGHT, attempt(1), SUM_STARTS)
bad("channel-state-differs", "puts back half",
    TAKEN, IN_FLIGHT, attempt(1), SUM_STARTS,
    ChannelStateRestored(subtask="sum[0]", checkpoint=1,
                         channels=(ChannelContent(LEFT, False,
                                                  tuple((1, position) for position in (5,))),)))  # fmt: skip

# It starts empty, and nothing was in flight at its own checkpoint 1.
near("channel-state-differs", "the next job uses the id again",
     submitted(), TAKEN, IN_FLIGHT, attempt(1), SUM_STARTS,
     ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=(content(LEFT, 5, 6),)), submitted(job=1),
     attempt(number=1_001), in_flight("sum[0]"))  # fmt: skip
near("channel-state-differs", "puts back what was in flight",
     TAKEN, IN_FLIGHT, attempt(1), SUM_STARTS,
     ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=(content(LEFT, 5, 6),)))  # fmt: skip

bad("not-initial", "starts with state of nothing", attempt(), task("sum[0]", state=summary(((0, 0),))))
bad("not-initial", "starts in the middle", attempt(), task("source[0]", positions=((0, 3),)))
bad("not-initial", "emits from the middle", attempt(), task("source[0]", positions=((0, 0),)), emitted(3, 4))
near("not-initial", "starts at the beginning",
     attempt(), task("source[0]", positions=((0, 0),)), emitted(0, 1), task("sum[0]", state=summary(())))  # fmt: skip
near("not-initial", "starts at the latest offset",
     attempt(), task("source[0]", positions=((0, 3),)), emitted(3, 4),
     inputs=input_log(10, 10, first_offsets=(3, 0)))  # fmt: skip

SINK_READ = SubtaskAudited(checkpoint=1, subtask="sink[0]", pending_transactions=("t",))
SOURCE_READ = SubtaskAudited(checkpoint=1, subtask="source[0]", positions=((0, 4),))

READ_BACK = CheckpointAudited(checkpoint=1)

bad("audit-differs", "audit lacks a record",
    TAKEN, READ_BACK, SubtaskAudited(checkpoint=1, subtask="sum[0]", state=summary(HELD[1:])), SOURCE_READ,
    SINK_READ)  # fmt: skip

SUM_READ = SubtaskAudited(checkpoint=1, subtask="sum[0]", state=summary(HELD))

bad("audit-differs", "audit stands elsewhere",
    TAKEN, READ_BACK, SUM_READ, SubtaskAudited(checkpoint=1, subtask="source[0]", positions=((0, 3),)),
    SINK_READ)  # fmt: skip
bad("audit-differs", "audit lacks a transaction",
    TAKEN, READ_BACK, SUM_READ, SOURCE_READ,
    SubtaskAudited(checkpoint=1, subtask="sink[0]", pending_transactions=()))  # fmt: skip
near("audit-differs", "audit gives what was recorded", TAKEN, READ_BACK, SUM_READ, SOURCE_READ, SINK_READ)

STATE_IS_MISSING = CheckpointAudited(checkpoint=1, problem="chk-1/sum-0 is missing")

bad("audit-failed", "audit cannot restore", TAKEN, STATE_IS_MISSING, SUM_READ, SOURCE_READ, SINK_READ)
near("audit-failed", "what cannot be restored was dropped before",
     TAKEN, failure(), attempt(1), dropped(1), STATE_IS_MISSING, CheckpointAudited(checkpoint=2))  # fmt: skip
bad("audit-failed", "it is dropped only afterwards", TAKEN, failure(), attempt(1), STATE_IS_MISSING, dropped(1))
near("audit-failed", "audit restores", TAKEN, READ_BACK, SUM_READ, SOURCE_READ, SINK_READ)

bad("recovery-not-repeated", "starts over after failed restore",
    TAKEN, failure(), attempt(1), SUM_STARTS, failure(), attempt())  # fmt: skip
near("recovery-not-repeated", "repeats failed restore",
     TAKEN, failure(), attempt(1), SUM_STARTS, failure(), attempt(1), SUM_STARTS)  # fmt: skip
near("recovery-not-repeated", "finds a newer checkpoint",
     TAKEN, failure(), attempt(1), failure(), published(2), attempt(2))  # fmt: skip

# --- RESTORE: keyed state of checkpoint 1 that was moved to another state backend -------------------------------------

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

# What is moved is what the canonical form holds, whatever the tables of the first one answer.
bad("canonical-differs", "form lacks a state", replace(RIGHT, canonical=(SEEN,), moved=(SEEN,), moved_answered=(SEEN,)))
bad("canonical-differs", "form lacks an entry",
    replace(RIGHT, canonical=(replace(SEEN, entries=2, expiring=2), SUMS),
            moved=(replace(SEEN, entries=2, expiring=2), SUMS),
            moved_answered=(replace(SEEN, entries=2, expiring=2), SUMS)))  # fmt: skip
bad("canonical-differs", "form has other content",
    replace(RIGHT, canonical=(SEEN, replace(SUMS, checksum=1)), moved=(SEEN, replace(SUMS, checksum=1)),
            moved_answered=(SEEN, replace(SUMS, checksum=1))))  # fmt: skip
bad("canonical-differs", "form lacks an expiry",
    replace(RIGHT, canonical=(replace(SEEN, expiring=2), SUMS), moved=(replace(SEEN, expiring=2), SUMS),
            moved_answered=(replace(SEEN, expiring=2), SUMS)))  # fmt: skip
bad("canonical-differs", "second one expires too early",
    replace(RIGHT, moved_answered=(replace(SEEN, expiring=1), SUMS)))  # fmt: skip
near("canonical-differs", "form is what tables answer", RIGHT)
near("canonical-differs", "state without entries may be left out", replace(RIGHT, answered=(SEEN, SUMS, EMPTY)))
near("canonical-differs", "columns have no tables", replace(RIGHT, answered=None))

bad("moved-differs", "it cannot be moved",
    SubtaskMoved(checkpoint=1, subtask="sum[0]", source="mine", target="h",
                 problem="an entry is of state 'sums', which no descriptor names."))  # fmt: skip
bad("moved-differs", "second one lacks an entry",
    replace(RIGHT, moved=(SEEN, replace(SUMS, entries=1)),
            moved_answered=(SEEN, replace(SUMS, entries=1))))  # fmt: skip
bad("moved-differs", "operator finds less than was recorded", replace(RIGHT, state=summary(HELD[1:])))
near("moved-differs", "all of it is there", RIGHT)
near("moved-differs", "operator above it tells nothing", replace(RIGHT, state=None))
