"""Which markers have their effect in the committed output, and what is missing before them.

Looked for only where the system under test does not report its end and something is missing, so it need not be quick.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from msgspec.structs import replace

from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.records import FoldRow, IdentityRow, WindowRow
from holdfast.harness.oracles.output.culprit import explain_row
from holdfast.harness.oracles.output.delivery import Delivery
from holdfast.harness.oracles.output.fold_rows import Scan
from holdfast.harness.oracles.output.identity_rows import counted
from holdfast.harness.oracles.shared.fold_model import FoldModel
from holdfast.harness.oracles.shared.lineage import marker_rows
from holdfast.harness.oracles.shared.throttled import without_dropped


def marked_partitions(history: History) -> list[bool]:
    """By partition, whether every row of its markers is in an output of contract RECORDS."""
    due = marker_rows(history.plan.job, history.inputs)
    if history.plan.job.of_kind(VertexKind.THROTTLE):
        due = without_dropped(history, due)
    first = dict[int, int]()
    for partition, offset in due:
        first[partition] = min(offset, first.get(partition, offset))
    seen: Counter[tuple[int, int]] = Counter()
    for row in cast(Iterator[IdentityRow], history.output.rows()):
        if row.offset >= first.get(row.partition, row.offset + 1):
            seen[row.partition, row.offset] += 1
    missing = {partition for (partition, offset), rows in due.items() if seen[partition, offset] < rows}
    return [partition not in missing for partition in range(len(history.inputs.partitions))]


def counted_before_markers(history: History, marked: Sequence[bool]) -> tuple[Delivery, int]:
    """As `identity_rows.counted`, of the partitions whose markers have their effect: of the others nothing is due."""
    inputs = history.inputs
    firsts = inputs.first_offsets or (0,) * len(marked)
    lengths = inputs.lengths()
    due_from = tuple(first if there else end for first, end, there in zip(firsts, lengths, marked, strict=True))
    end = history.end
    part = History(
        history.plan, history.claims, replace(inputs, first_offsets=due_from), history.output, history.events, end
    )
    return counted(part)


def marked_lanes(model: FoldModel, found: Scan) -> list[bool]:
    """By lane, whether its markers have their effect in an output of contract FOLD: all have one key."""
    return [tail is None or _reaches_the_end(model, found, lane, tail) for lane, tail in enumerate(model.tails())]


def _reaches_the_end(model: FoldModel, found: Scan, lane: int, code: int) -> bool:
    """Whether the last row of a key holds the last record of a lane."""
    key = model.keys[code]
    if key not in found.unfinished:
        return model.must_show[code]
    position = found.unfinished[key]
    if position is None:
        return False
    row = found.row(position)
    if len(row.counts) != len(model.partitions):
        return False
    reached = row.counts[lane]
    culprit = explain_row(model, row)
    if culprit is not None:
        reached += sum(share.records for share in culprit.lost if share.lane == lane)
        reached -= sum(share.records for share in culprit.repeated if share.lane == lane)
    return reached >= model.totals[code][lane]


def lacks_marked_records(model: FoldModel, row: FoldRow, marked: Sequence[bool]) -> bool:
    """Whether the last row of a key counts too few records of a lane whose markers have their effect."""
    totals = model.totals[model.codes[row.key]]
    if len(row.counts) != len(totals):
        return all(marked)
    return any(there and count < total for there, count, total in zip(marked, row.counts, totals, strict=True))


def latest_window(history: History) -> int:
    """The number of the latest window that has a row; -1 if none has. A row is emitted when the watermark has passed
    its window, so an earlier window without a row is behind a marker."""
    return max((row.window for row in history.output.rows() if isinstance(row, WindowRow)), default=-1)
