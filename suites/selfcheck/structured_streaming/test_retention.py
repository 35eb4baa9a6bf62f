"""Retention of a topic: what is asked of the broker, and where it is offered."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from holdfast.fixtures.systems.structured_streaming.controls import TopicRetention
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import InputTruncated
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.target import SOURCE_SYSTEM

PLAN = Plan(
    system="spark",
    job=FORWARD,
    workload=WorkloadSpec("synthetic"),
    faults=(FaultSpec("truncate", SOURCE_SYSTEM),),
)
ARRIVED = 12


@pytest.mark.parametrize(
    ("partition", "beyond", "asked"),
    [(-1, 0, {0: 5, 1: 9}), (1, -2, {1: 7}), (0, -7, {0: 0}), (-1, 20, {0: 25, 1: 29})],
)
def test_what_is_left_begins_where_the_last_commit_ends(partition: int, beyond: int, asked: dict[int, int]) -> None:
    recorded: list[InputTruncated] = []
    wanted: list[Mapping[int, int]] = []

    def remove(ends: Mapping[int, int]) -> Mapping[int, int]:
        wanted.append(ends)
        return {each: min(end, ARRIVED) for each, end in ends.items()}

    retention = TopicRetention(remove, lambda: (5, 9), recorded.append, lambda what: None)
    retention.truncate(partition, beyond)
    assert wanted == [asked]
    left = {event.partition: event.next_offset for event in recorded}
    assert left == {each: min(end, ARRIVED) for each, end in asked.items()}
    retention.restore("truncate", (partition, beyond, False))
    assert retention.whole("truncate", (partition, beyond, False))


def test_nobody_removes_files() -> None:
    system = StructuredStreaming()
    assert "the input is in files; set source.connector to kafka." in system.objection(PLAN, Tier.SPARK)
