"""A query that ends by its own error: how often it is started again. How one comes to rest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.fixtures.systems.structured_streaming.failures import FAILURES_IN_A_ROW
from holdfast.fixtures.systems.structured_streaming.messages import Ended, Start, Started
from holdfast.fixtures.systems.structured_streaming.query import Query, Stage
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import Event, JobStatus, JobSwitched, RecoveryFailed


def events_of_failures(*, excused: bool = False, damaged: bool = False) -> list[Event]:
    """What becomes of a query that fails once more than it may."""
    recorder = Recorder()
    session: Any = SimpleNamespace(lives=1, dead=False, usable=True, executors={}, send=lambda command: None)
    log: Any = SimpleNamespace(committed=4, restarted=lambda: None)
    endpoints = Endpoints("in", "out", "state", 1, 1)
    query = Query(session, Start("query", "module", endpoints), log, "source[0]", recorder)
    query.excused = lambda: excused
    damages: Any = SimpleNamespace(acts=damaged, notice=lambda: None)
    query.damages = damages
    for _ in range(FAILURES_IN_A_ROW + 1):
        query._begin()
        query._take(Started(query._start.query))
        query._take(Ended(query._start.query, "connection refused"))
    return list(recorder.happened())


@pytest.mark.parametrize("excused", [False, True])
def test_what_fails_while_a_service_is_down_does_not_count(excused: bool) -> None:
    switched = [event for event in events_of_failures(excused=excused) if isinstance(event, JobSwitched)]
    assert any(event.status is JobStatus.FAILED for event in switched) is not excused


def test_a_checkpoint_that_cannot_be_read_is_told_and_waited_for() -> None:
    events = events_of_failures(damaged=True)
    failed = [event for event in events if isinstance(event, RecoveryFailed)]
    assert {(event.checkpoint, event.reason) for event in failed} == {(5, "connection refused")}
    assert len(failed) == FAILURES_IN_A_ROW + 1
    assert not any(event.status is JobStatus.FAILED for event in events if isinstance(event, JobSwitched))
    assert not any(isinstance(event, RecoveryFailed) for event in events_of_failures())


def test_it_rests_when_no_micro_batch_has_begun_for_an_interval() -> None:
    looks = iter([(4, 4), (5, 4), (5, 5), (5, 5), (5, 5)])
    clock: Any = SimpleNamespace(now_ms=0.0)
    log: Any = SimpleNamespace(planned=4, committed=3)
    session: Any = SimpleNamespace(lives=1, dead=False, usable=True, executors={}, hear=list)
    query = Query(
        session, Start("query", "module", Endpoints("in", "out", "state", 1, 20)), log, "source[0]", Recorder()
    )
    query._recorder, query._stage = clock, Stage.RUNNING

    def wait(_seconds: float) -> None:
        clock.now_ms += 10
        log.planned, log.committed = next(looks)

    session.wait = wait
    query.tend = lambda: None  # type: ignore[method-assign]
    query.rest()
    assert (list(looks), clock.now_ms) == ([], 50)


def test_a_query_that_ends_by_itself_without_an_error_is_started_again_and_has_not_failed() -> None:
    """As one does that takes what there is: its scheduler starts it again."""
    recorder = Recorder()
    session: Any = SimpleNamespace(lives=1, dead=False, usable=True, executors={}, send=lambda command: None)
    log: Any = SimpleNamespace(committed=4, restarted=lambda: None)
    query = Query(session, Start("query", "module", Endpoints("in", "out", "state", 1, 1)), log, "source[0]", recorder)
    for _ in range(2 * FAILURES_IN_A_ROW):
        query._begin()
        query._take(Started(query._start.query))
        query._take(Ended(query._start.query))
        assert query._stage is Stage.RESTART
    assert not any(event.status is JobStatus.FAILED for event in recorder.happened() if isinstance(event, JobSwitched))


def test_the_checkpoint_is_contended_until_each_former_driver_program_is_over() -> None:
    session: Any = SimpleNamespace(usable=True, executors={})
    log: Any = SimpleNamespace()
    query = Query(
        session, Start("query", "module", Endpoints("in", "out", "state", 1, 1)), log, "source[0]", Recorder()
    )
    contended = [query.contended]
    former: Any = SimpleNamespace(over=False)
    query.formers += [SimpleNamespace(over=True), former]  # type: ignore[list-item]
    contended.append(query.contended)
    former.over = True
    contended.append(query.contended)
    assert contended == [False, True, False]
