"""GOLDEN: the numbers of the worked example (seeds/002, rule BAR-06), in both modes.

Two sources have read up to record 3 and record 4 when a checkpoint is taken, and the job restarts from it. Record 4 of
the first source reaches the sums before the barrier of the second: aligned it waits, counted it is in the state already
and is read once more after the restore.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.harness.model.events import AttemptStarted, Event, RowsVisible, SnapshotTaken, TaskStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.options import at_least_once

POSITIONS = {0: 3, 1: 4}
"""By partition, the next offset of the checkpoint: record 4 and record 5, counted from 1."""


class Golden(NamedTuple):
    """By key: what the checkpoint holds, and what the last committed row shows."""

    checkpoint: Mapping[str, int]
    final: Mapping[str, int]


ALIGNED = Golden(checkpoint={"even": 8, "odd": 8}, final={"even": 40, "odd": 32})
COUNTED = Golden(checkpoint={"even": 12}, final={"even": 44})
"""What the article says of the odd sum without alignment is nothing."""


class GoldenOracle:
    """Compares one restored checkpoint, and the last rows, with the example."""

    name = "GOLDEN"
    title = "worked example"
    invariant = "The worked example gives even 8 and odd 8, then 40 and 32; without alignment even 12, then 44."
    clauses: Mapping[str, str] = {
        "checkpoint-value": "a sum in the restored checkpoint is not that of the example",
        "final-value": "the last committed row of a key is not that of the example",
    }
    evidence: tuple[type[Event], ...] = (AttemptStarted, SnapshotTaken, RowsVisible)
    observed = frozenset({"final-value"})

    def applies(self, history: History) -> bool:
        return history.plan.workload.name == "worked-example"

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        golden = COUNTED if at_least_once(history.plan) else ALIGNED
        for restored in dict.fromkeys(event.restored_checkpoint for event in history.of(AttemptStarted)):
            snapshots = [event for event in history.of(SnapshotTaken) if event.checkpoint == restored]
            if dict(pair for event in snapshots for pair in event.positions) == POSITIONS:
                _compare("checkpoint-value", golden.checkpoint, _sums(snapshots), findings, *snapshots)
        if history.end.reached and history.of(TaskStarted):
            last = {row.key: row.value for row in history.output.rows() if isinstance(row, FoldRow)}
            _compare("final-value", golden.final, last, findings)
        return findings.verdict(history)


def _sums(snapshots: list[SnapshotTaken]) -> Mapping[str, int]:
    sums: Counter[str] = Counter()
    for snapshot in snapshots:
        if snapshot.state is not None and snapshot.state.entries is not None:
            sums.update(snapshot.state.entries)
    return sums


def _compare(
    clause: str, expected: Mapping[str, int], found: Mapping[str, int], findings: Findings, *witness: Event
) -> None:
    for key, value in expected.items():
        findings.check(clause)
        if found.get(key) != value:
            findings.violated(clause, f"{key} is {found.get(key)}, the example has {value}", *witness)


ORACLES = (GoldenOracle(),)
"""Registered under `holdfast.oracles`."""
