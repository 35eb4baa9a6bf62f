"""Partial listings: the fault lands where one was made, and every driver leaves the same partitions out."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.controls.input import LIST_PART, InputFaults
from holdfast.fixtures.reference.drivers.processes.file_log import FileLog, ListingPage, write_log
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import Event, SplitsListed
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import NOBODY
from holdfast.suites.conformance.sources import FIRST_LISTINGS, LATER_LISTINGS
from holdfast.suites.selfcheck.faults.scene import NotedHarness, NotedInput, at, landed
from holdfast.suites.selfcheck.oracles.builder import input_log
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run

SPEC = FaultSpec("list-part", Target(Role.SOURCE_SYSTEM), parameters={"partition": 1})


def listing(*splits: int, time_ms: float = 110) -> Event:
    return at(time_ms, "coordinator.0", SplitsListed(splits=splits))


def test_a_listing_lacked_the_partition() -> None:
    assert landed(SPEC, [listing(0, 2), listing(0, 1, 2, time_ms=300)])


def test_a_listing_of_all_or_of_another_part_is_no_proof() -> None:
    assert not landed(SPEC, [listing(0, 1, 2)])
    assert not landed(SPEC, [listing(1, 2)])


def test_an_earlier_listing_is_no_proof() -> None:
    assert not landed(SPEC, [listing(0, 2, time_ms=90)])


def test_what_several_faults_leave_out_adds_up_until_each_is_undone() -> None:
    noted = NotedInput(3, 3, 3)
    faults = InputFaults(noted, NotedHarness())
    faults.hide_partition(0)
    faults.hide_partition(2)
    assert set(noted.suffered.hidden) == {0, 2}
    faults.restore(LIST_PART, 0)
    assert set(noted.suffered.hidden) == {2}
    assert not faults.whole(LIST_PART, 2)
    assert faults.whole(LIST_PART, 0)


def test_a_file_log_lists_what_the_page_does_not_hide(tmp_path: Path) -> None:
    write_log(tmp_path, input_log(3, 3, 3))
    log, page = FileLog(tmp_path), ListingPage(tmp_path)
    assert log.listed() == (0, 1, 2)
    page.hide({1: 4})
    assert log.listed() == (0, 2)
    assert log.hidden() == {1: 4}
    page.hide({1: NOBODY})
    assert log.hidden() == {1: NOBODY}
    page.hide({})
    assert log.listed() == (0, 1, 2)


@pytest.mark.parametrize("plan", [FIRST_LISTINGS, LATER_LISTINGS], ids=["first", "later"])
@pytest.mark.share(2)
def test_a_split_that_is_listed_late_is_read_whole_on_processes(plan: Plan, tmp_path: Path) -> None:
    run = counting_run(plan, registry.system("reference"), Tier.PROCESS, tmp_path)
    assert_passes(run)
    assert any(len(event.splits) < 6 for event in run.history.of(SplitsListed))
