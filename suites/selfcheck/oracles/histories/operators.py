"""Histories of operators that make other records of the input, of two inputs in event time, and of a loop."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.capability import AT_MOST_ONCE
from holdfast.harness.model.events import BroadcastSummary
from holdfast.harness.model.job import RIGHT_WEIGHT, VertexKind
from holdfast.harness.model.jobs import (
    BROADCAST, DIAMOND, INTERVAL_JOIN, JOIN, PIPELINE, RULED_SUM, SELF_JOIN, STEPS, UNION,
)  # fmt: skip
from holdfast.harness.model.jobs import ITERATION
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import FoldRow, WindowRow
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log
from holdfast.suites.selfcheck.oracles.histories.window import row
from holdfast.suites.selfcheck.oracles.legal import MASK, fold_row, identity_hash, summary
from holdfast.suites.selfcheck.oracles.lines import attempt, completed, delivers, emitted, sends, snapshot
from holdfast.suites.selfcheck.oracles.output_builder import STOPPED, fold, identities, units

# --- operators that make other records of the input, and of two inputs in event time ----------------------------------


# --- jobs whose operators make other records of the input: what EXACT, NOLOSS and CUT must make of them ---------------


TWO = input_log(2, 2)
"""Offset 0 of both partitions has key `a`, offset 1 key `b`."""

# --- other identities ------------------------------------------------------------------------------------------------

bad_rows, near_rows = exhibits("EXACT", inputs=TWO, job=JOIN)

near_rows("input-missing", "both sources united", job=UNION, units=units(identities("1:0", "0:0", "1:1", "0:1")))
bad_rows("input-missing", "a source not united", job=UNION, units=units(identities("0:0", "0:1")))

bad_rows("row-repeated", "both ways of the diamond taken",
         job=DIAMOND, units=units(identities("0:0", "0:1", "0:1", "1:0", "1:1")))  # fmt: skip
near_rows("row-repeated", "one way of the diamond each",
          job=DIAMOND, units=units(identities("0:0", "0:1", "1:0", "1:1")))  # fmt: skip

near_rows("row-unknown", "copies that the filter keeps", job=STEPS, units=units(identities("0:1", "1:1")))
bad_rows("row-unknown", "a copy that the filter drops", job=STEPS, units=units(identities("0:1", "1:1", "1:2")))

bad_loss, near_loss = exhibits("NOLOSS", inputs=TWO, job=STEPS)

bad_loss("input-lost", "a copy lost", units=units(identities("0:1")))
near_loss("input-lost", "only the dropped copies missing", units=units(identities("0:1", "1:1")))


# --- sums of copies --------------------------------------------------------------------------------------------------

FIRST_COPY, ODD_COPY, A_COPIES, B_COPIES = (
    FoldRow(key, sum(offset + 1 for _, offset, _ in records),
            tuple(sum(partition == each for partition, _, _ in records) for each in (0, 1)),
            sum(identity_hash(partition, 3 * offset + copy) for partition, offset, copy in records) & MASK)
    for key, records in (("a", [(0, 0, 0)]), ("a", [(0, 0, 1)]),
                         ("a", [(partition, 0, copy) for partition in (0, 1) for copy in (0, 2)]),
                         ("b", [(partition, 1, 1) for partition in (0, 1)]))
)  # fmt: skip
"""Rows of these (partition, offset, copy) of PIPELINE, three copies of each record: of offset 0 the copies 0 and 2
are even, of offset 1 copy 1."""

near_rows("row-wrong", "even copies summed", job=PIPELINE, units=units(FIRST_COPY, A_COPIES, B_COPIES))
bad_rows("row-wrong", "an odd copy summed", job=PIPELINE, units=units(ODD_COPY, A_COPIES, B_COPIES))


# --- joins -----------------------------------------------------------------------------------------------------------

A_JOINED, B_JOINED = fold_row("a", [(0, 0)], right=[(1, 0)]), fold_row("b", [(0, 1)], right=[(1, 1)])
SELF_A = fold_row("a", [(0, 0), (1, 0)], right=[(0, 0), (1, 0)])

near_rows("row-wrong", "left minus right", units=units(A_JOINED, B_JOINED))
bad_rows("row-wrong", "sides added",
         job=SELF_JOIN, units=units(replace(fold_row("a", [(0, 0)], right=[(0, 0)]), value=2), SELF_A))  # fmt: skip
bad_rows("row-wrong", "a row of one side", units=units(fold_row("a", [(0, 0)], right=[]), A_JOINED, B_JOINED))

bad_rows("input-missing", "a pair never joined", units=units(A_JOINED))
near_rows("input-missing", "nothing owed to a key of one side",
          job=SELF_JOIN, units=units(fold_row("a", [(0, 0)], right=[(0, 0)]), SELF_A))  # fmt: skip
bad_rows("input-missing", "one side short", job=SELF_JOIN, units=units(fold_row("a", [(0, 0), (1, 0)], right=[(1, 0)])))

# --- broadcast state -------------------------------------------------------------------------------------------------

RULED = (fold("a", (0,), (0,)), fold("a", (0,), (0, 1)), fold("b", (1,), (0, 1)))

near_rows("row-wrong", "rules count for every key", job=BROADCAST, units=units(*RULED))
bad_rows("row-wrong", "a rule applied twice",
         job=BROADCAST,
         units=units(RULED[0], fold("a", (0,), (0, 0)), fold("a", (0,), (0, 1, 1)), RULED[2]))  # fmt: skip

bad_rows("input-missing", "a rule that one key never saw", job=BROADCAST, units=units(RULED[0], RULED[2]))

OF_BROADCAST, OF_JOIN = (
    [snapshot(f"{one}[0]", 1, (0, 1)), snapshot(f"{one}[1]"), snapshot(f"{other}[0]", 1, (1, 1)),
     snapshot(f"{other}[1]")]
    for one, other in (("source", "rules"), ("left", "right"))
)  # fmt: skip
"""Checkpoint 1 of their sources, at offset 1 of both partitions."""

_COPY = [
    BroadcastSummary(n, sum(range(1, n + 1)), sum(identity_hash(1, offset) for offset in range(n)) & MASK)
    for n in range(3)
]
COPIES: dict[tuple[int, int], list[Line]] = {
    (left,
     right): [snapshot("sum[0]", state=replace(summary([(0, 0)]), broadcast=_COPY[left])),
              snapshot("sum[1]", state=replace(summary([]), broadcast=_COPY[right]))]
    for left in range(3)
    for right in range(3)
}  # fmt: skip
"""The copies of broadcast state hold so many records."""

bad_cut, near_cut = exhibits("CUT", inputs=TWO, job=BROADCAST)

near_cut("state-missing", "copies of the cut", OF_BROADCAST, COPIES[1, 1])
bad_cut("state-missing", "copies behind", OF_BROADCAST, COPIES[0, 0])

bad_cut("state-extra", "copies ahead", OF_BROADCAST, COPIES[2, 2])

near_cut("copies-differ", "copies alike", COPIES[1, 1])
bad_cut("copies-differ", "a copy behind", COPIES[1, 0])

# The first record of either side is in the cut; the state holds these (partition, offset).
near_cut("state-extra", "sides cancel",
         OF_JOIN,
         snapshot("join[0]",
                  state=replace(summary(((0, 0), (1, 0))),
                                value=sum(-1 - offset
                                          if partition
                                          else offset
                                          + 1
                                          for partition, offset in ((0, 0), (1, 0))),
                                digest=sum(identity_hash(*each) * (RIGHT_WEIGHT if each[0] else 1)
                                           for each in ((0, 0), (1, 0))) & MASK,
                                entries=None)),
         snapshot("join[1]", state=summary([])), job=JOIN)  # fmt: skip
bad_cut("state-extra", "a record of the left side twice",
        OF_JOIN,
        snapshot("join[0]",
                 state=replace(summary(((0, 0), (0, 0), (1, 0))),
                               value=sum(-1 - offset
                                         if partition
                                         else offset
                                         + 1
                                         for partition, offset in ((0, 0), (0, 0), (1, 0))),
                               digest=sum(identity_hash(*each) * (RIGHT_WEIGHT if each[0] else 1)
                                          for each in ((0, 0), (0, 0), (1, 0))) & MASK,
                               entries=None)),
        snapshot("join[1]", state=summary([])), job=JOIN)  # fmt: skip

# --- two inputs in event time: an interval join, and a sum by rules ---------------------------------------------------

# --- a right record that is 0 to 20 ms behind a left one of its key --------------------------------------------------

WITHIN_20_MS = replace(
    INTERVAL_JOIN,
    vertices=tuple(
        replace(each, lower_ms=0, upper_ms=20) if each.kind is VertexKind.INTERVAL_JOIN else each
        for each in INTERVAL_JOIN.vertices
    ),
)

*PAIRS, BACKWARDS = (
    WindowRow(row.key, left << 31 | 1 << 24 | right, row.value, row.digest)
    for left, right in ((0, 0), (0, 2), (1, 1), (2, 2), (2, 0))
    for row in [fold_row("ab"[left % 2], [(0, left)], right=[(1, right)])]
)
"""All that there are of three records on either side; those of offsets 0 and 2 are just 20 ms apart."""

bad_pairs, near_pairs = exhibits("WINDOW", inputs=input_log(3, 3), job=WITHIN_20_MS)

near_pairs("window-unknown", "every pair once", units=units(*PAIRS))

near_pairs("window-missing", "pairs in any order", units=units(*reversed(PAIRS)))

bad_pairs("window-unknown", "the right record is before the left one", units=units(*PAIRS, BACKWARDS))
bad_pairs("window-unknown", "a left record without a right one", units=units(*PAIRS, row("a", 0, 0)))

bad_pairs("window-missing", "two records just in reach do not meet", units=units(*PAIRS[:1], *PAIRS[2:]))

bad_pairs("window-repeated", "either record brings the pair", units=units(*PAIRS, PAIRS[2]))

bad_pairs("window-wrong", "sides change places",
          units=units(replace(PAIRS[1], value=-PAIRS[1].value), PAIRS[0], *PAIRS[2:]))  # fmt: skip

# --- rules: key a has factor 2 from 0 ms and 4 from 20 ms on, key b has 3 from 10 ms on ------------------------------

A, B = (
    replace(fold_row("a", [(0, 0), (0, 2), (0, 4)]), value=34),
    replace(fold_row("b", [(0, 1), (0, 3), (0, 5)]), value=36),
)

bad_rows, near_rows = exhibits("EXACT", inputs=input_log(6, 3), job=RULED_SUM)

near_rows("row-wrong", "each record by the rule of its time", units=units(A, B), expected=ExpectedEnd.FINISHED)

near_rows("input-missing", "records wait for rules that are not there yet",
          units=units(replace(fold_row("a", [(0, 0)]), value=2),
                      replace(fold_row("b", [(0, 1)]), value=6)))  # fmt: skip

bad_rows("row-wrong", "the newest rule for all records",
         units=units(replace(fold_row("a", [(0, 0), (0, 2), (0, 4)]), value=36), B),
         expected=ExpectedEnd.FINISHED)  # fmt: skip
bad_rows("row-wrong", "the rule of the other key",
         units=units(A, replace(fold_row("b", [(0, 1), (0, 3), (0, 5)]), value=44)),
         expected=ExpectedEnd.FINISHED)  # fmt: skip
bad_rows("row-wrong", "a rule takes effect behind its time",
         units=units(replace(fold_row("a", [(0, 0), (0, 2), (0, 4)]), value=28), B),
         expected=ExpectedEnd.FINISHED)  # fmt: skip
bad_rows("row-wrong", "a rule is counted as a record",
         units=units(replace(fold_row("a", [(0, 0), (0, 2), (0, 4)]), value=35), B),
         expected=ExpectedEnd.FINISHED)  # fmt: skip

bad_rows("input-missing", "records wait though the input has ended",
         units=units(replace(fold_row("a", [(0, 0)]), value=2), B), expected=ExpectedEnd.FINISHED)  # fmt: skip

# --- FEEDBACK: six records of one partition, two to a batch, in a job with a loop; a crash after the first ------------

IN, LOOP = "source[0]->loop[0]", "loop[0]->loop[0]"
ROWS = [f"0:{offset}" for offset in range(7)]

TWO_BATCHES: list[Line] = [
    emitted(0, 2), sends(IN, 0, records=2), delivers(IN, 0, records=2), sends(LOOP, 0, records=2), emitted(2, 4),
    sends(IN, 1, records=2), delivers(IN, 1, records=2), sends(LOOP, 1, records=2),
]  # fmt: skip

bad, near = exhibits(
    "FEEDBACK", attempt(), *TWO_BATCHES, delivers(LOOP, 0, records=2), claimed=AT_MOST_ONCE,
    inputs=input_log(6, marked=True), job=ITERATION, parallelism=1, units=units(identities(*ROWS[:5], *ROWS[6:])),
)  # fmt: skip

THIRD_BATCH: list[Line] = [
    emitted(4, 6), sends(IN, 0, records=2), delivers(IN, 0, records=2), sends(LOOP, 0, records=2),
]  # fmt: skip
"""It is read, taken by the loop, and sent round."""

RESTORED: list[Line] = [snapshot("loop[0]"), completed(), attempt(1), *THIRD_BATCH, delivers(LOOP, 0, records=2)]
"""A checkpoint, a crash, and what is left is read again."""

bad("lost-outside-loop", "one that was read again", delivers(LOOP, 1, records=2), *RESTORED)

# The system under test does not report its end, and never will.
bad("lost-outside-loop", "one before a visible marker", delivers(LOOP, 1, records=2), *RESTORED, end=STOPPED)
bad("lost-outside-loop", "one that had come back", *RESTORED, units=units(identities(*ROWS[1:2], *ROWS[4:])))
bad("lost-outside-loop", "the checkpoint is not the one that was restored",
    snapshot("loop[0]"), completed(), attempt(7), *THIRD_BATCH, delivers(LOOP, 0, records=2),
    units=units(identities(*ROWS[:2], *ROWS[4:])))  # fmt: skip
near("lost-outside-loop", "what was in the loop", *RESTORED, units=units(identities(*ROWS[:2], *ROWS[4:])))
near("lost-outside-loop", "nothing is lost", delivers(LOOP, 1, records=2), *RESTORED, units=units(identities(*ROWS)))
