"""Which records the state of an at-least-once job holds twice, followed from row to row.

A checkpoint whose barriers do not align holds records from behind some of them; after a restart from it they are read
again. So each restart adds to what a key holds twice at most one run of records in each partition, none of it ever
leaves again, and a restart from an older checkpoint brings back an older excess. One explanation at a time is what
makes several restarts tractable.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub

import msgspec

from holdfast.harness.model.records import FoldRow
from holdfast.harness.oracles.output.culprit import Share, explain, sums_of
from holdfast.harness.oracles.shared.fold_model import MASK, FoldModel


class Excess(msgspec.Struct, frozen=True):
    """Records that a key holds once more than it should, with their sums."""

    counts: tuple[int, ...]
    value: int = 0
    digest: int = 0
    shares: tuple[Share, ...] = ()


def explain_excess(model: FoldModel, rows: Sequence[FoldRow]) -> Excess | None:
    """The records that the last of these rows counts twice, or None if that is unknown.

    Args:
        model: of the input.
        rows: all rows of one key, in the order of visibility.
    """
    known = [Excess((0,) * len(model.partitions))]
    fitting: Excess | None = None
    for row in rows:
        fitting = next((each for each in reversed(known) if _fits(model, row, each)), None)
        if fitting is None:
            fitting = next((more for each in reversed(known) if (more := _extended(model, row, each))), None)
            if fitting is not None:
                known.append(fitting)
    return fitting


def _less(row: FoldRow, excess: Excess) -> tuple[tuple[int, ...], int]:
    return tuple(map(sub, row.counts, excess.counts)), (row.digest - excess.digest) & MASK


def _fits(model: FoldModel, row: FoldRow, excess: Excess) -> bool:
    counts, digest = _less(row, excess)
    expected = model.expected(row.key, counts)
    return expected is not None and expected[1] == digest


def _extended(model: FoldModel, row: FoldRow, excess: Excess) -> Excess | None:
    counts, digest = _less(row, excess)
    culprit = explain(model, row.key, counts, digest, losses=False)
    if culprit is None:
        return None
    counted, value, digest = list(excess.counts), excess.value, excess.digest
    for share in culprit.repeated:
        counted[share.lane] += share.records
        more = sums_of(model, row.key, share)
        value, digest = value + more[0], digest + more[1]
    return Excess(tuple(counted), value & MASK, digest & MASK, excess.shares + culprit.repeated)
