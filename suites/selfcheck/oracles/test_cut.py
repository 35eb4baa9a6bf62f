"""CUT, beyond its exhibits."""

from __future__ import annotations

import pytest

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE
from holdfast.harness.model.events import SnapshotTaken
from holdfast.harness.oracles.barriers.cut import CutOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, Line, story
from holdfast.suites.selfcheck.oracles.legal import summary

BEFORE = [(partition, offset) for partition in (0, 1) for offset in range(4)]


def cut_holding(*records: tuple[int, int]) -> list[Line]:
    """Checkpoint 1 at offset 4 of both partitions, all state in the first sum."""
    return [
        *(SnapshotTaken(subtask=f"source[{i}]", checkpoint=1, positions=((i, 4),)) for i in (0, 1)),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, state=summary(records)),
        SnapshotTaken(subtask="sum[1]", checkpoint=1, state=summary(())),
    ]


@pytest.mark.parametrize(
    ("records", "culprit"),
    [
        ([*BEFORE, (0, 7)], "too much: offset 7 of partition 0"),
        ([*BEFORE, (1, 4), (1, 5), (1, 6)], "too much: offsets 4 to 6 of partition 1"),
        ([*BEFORE, (0, 1), (1, 7)], "too much: offset 1 of partition 0 and offset 7 of partition 1"),
        (BEFORE[1:], "missing: offset 0 of partition 0"),
        (BEFORE[:4], "missing: offsets 0 to 3 of partition 1"),
        ([*BEFORE[:-1], (1, 9)], "wrong: offset 9 of partition 1 instead of offset 3 of partition 1"),
        ([*BEFORE, (0, 1), (0, 3), (0, 7)], "too much: no two records and no one range"),
    ],
)
def test_the_culprit_is_named(records: list[tuple[int, int]], culprit: str) -> None:
    anomalies = CutOracle().judge(story(*cut_holding(*records))).anomalies
    assert all(anomaly.message.endswith(culprit) for anomaly in anomalies), anomalies
    assert anomalies


def test_the_moment_is_that_of_the_last_snapshot_whichever_subtask_takes_it() -> None:
    history = story(*reversed(cut_holding(*BEFORE, (0, 7))))
    moment = CutOracle().judge(history).anomalies[0].at
    assert moment is not None
    assert (moment.node, moment.sequence) == (history.events[-1].node, history.events[-1].sequence)


def test_a_surplus_that_is_not_denied_decides_nothing() -> None:
    history = story(*cut_holding(*BEFORE, (0, 7)), claimed=AT_LEAST_ONCE)
    assert not {"state-extra", "state-missing"} & set(CutOracle().judge(history).checked)
    assert "state-extra" in CutOracle().judge(story(*cut_holding(*BEFORE), claimed=EXACTLY_ONCE)).checked


def test_positions_decide_nothing_where_nobody_sees_emissions() -> None:
    assert "source-position" not in CutOracle().judge(HISTORIES["cut/undecided/nobody-sees-emissions"]()).checked
