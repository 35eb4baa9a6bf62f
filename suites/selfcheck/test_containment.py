"""Errors and hangs of a wrong protocol end or stop its process, and what is left is judged."""

from __future__ import annotations

import gc
import time  # noqa: TID251 - a finalizer that takes its time
from dataclasses import replace
from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.simulated.host import Host
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.effects import Block, Effects
from holdfast.fixtures.reference.protocol.messages import Records
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.events import NodeDied
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
