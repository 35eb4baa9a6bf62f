"""A task whose channel or reader breaks fails once: the coordinator hears the first cause, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.effects import Effects, FailedExternally, Fetched, FetchFailed
from holdfast.fixtures.reference.protocol.effects.event import WorkerEvent
from holdfast.fixtures.reference.protocol.messages import TaskFailed
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.events import FailureCounted, RecordFailed
from holdfast.suites.conformance.plans import plan

LOST, GONE = "the peer closed the connection", "the source system has removed it"


@pytest.mark.parametrize(("channel_first", "cause", "records"), [(True, LOST, 0), (False, GONE, 1)])
def test_only_the_first_cause_is_reported(channel_first: bool, cause: str, records: int) -> None:
    """A channel of source[1] is lost, and its next record is gone at the same time."""
    reported: list[str] = []

    class Both(Worker):
        def step(self, event: WorkerEvent, now: float) -> Effects:
            if type(event) is not Fetched or event.subtask != "source[1]" or event.attempt > 1:
                return super().step(event, now)
            lost = FailedExternally(event.attempt, event.subtask, LOST)
            gone = FetchFailed(
                event.attempt, event.subtask, event.partition, event.first_offset, GONE, recoverable=True
            )
            effects = [
                *super().step(lost if channel_first else gone, now),
                *super().step(gone if channel_first else lost, now),
            ]
            reported.extend(each.cause for each in effects if isinstance(each, TaskFailed))
            return effects

    system = ReferenceSystem("")
    system.parts = replace(REFERENCE, worker=Both)
    history = run_plan(plan(), system, registry.toolbox()).history
    assert [each.endswith(cause) for each in reported] == [True]
    assert [each.cause.endswith(cause) for each in history.of(FailureCounted)] == [True]
    assert len(history.of(RecordFailed)) == records
