"""In which order rows became visible, as far as it was observed.

Units first seen at different polls are ordered. The order of units first seen at one poll is unknown, so an oracle must
not object to any: where the listed order lets a key or a partition step back and another does not, the other counts.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import groupby

from holdfast.harness.model.events import RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.records import CommittedRows, FoldRow, IdentityRow, Output, WindowRow


def reordered(output: Output) -> Output:
    """The output with the units of each poll in an order in which every key or partition advances, if there is one."""
    units: list[CommittedRows] = []
    for _, group in groupby(output.units, key=lambda unit: unit.poll):
        together = list(group)
        units += _by_progress(together) if len(together) > 1 else together
    return Output(tuple(units))


def _by_progress(units: list[CommittedRows]) -> list[CommittedRows]:
    starts = [_starts(unit) for unit in units]
    order: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(len(units)), ()))
    for later, theirs in enumerate(starts):
        for earlier, others in enumerate(starts):
            if any(others.get(lane, start) < start for lane, start in theirs.items()):
                order.add(later, earlier)
    try:
        return [units[index] for index in order.static_order()]
    except CycleError:
        return units


def _starts(unit: CommittedRows) -> dict[str | int, int]:
    """How far each key or partition is in the first row that the unit holds of it."""
    starts: dict[str | int, int] = {}
    for row in unit.rows:
        lane, progress = _progress(row)
        starts.setdefault(lane, progress)
    return starts


def _progress(row: FoldRow | IdentityRow | WindowRow) -> tuple[str | int, int]:
    if isinstance(row, FoldRow):
        return row.key, sum(row.counts)
    if isinstance(row, WindowRow):
        return row.key, row.window
    return row.partition, row.offset


def first_seen(history: History, unit: CommittedRows) -> RowsVisible | None:
    """The event at which the reader first saw a unit; None if there is none."""
    return next((event for event in history.of(RowsVisible) if event.name == unit.name), None)


def sighting(unit: CommittedRows, row: FoldRow | IdentityRow | WindowRow, described: str = "") -> str:
    """A row with the unit and the poll at which it was first seen, as a line; `described`: the row in words."""
    when = "second read" if unit.final else f"poll {unit.poll}"
    if described:
        return f"{unit.name}, {when}: {described}"
    if isinstance(row, IdentityRow):
        return f"{unit.name}, {when}: partition {row.partition}, offset {row.offset}"
    if isinstance(row, WindowRow):
        where = f"key {row.key!r}, window {row.window}"
        return f"{unit.name}, {when}: {where}, value {row.value}, {row.digest:#018x}"
    counts = ", ".join(map(str, row.counts))
    return f"{unit.name}, {when}: key {row.key!r}, value {row.value}, counts ({counts}), {row.digest:#018x}"
