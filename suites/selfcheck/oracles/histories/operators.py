"""Histories of jobs whose operators make other records of the input: what EXACT, NOLOSS and CUT must make of them.

In `INPUTS` key `a` has the even offsets of both partitions, key `b` the odd ones; offset n has the value n + 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.harness.model.events import BroadcastSummary, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.model.job import RIGHT_WEIGHT, Job
from holdfast.harness.model.jobs import BROADCAST, DIAMOND, JOIN, PIPELINE, SELF_JOIN, STEPS, UNION
from holdfast.harness.model.records import FoldRow
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.legal import MASK, identity_hash, summary
from holdfast.suites.selfcheck.oracles.output_builder import fold, identities, units

bad_rows, near_rows = exhibits("EXACT")
bad_loss, near_loss = exhibits("NOLOSS")
bad_cut, near_cut = exhibits("CUT")

TWO = input_log(2, 2)
"""Offset 0 of both partitions has key `a`, offset 1 key `b`."""


def rows(job: Job, *names: str) -> History:
    return story(job=job, inputs=TWO, units=units(identities(*names)))


def folds(job: Job, *some: FoldRow) -> History:
    return story(job=job, inputs=TWO, units=units(*([row] for row in some)))


# --- other identities ------------------------------------------------------------------------------------------------


@near_rows("input-missing")
def both_sources_united() -> History:
    return rows(UNION, "1:0", "0:0", "1:1", "0:1")


@bad_rows("input-missing")
def a_source_not_united() -> History:
    return rows(UNION, "0:0", "0:1")


@bad_rows("row-repeated")
def both_ways_of_the_diamond_taken() -> History:
    return rows(DIAMOND, "0:0", "0:1", "0:1", "1:0", "1:1")


@near_rows("row-repeated")
def one_way_of_the_diamond_each() -> History:
    return rows(DIAMOND, "0:0", "0:1", "1:0", "1:1")


@near_rows("row-unknown")
def copies_that_the_filter_keeps() -> History:
    return rows(STEPS, "0:1", "1:1")


@bad_rows("row-unknown")
def a_copy_that_the_filter_drops() -> History:
    return rows(STEPS, "0:1", "1:1", "1:2")


@bad_loss("input-lost")
def a_copy_lost() -> History:
    return rows(STEPS, "0:1")


@near_loss("input-lost")
def only_the_dropped_copies_missing() -> History:
    return rows(STEPS, "0:1", "1:1")


# --- sums of copies --------------------------------------------------------------------------------------------------


def copied(key: str, *records: tuple[int, int, int]) -> FoldRow:
    """The row that holds these (partition, offset, copy) of PIPELINE, three copies of each record."""
    counts = tuple(sum(partition == each for partition, _, _ in records) for each in (0, 1))
    digest = sum(identity_hash(partition, 3 * offset + copy) for partition, offset, copy in records) & MASK
    return FoldRow(key, sum(offset + 1 for _, offset, _ in records), counts, digest)


A_COPIES = [(partition, 0, copy) for partition in (0, 1) for copy in (0, 2)]
B_COPIES = [(partition, 1, 1) for partition in (0, 1)]
"""Of offset 0 the copies 0 and 2 are even, of offset 1 copy 1."""


@near_rows("row-wrong")
def even_copies_summed() -> History:
    return folds(PIPELINE, copied("a", *A_COPIES[:1]), copied("a", *A_COPIES), copied("b", *B_COPIES))


@bad_rows("row-wrong")
def an_odd_copy_summed() -> History:
    odd = (0, 0, 1)
    return folds(PIPELINE, copied("a", odd), copied("a", *A_COPIES), copied("b", *B_COPIES))


# --- joins -----------------------------------------------------------------------------------------------------------


def joined(key: str, left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> FoldRow:
    """The row of a key that holds these (partition, offset) on either side."""
    counts = tuple(sum(partition == each for partition, _ in side) for side in (left, right) for each in (0, 1))
    value = sum(offset + 1 for _, offset in left) - sum(offset + 1 for _, offset in right)
    digest = sum(identity_hash(*each) for each in left) + RIGHT_WEIGHT * sum(identity_hash(*each) for each in right)
    return FoldRow(key, value, counts, digest & MASK)


A_JOINED, B_JOINED = joined("a", [(0, 0)], [(1, 0)]), joined("b", [(0, 1)], [(1, 1)])
SELF_A = joined("a", [(0, 0), (1, 0)], [(0, 0), (1, 0)])


@near_rows("row-wrong")
def left_minus_right() -> History:
    return folds(JOIN, A_JOINED, B_JOINED)


@bad_rows("row-wrong")
def sides_added() -> History:
    early = joined("a", [(0, 0)], [(0, 0)])
    return folds(SELF_JOIN, replace(early, value=2), SELF_A)


@bad_rows("row-wrong")
def a_row_of_one_side() -> History:
    return folds(JOIN, joined("a", [(0, 0)], []), A_JOINED, B_JOINED)


@bad_rows("input-missing")
def a_pair_never_joined() -> History:
    return folds(JOIN, A_JOINED)


@near_rows("input-missing")
def nothing_owed_to_a_key_of_one_side() -> History:
    return folds(SELF_JOIN, joined("a", [(0, 0)], [(0, 0)]), SELF_A)


@bad_rows("input-missing")
def one_side_short() -> History:
    return folds(SELF_JOIN, joined("a", [(0, 0), (1, 0)], [(1, 0)]))


# --- broadcast state -------------------------------------------------------------------------------------------------


def ruled(key: str, data: Sequence[int], rules: Sequence[int]) -> FoldRow:
    """The row of a key that holds these offsets of partition 0, and these of the broadcast partition 1."""
    return fold(key, data, rules)


RULED = (ruled("a", (0,), (0,)), ruled("a", (0,), (0, 1)), ruled("b", (1,), (0, 1)))


@near_rows("row-wrong")
def rules_count_for_every_key() -> History:
    return folds(BROADCAST, *RULED)


@bad_rows("row-wrong")
def a_rule_applied_twice() -> History:
    twice = ruled("a", (0,), (0, 0))
    return folds(BROADCAST, RULED[0], twice, ruled("a", (0,), (0, 1, 1)), RULED[2])


@bad_rows("input-missing")
def a_rule_that_one_key_never_saw() -> History:
    return folds(BROADCAST, RULED[0], RULED[2])


def _cut(job: Job, *snapshots: SnapshotTaken) -> History:
    """Checkpoint 1 at offset 1 of both partitions."""
    sources = [vertex.name for vertex in job.vertices[:2]]
    lines: list[Line] = [
        SnapshotTaken(subtask=f"{source}[{i}]", checkpoint=1, positions=((number, 1),) if not i else ())
        for number, source in enumerate(sources)
        for i in (0, 1)
    ]
    return story(*lines, *snapshots, job=job, inputs=TWO)


def _copies(copies: tuple[int, int]) -> list[SnapshotTaken]:
    """The copies of broadcast state hold so many records."""

    def copy(records: int) -> BroadcastSummary:
        digest = sum(identity_hash(1, offset) for offset in range(records)) & MASK
        return BroadcastSummary(records, sum(offset + 1 for offset in range(records)), digest)

    return [
        SnapshotTaken(
            subtask=f"sum[{i}]",
            checkpoint=1,
            state=replace(summary([(0, 0)] if not i else []), broadcast=copy(records)),
        )
        for i, records in enumerate(copies)
    ]


@near_cut("state-missing")
def copies_of_the_cut() -> History:
    return _cut(BROADCAST, *_copies((1, 1)))


@bad_cut("state-missing")
def copies_behind() -> History:
    return _cut(BROADCAST, *_copies((0, 0)))


@bad_cut("state-extra")
def copies_ahead() -> History:
    return _cut(BROADCAST, *_copies((2, 2)))


@near_cut("copies-differ")
def copies_alike() -> History:
    return story(*_copies((1, 1)), job=BROADCAST, inputs=TWO)


@bad_cut("copies-differ")
def a_copy_behind() -> History:
    return story(*_copies((1, 0)), job=BROADCAST, inputs=TWO)


def _join_cut(*records: tuple[int, int]) -> History:
    """The first record of either side is in the cut; the state holds these (partition, offset)."""
    value = sum(-1 - offset if partition else offset + 1 for partition, offset in records)
    digest = sum(identity_hash(*each) * (RIGHT_WEIGHT if each[0] else 1) for each in records) & MASK
    held = replace(summary(records), value=value, digest=digest, entries=None)
    return _cut(
        JOIN,
        SnapshotTaken(subtask="join[0]", checkpoint=1, state=held),
        SnapshotTaken(subtask="join[1]", checkpoint=1, state=summary([])),
    )


@near_cut("state-extra")
def sides_cancel() -> History:
    return _join_cut((0, 0), (1, 0))


@bad_cut("state-extra")
def a_record_of_the_left_side_twice() -> History:
    return _join_cut((0, 0), (0, 0), (1, 0))
