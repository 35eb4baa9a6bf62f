"""Histories of jobs whose operators make other records of the input: what EXACT, NOLOSS and CUT must make of them.

In `INPUTS` key `a` has the even offsets of both partitions, key `b` the odd ones; offset n has the value n + 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.harness.model.events import BroadcastSummary, SnapshotTaken
from holdfast.harness.model.job import RIGHT_WEIGHT, Job
from holdfast.harness.model.jobs import BROADCAST, DIAMOND, JOIN, PIPELINE, SELF_JOIN, STEPS, UNION
from holdfast.harness.model.records import FoldRow
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log
from holdfast.suites.selfcheck.oracles.legal import MASK, identity_hash, summary
from holdfast.suites.selfcheck.oracles.lines import snapshot
from holdfast.suites.selfcheck.oracles.output_builder import fold, identities, one_by_one, units

TWO = input_log(2, 2)
"""Offset 0 of both partitions has key `a`, offset 1 key `b`."""


# --- other identities ------------------------------------------------------------------------------------------------


bad_rows, near_rows = exhibits("EXACT", inputs=TWO, job=JOIN)

near_rows("input-missing", "both sources united", job=UNION, units=units(identities("1:0", "0:0", "1:1", "0:1")))
bad_rows("input-missing", "a source not united", job=UNION, units=units(identities("0:0", "0:1")))

bad_rows(
    "row-repeated", "both ways of the diamond taken",
    job=DIAMOND, units=units(identities("0:0", "0:1", "0:1", "1:0", "1:1")),
)  # fmt: skip
near_rows(
    "row-repeated", "one way of the diamond each", job=DIAMOND, units=units(identities("0:0", "0:1", "1:0", "1:1"))
)

near_rows("row-unknown", "copies that the filter keeps", job=STEPS, units=units(identities("0:1", "1:1")))
bad_rows("row-unknown", "a copy that the filter drops", job=STEPS, units=units(identities("0:1", "1:1", "1:2")))

bad_loss, near_loss = exhibits("NOLOSS", inputs=TWO, job=STEPS)

bad_loss("input-lost", "a copy lost", units=units(identities("0:1")))
near_loss("input-lost", "only the dropped copies missing", units=units(identities("0:1", "1:1")))


# --- sums of copies --------------------------------------------------------------------------------------------------


def copied(key: str, *records: tuple[int, int, int]) -> FoldRow:
    """The row that holds these (partition, offset, copy) of PIPELINE, three copies of each record."""
    counts = tuple(sum((partition == each for partition, _, _ in records)) for each in (0, 1))
    digest = sum((identity_hash(partition, 3 * offset + copy) for partition, offset, copy in records)) & MASK
    return FoldRow(key, sum((offset + 1 for _, offset, _ in records)), counts, digest)


A_COPIES = [(partition, 0, copy) for partition in (0, 1) for copy in (0, 2)]
B_COPIES = [(partition, 1, 1) for partition in (0, 1)]
"""Of offset 0 the copies 0 and 2 are even, of offset 1 copy 1."""

near_rows(
    "row-wrong", "even copies summed",
    job=PIPELINE, units=one_by_one(copied("a", *A_COPIES[:1]), copied("a", *A_COPIES), copied("b", *B_COPIES)),
)  # fmt: skip
bad_rows(
    "row-wrong", "an odd copy summed",
    job=PIPELINE, units=one_by_one(copied("a", (0, 0, 1)), copied("a", *A_COPIES), copied("b", *B_COPIES)),
)  # fmt: skip


# --- joins -----------------------------------------------------------------------------------------------------------


def joined(key: str, left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> FoldRow:
    """The row of a key that holds these (partition, offset) on either side."""
    counts = tuple(sum((partition == each for partition, _ in side)) for side in (left, right) for each in (0, 1))
    value = sum((offset + 1 for _, offset in left)) - sum((offset + 1 for _, offset in right))
    digest = sum(identity_hash(*each) for each in left) + RIGHT_WEIGHT * sum(identity_hash(*each) for each in right)
    return FoldRow(key, value, counts, digest & MASK)


A_JOINED, B_JOINED = joined("a", [(0, 0)], [(1, 0)]), joined("b", [(0, 1)], [(1, 1)])
SELF_A = joined("a", [(0, 0), (1, 0)], [(0, 0), (1, 0)])

near_rows("row-wrong", "left minus right", units=one_by_one(A_JOINED, B_JOINED))
bad_rows(
    "row-wrong", "sides added",
    job=SELF_JOIN, units=one_by_one(replace(joined("a", [(0, 0)], [(0, 0)]), value=2), SELF_A),
)  # fmt: skip
bad_rows("row-wrong", "a row of one side", units=one_by_one(joined("a", [(0, 0)], []), A_JOINED, B_JOINED))

bad_rows("input-missing", "a pair never joined", units=one_by_one(A_JOINED))
near_rows(
    "input-missing", "nothing owed to a key of one side",
    job=SELF_JOIN, units=one_by_one(joined("a", [(0, 0)], [(0, 0)]), SELF_A),
)  # fmt: skip
bad_rows("input-missing", "one side short", job=SELF_JOIN, units=one_by_one(joined("a", [(0, 0), (1, 0)], [(1, 0)])))


# --- broadcast state -------------------------------------------------------------------------------------------------


def ruled(key: str, data: Sequence[int], rules: Sequence[int]) -> FoldRow:
    """The row of a key that holds these offsets of partition 0, and these of the broadcast partition 1."""
    return fold(key, data, rules)


RULED = (ruled("a", (0,), (0,)), ruled("a", (0,), (0, 1)), ruled("b", (1,), (0, 1)))

near_rows("row-wrong", "rules count for every key", job=BROADCAST, units=one_by_one(*RULED))
bad_rows(
    "row-wrong", "a rule applied twice",
    job=BROADCAST, units=one_by_one(RULED[0], ruled("a", (0,), (0, 0)), ruled("a", (0,), (0, 1, 1)), RULED[2]),
)  # fmt: skip

bad_rows("input-missing", "a rule that one key never saw", job=BROADCAST, units=one_by_one(RULED[0], RULED[2]))


def _cut(job: Job, *snapshots: SnapshotTaken) -> list[Line]:
    """Checkpoint 1 at offset 1 of both partitions."""
    sources = [vertex.name for vertex in job.vertices[:2]]
    lines: list[Line] = [
        snapshot(f"{source}[{i}]", 1, *(((number, 1),) if not i else ()))
        for number, source in enumerate(sources)
        for i in (0, 1)
    ]
    return [*lines, *snapshots]


def _copies(copies: tuple[int, int]) -> list[SnapshotTaken]:
    """The copies of broadcast state hold so many records."""

    def copy(records: int) -> BroadcastSummary:
        digest = sum(identity_hash(1, offset) for offset in range(records)) & MASK
        return BroadcastSummary(records, sum(offset + 1 for offset in range(records)), digest)

    return [
        snapshot(f"sum[{i}]", state=replace(summary([(0, 0)] if not i else []), broadcast=copy(records)))
        for i, records in enumerate(copies)
    ]


bad_cut, near_cut = exhibits("CUT", inputs=TWO, job=BROADCAST)

near_cut("state-missing", "copies of the cut", _cut(BROADCAST, *_copies((1, 1))))
bad_cut("state-missing", "copies behind", _cut(BROADCAST, *_copies((0, 0))))

bad_cut("state-extra", "copies ahead", _cut(BROADCAST, *_copies((2, 2))))

near_cut("copies-differ", "copies alike", _copies((1, 1)))
bad_cut("copies-differ", "a copy behind", _copies((1, 0)))


near_cut(
    "state-extra",
    "sides cancel",
    _cut(
        JOIN,
        snapshot(
            "join[0]",
            state=replace(
                summary(((0, 0), (1, 0))),
                value=sum(-1 - offset if partition else offset + 1 for partition, offset in ((0, 0), (1, 0))),
                digest=sum(identity_hash(*each) * (RIGHT_WEIGHT if each[0] else 1) for each in ((0, 0), (1, 0))) & MASK,
                entries=None,
            ),
        ),
        snapshot("join[1]", state=summary([])),
    ),
    job=JOIN,
)
bad_cut(
    "state-extra",
    "a record of the left side twice",
    _cut(
        JOIN,
        snapshot(
            "join[0]",
            state=replace(
                summary(((0, 0), (0, 0), (1, 0))),
                value=sum(-1 - offset if partition else offset + 1 for partition, offset in ((0, 0), (0, 0), (1, 0))),
                digest=sum(identity_hash(*each) * (RIGHT_WEIGHT if each[0] else 1) for each in ((0, 0), (0, 0), (1, 0)))
                & MASK,
                entries=None,
            ),
        ),
        snapshot("join[1]", state=summary([])),
    ),
    job=JOIN,
)
