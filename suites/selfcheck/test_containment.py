"""Tasks: errors and hangs are contained, the first cause is heard, and inputs are taken in order."""

from __future__ import annotations

import gc
import time  # noqa: TID251 - a finalizer that takes its time
from dataclasses import replace
from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.simulated.host import Host
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.channels.buffers import InputBuffers, TaskInputs
from holdfast.fixtures.reference.protocol.effects import Block, Effects, FailedExternally, Fetched, FetchFailed
from holdfast.fixtures.reference.protocol.effects.step import WorkerEvent
from holdfast.fixtures.reference.protocol.messages import Barrier, Element, Records, TaskFailed
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.events import FailureCounted, NodeDied, RecordFailed
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.containment import ENTRIES, Containment
from holdfast.suites.selfcheck.deviations.search import clauses_of
from holdfast.suites.selfcheck.mutation.loading import substitute

SHORT_CPU_S = 0.3


class Crashing(Worker):
    """No batch is survived."""

    def step(self, event: Any, now: float) -> Effects:
        if type(event) is Records:
            raise ZeroDivisionError
        return super().step(event, now)


class Nonsense(Worker):
    """What it blocks is no channel of the job."""

    def step(self, event: Any, now: float) -> Effects:
        effects = super().step(event, now)
        return [*effects, Block(1, "nowhere->sum[0]")] if type(event) is Records else effects


class Hanging(Worker):
    """No batch is done with, ever."""

    def step(self, event: Any, now: float) -> Effects:
        while type(event) is Records:
            pass
        return super().step(event, now)


def _take_too_long(*_of_the_collector: object) -> None:
    began_s = time.process_time()
    while time.process_time() - began_s < 1.5 * SHORT_CPU_S:
        pass


class Finalized:
    """Is finalized by a step that takes longer than it may."""

    def __del__(self) -> None:
        _take_too_long()


class HangingFromAFinalizer(Hanging):
    """The time runs out where nothing can be raised."""

    def step(self, event: Any, now: float) -> Effects:
        if type(event) is Records:
            Finalized()
        return super().step(event, now)


class HangingFromACollection(Hanging):
    """The time runs out in what the garbage collector calls back."""

    def step(self, event: Any, now: float) -> Effects:
        if type(event) is Records:
            gc.collect(0)
        return super().step(event, now)


def _contained(worker: type[Worker], containment: Containment) -> Run:
    system = ReferenceSystem()
    system.parts = replace(REFERENCE, worker=worker)
    with containment.installed():
        return containment.run(plan(), system, registry.toolbox())


def test_an_error_ends_its_process_and_the_run_is_judged() -> None:
    containment = Containment(run_cpu_s=20.0)
    run = _contained(Crashing, containment)
    assert containment.crashes
    assert "ZeroDivisionError" in containment.ended
    assert all(death.by_error and "ZeroDivisionError" in death.cause for death in run.history.of(NodeDied))
    assert "COUNT/ended-by-error" in clauses_of(run)


def test_an_effect_that_makes_no_sense_ends_its_process() -> None:
    containment = Containment(run_cpu_s=20.0)
    run = _contained(Nonsense, containment)
    assert "KeyError" in containment.ended
    assert "COUNT/ended-by-error" in clauses_of(run)


def test_the_simulator_itself_ends_a_process_that_has_an_error() -> None:
    system = ReferenceSystem()
    system.parts = replace(REFERENCE, worker=Crashing)
    run = run_plan(plan(), system, registry.toolbox())
    assert "COUNT/ended-by-error" in clauses_of(run)
    assert "test_containment.py, line" in run.history.of(NodeDied)[0].cause


def test_a_hang_stops_its_process_and_the_run_is_judged() -> None:
    containment = Containment(run_cpu_s=0.3)
    run = _contained(Hanging, containment)
    assert containment.hangs
    assert not containment.crashes
    assert run.outcome is Outcome.FAIL


def test_a_hang_that_begins_in_a_finalizer_is_stopped_behind_it() -> None:
    containment = Containment(run_cpu_s=SHORT_CPU_S)
    _contained(HangingFromAFinalizer, containment)
    assert containment.hangs


def test_a_hang_that_begins_in_a_callback_of_the_collector_is_stopped_behind_it() -> None:
    containment = Containment(run_cpu_s=SHORT_CPU_S)
    gc.callbacks.append(_take_too_long)
    try:
        _contained(HangingFromACollection, containment)
    finally:
        gc.callbacks.remove(_take_too_long)
    assert containment.hangs


def test_a_right_runtime_is_let_alone() -> None:
    containment = Containment(run_cpu_s=20.0)
    assert _contained(Worker, containment).outcome is Outcome.PASS
    assert not containment.ended


def test_the_simulator_is_as_it_was_afterwards() -> None:
    before = [getattr(Host, name) for name in ENTRIES]
    with Containment(1.0).installed():
        assert [getattr(Host, name) for name in ENTRIES] != before
    assert [getattr(Host, name) for name in ENTRIES] == before


def test_a_module_is_substituted_only_where_the_runtime_is_not_loaded() -> None:
    with pytest.raises(RuntimeError, match="is loaded already"):
        substitute("holdfast.fixtures.reference.parts", "parts.py", "")


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


CHANNELS = ("a", "b", "c")


class Inputs(TaskInputs):
    """Those of a task with three channels, and room in its outputs until that is taken away."""

    def __init__(self) -> None:
        self.room = True
        buffers = {channel: InputBuffers(4) for channel in CHANNELS}
        super().__init__("sum[0]", buffers, lambda: self.room, lambda batch: 0, announces=False)

    def bring(self, *elements: Element) -> None:
        for element in elements:
            self.arrive(element)

    def taken(self) -> list[str]:
        """All that can be taken now, by channel; of a barrier in capitals."""
        found = []
        while (element := self.take()) is not None:
            found.append(element.channel.upper() if isinstance(element, Barrier) else element.channel)
        return found


def batch(channel: str, position: int = 0, origin: int = 0) -> Records:
    return Records(1, channel, position, None, origin)


def test_inputs_take_turns_however_much_waits_at_one() -> None:
    inputs = Inputs()
    inputs.bring(*(batch("a", position) for position in range(3)), batch("b"), batch("c"), batch("c", 1))
    assert inputs.taken() == ["a", "b", "c", "a", "c", "a"]


def test_the_turn_goes_on_behind_the_input_that_was_served_last() -> None:
    inputs = Inputs()
    inputs.bring(batch("a"), batch("b"))
    assert inputs.taken() == ["a", "b"]
    inputs.bring(batch("a", 1), batch("c"))
    assert inputs.taken() == ["c", "a"]


def test_a_barrier_that_overtakes_is_taken_first_and_names_what_it_overtook() -> None:
    inputs = Inputs()
    inputs.bring(batch("a"), batch("c"), batch("c", 1), Barrier(1, "c", 7, overtakes=True))
    barrier = inputs.take()
    assert isinstance(barrier, Barrier)
    assert barrier.overtaken == (batch("c"), batch("c", 1))
    assert inputs.taken() == ["a", "c", "c"]


def test_a_barrier_that_does_not_keeps_its_place() -> None:
    inputs = Inputs()
    inputs.bring(batch("a"), batch("c"), batch("c", 1), Barrier(1, "c", 7))
    assert inputs.taken() == ["a", "c", "c", "C"]


def test_batches_wait_for_room_and_barriers_do_not() -> None:
    inputs = Inputs()
    inputs.room = False
    inputs.bring(batch("a"), Barrier(1, "b", 7), batch("b"))
    assert inputs.taken() == ["B"]
    inputs.room = True
    assert inputs.taken() == ["a", "b"]


def test_nothing_is_taken_of_a_blocked_input_nor_by_a_suspended_task() -> None:
    inputs = Inputs()
    inputs.buffers["a"].blocked = True
    inputs.bring(batch("a"), batch("b"))
    inputs.suspend("sum[0]")
    assert inputs.taken() == []
    inputs.resume("sum[0]")
    assert inputs.taken() == ["b"]


def test_what_was_in_flight_at_the_restored_cut_comes_before_anything_new() -> None:
    inputs = Inputs()
    inputs.restored_first = True
    inputs.bring(batch("a"), batch("b", 3, origin=1), batch("b", 4, origin=1), batch("c"))
    assert inputs.taken() == ["b", "b", "c", "a"]
