"""Storage faults hit the next calls of the whole system, each once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.storage_faults import StorageFaults
from holdfast.fixtures.reference.protocol.storage.storage_world import Failure


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
