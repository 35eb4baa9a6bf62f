"""Faults of input and storage on real processes: several at once, each once, and on the simulator alike."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.source_log import NORMAL_PERCENT
from holdfast.fixtures.reference.drivers.input_faults import InputFaults
from holdfast.fixtures.reference.drivers.processes.file_log import FileLog, InputPages, write_log
from holdfast.fixtures.reference.drivers.processes.shared_pages import StorageFaults
from holdfast.fixtures.reference.protocol.storage.operation import Failure
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FaultHealed, FaultInjected, FaultStruck, SourceEmitted
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.faults.scene import NotedHarness
from holdfast.suites.selfcheck.processes.test_deployment import plan

COLUMN = np.zeros(10, dtype=np.int64)
EMPTY = InputLog(("key",), (Partition(COLUMN[:0], COLUMN[:0], 0), Partition(COLUMN, COLUMN, 10)))
INPUTS = InputLog(("key",), (Partition(COLUMN, COLUMN, 10), Partition(COLUMN, COLUMN, 10)))


def _faults(inputs: InputLog, folder: Path) -> tuple[InputFaults, InputPages]:
    """What acts on an input, and the input."""
    write_log(folder, inputs)
    harness = NotedHarness()
    pages = InputPages(inputs, folder, harness.struck)
    return InputFaults(pages, harness), pages


def test_each_is_healed_on_its_own(tmp_path: Path) -> None:
    faults, pages = _faults(INPUTS, tmp_path)
    log = FileLog(tmp_path)

    def ends() -> list[int]:
        """By partition, where what can be read ends."""
        return [log.before_poison(partition, 0, 10) for partition in (0, 1)]

    faults.poison(0, 3, recoverable=True)
    faults.poison(0, -1, recoverable=True)
    faults.poison(1, 5, recoverable=True)
    faults.surge(300)
    assert (ends(), pages.clock.percent) == ([9, 5], 300)
    faults.restore("surge", 300)
    assert (ends(), pages.clock.percent) == ([9, 5], NORMAL_PERCENT)
    faults.restore("poison", (0, -1, True))
    assert ends() == [3, 5]
    assert (faults.whole("poison", (0, -1, True)), faults.whole("poison", (0, 3, True))) == (True, False)
    faults.restore("poison", (0, 3, True))
    assert ends() == [10, 5]
    faults.restore("poison", (1, 5, True))
    assert (ends(), faults.whole("poison", (1, 5, True))) == ([10, 10], True)


def test_a_partition_without_records_bears_a_poison(tmp_path: Path) -> None:
    faults, _ = _faults(EMPTY, tmp_path)
    log = FileLog(tmp_path)
    faults.poison(0, -1, recoverable=True)
    faults.poison(1, -1, recoverable=True)
    assert log.before_poison(1, 0, 10) == 9
    faults.restore("poison", (0, -1, True))
    faults.restore("poison", (1, -1, True))
    assert all(faults.whole("poison", (partition, -1, True)) for partition in (0, 1))


def test_the_records_of_a_broker_are_not_changed() -> None:
    harness = NotedHarness()
    pages = InputPages(INPUTS, None, harness.struck)
    faults = InputFaults(pages, harness)
    faults.surge(300)
    assert pages.clock.percent == 300
    with pytest.raises(NotImplementedError, match="poison: the records of a broker"):
        faults.poison(0, 1, recoverable=True)
    with pytest.raises(NotImplementedError, match="truncate: the records of a broker"):
        faults.truncate(0, 0)
    with pytest.raises(NotImplementedError, match="list-part: the records of a broker"):
        faults.hide_partition(0)


DELAY_MS = 60
SLOW = FaultSpec("slow-task", Target(Role.TASK), Schedule(after_checkpoint=1), 600, {"delay_ms": DELAY_MS})


@pytest.mark.parametrize("tier", [Tier.SIM, Tier.PROCESS])
def test_its_batches_come_as_far_apart_as_it_is_busy(tier: Tier, tmp_path: Path) -> None:
    run = run_plan(plan(SLOW), ReferenceSystem(""), toolbox(), tier, tmp_path)
    assert run.outcome is Outcome.PASS, run.reason
    history = run.history
    (injected,), (healed,) = history.of(FaultInjected), history.of(FaultHealed)
    assert [event.what for event in history.of(FaultStruck)] == ["source[0]"]
    times_ns = [
        event.time_ns
        for event in history.of(SourceEmitted)
        if event.subtask == "source[0]" and injected.time_ns < event.time_ns < healed.time_ns
    ]
    # The first may have been under way.
    gaps_ms = [(later - earlier) / 1e6 for earlier, later in pairwise(times_ns)][1:]
    assert len(gaps_ms) > 1
    assert min(gaps_ms) >= DELAY_MS - 1


def test_nothing_fails_unasked(tmp_path: Path) -> None:
    faults = StorageFaults(tmp_path)
    assert faults.strike("write-state") is None
    assert not faults.acting()


def test_so_many_calls_fail_whoever_makes_them(tmp_path: Path) -> None:
    supervisor, one, other = (StorageFaults(tmp_path) for _ in range(3))
    supervisor.fail("write-state", 2, after_effect=False)
    assert one.strike("commit") is None
    assert one.strike("write-state") is Failure.BEFORE_EFFECT
    assert supervisor.acting()
    assert other.strike("write-state") is Failure.BEFORE_EFFECT
    assert one.strike("write-state") is None
    assert not supervisor.acting()
    supervisor.fail("write-state", 1, after_effect=True)
    assert other.strike("write-state") is Failure.AFTER_EFFECT
    assert other.strike("write-state") is None


def test_zero_occurrences_last_until_restored(tmp_path: Path) -> None:
    faults = StorageFaults(tmp_path)
    faults.fail("publish-metadata", 0, after_effect=True)
    assert [faults.strike("publish-metadata") for _ in range(5)] == [Failure.AFTER_EFFECT] * 5
    faults.restore("publish-metadata", after_effect=True)
    assert faults.strike("publish-metadata") is None


def test_each_fault_is_healed_on_its_own(tmp_path: Path) -> None:
    faults = StorageFaults(tmp_path)
    faults.fail("commit", 0, after_effect=False)
    faults.slow("commit", 250, 0)
    faults.fail("delete", 0, after_effect=False)
    faults.restore("commit")
    assert (faults.strike("commit"), faults.delay_ms("commit")) == (None, 250)
    assert faults.strike("delete") is Failure.BEFORE_EFFECT
    assert (faults.whole("commit"), faults.whole("commit", delay_ms=250)) == (True, False)


@pytest.mark.parametrize("later_first", [False, True])
def test_of_two_failures_of_one_operation_the_one_that_is_healed_ends(tmp_path: Path, later_first: bool) -> None:
    faults = StorageFaults(tmp_path)
    faults.fail("commit", 0, after_effect=False)
    faults.fail("commit", 0, after_effect=True)
    assert faults.strike("commit") is Failure.AFTER_EFFECT
    faults.restore("commit", after_effect=later_first)
    assert faults.strike("commit") is (Failure.BEFORE_EFFECT if later_first else Failure.AFTER_EFFECT)
    assert faults.whole("commit", after_effect=later_first)
    faults.restore("commit", after_effect=not later_first)
    assert faults.strike("commit") is None


def test_of_two_delays_of_one_operation_the_one_that_is_healed_ends(tmp_path: Path) -> None:
    faults = StorageFaults(tmp_path)
    faults.slow("commit", 700, 0)
    faults.slow("commit", 20, 0)
    faults.restore("commit", delay_ms=20)
    assert faults.delay_ms("commit") == 700


def test_what_cannot_be_asked_for_is_refused(tmp_path: Path) -> None:
    faults = StorageFaults(tmp_path)
    with pytest.raises(ValueError, match="storage operation 'format' is unknown"):
        faults.fail("format", 1, after_effect=False)
    with pytest.raises(ValueError, match="occurrences -1"):
        faults.fail("commit", -1, after_effect=False)


def test_a_slow_operation_and_a_failing_one_are_ordered_apart(tmp_path: Path) -> None:
    faults = StorageFaults(tmp_path)
    faults.slow("delete", 250, 1)
    faults.fail("delete", 1, after_effect=False, answer_lost=True)
    assert (faults.delay_ms("delete"), faults.delay_ms("delete"), faults.delay_ms("abort")) == (250, 0, 0)
    assert (faults.strike("delete"), faults.strike("delete")) == (Failure.ANSWER_LOST, None)
    assert not faults.acting()
