"""Several faults on the input of real processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.arrival_clock import NORMAL_PERCENT
from holdfast.fixtures.reference.drivers.controls.input import InputFaults
from holdfast.fixtures.reference.drivers.processes.file_log import FileLog, InputPages, write_log
from holdfast.harness.model.records import InputLog, Partition
from holdfast.suites.selfcheck.faults.scene import NotedHarness

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
