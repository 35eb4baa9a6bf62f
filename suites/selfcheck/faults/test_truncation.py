"""Faults of stored data: removed records, partial listings, damage and spoilt local copies, and what proves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.faults.damage import spoil_local_copy
from holdfast.faults.input import truncate
from holdfast.fixtures.reference.drivers.input_faults import LIST_PART, TRUNCATE, InputFaults
from holdfast.fixtures.reference.drivers.local_disk_faults import Copies, SpoiltDisks
from holdfast.fixtures.reference.drivers.processes.file_log import FileLog, ListingPage, write_log
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    Event,
    FailureCounted,
    InputTruncated,
    LocalCopySpoilt,
    ObjectDamaged,
    RecordFailed,
    RecoveryFailed,
    SplitsListed,
    TaskStarted,
    TaskStopped,
)
from holdfast.harness.model.jobs import KEYED_SUM, over_sockets
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.controls import NOBODY
from holdfast.suites.conformance.plans import plan
from holdfast.suites.conformance.sources import BEYOND_IT, FIRST_LISTINGS, LATER_LISTINGS
from holdfast.suites.selfcheck.faults.scene import NotedHarness, NotedInput, at, landed
from holdfast.suites.selfcheck.oracles.builder import input_log
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run

SOURCE_SYSTEM = Target(Role.SOURCE_SYSTEM)


def removed(next_offset: int, time_ms: float = 101) -> Event:
    return at(time_ms, "harness.0", InputTruncated(partition=0, next_offset=next_offset))


def started(position: int, time_ms: float = 110, restored: int | None = 2) -> Event:
    task = TaskStarted(
        attempt=2, subtask="source[0]", restored_checkpoint=restored, state=None, positions=((0, position),)
    )
    return at(time_ms, "worker-0.0", task)


class TestUpToTheCheckpoint:
    spec = FaultSpec("truncate", SOURCE_SYSTEM)

    def test_a_source_began_behind_what_is_gone(self) -> None:
        assert landed(self.spec, [removed(7), started(7)])

    def test_without_a_restart_nothing_came_of_it(self) -> None:
        assert landed(self.spec, [removed(7)]) is None
        assert landed(self.spec, [removed(7), started(7, time_ms=99)]) is None

    def test_a_source_that_restores_nothing_is_no_proof(self) -> None:
        assert landed(self.spec, [removed(7), started(0, restored=None)]) is None

    def test_where_nothing_was_there_to_be_removed_it_did_not_land(self) -> None:
        assert landed(self.spec, [removed(0), started(3)]) is False


class TestBeyondTheCheckpoint:
    spec = FaultSpec("truncate", SOURCE_SYSTEM, parameters={"beyond": 5})

    def test_a_source_began_in_what_is_gone_or_reported_the_gap(self) -> None:
        assert landed(self.spec, [removed(12), started(7)])
        failed = RecordFailed(subtask="source[0]", partition=0, offset=11, cause="gone")
        assert landed(self.spec, [removed(12), at(110, "worker-0.0", failed)])

    def test_a_source_that_needs_none_of_it_is_no_proof(self) -> None:
        assert landed(self.spec, [removed(12), started(12)]) is None
        failed = RecordFailed(subtask="source[0]", partition=0, offset=12, cause="it is poisoned")
        assert landed(self.spec, [removed(12), at(110, "worker-0.0", failed)]) is None


class TestOfAQueryWithoutTasks:
    """Where it began is told by the checkpoint that it restored."""

    completed = at(90, "coordinator.0", CheckpointCompleted(checkpoint=2, positions=(7,)))

    @pytest.mark.parametrize(("beyond", "start", "lands"), [(0, 7, True), (5, 12, True), (5, 7, None), (0, 0, False)])
    def test_it_began_from_a_checkpoint(self, beyond: int, start: int, lands: bool | None) -> None:
        spec = FaultSpec("truncate", SOURCE_SYSTEM, parameters={"beyond": beyond})
        attempt = at(110, "coordinator.1", AttemptStarted(restored_checkpoint=2))
        assert landed(spec, [self.completed, removed(start), attempt]) is lands

    def test_it_did_not_begin_again(self) -> None:
        spec = FaultSpec("truncate", SOURCE_SYSTEM)
        attempt = at(95, "coordinator.1", AttemptStarted(restored_checkpoint=2))
        assert landed(spec, [self.completed, attempt, removed(7)]) is None


def test_the_first_offset_that_is_left_lies_within_the_partition() -> None:
    noted, harness = NotedInput(10, 10, covered=(5, 9)), NotedHarness()
    faults = InputFaults(noted, harness)
    faults.truncate(-1, 3)
    assert noted.suffered.starts == {0: 8, 1: 10}
    faults.truncate(0, -2)
    assert noted.suffered.starts == {0: 8, 1: 10}
    assert harness.recorded[-1] == InputTruncated(partition=0, next_offset=3)
    faults.restore(TRUNCATE, (-1, 3, False))
    assert noted.suffered.starts == {0: 3}
    noted.covered = ()
    faults.truncate(1, -7)
    assert noted.suffered.starts == {0: 3, 1: 0}
    with pytest.raises(ValueError, match="partition 2 is unknown: the input has 2"):
        faults.truncate(2, 0)


@pytest.mark.parametrize("chosen", BEYOND_IT)
def test_the_job_fails_and_names_what_is_gone(chosen: Plan) -> None:
    run = run_plan(chosen, registry.system("reference"), registry.toolbox())
    assert run.outcome is Outcome.PASS
    failure = run.history.of(FailureCounted)[-1]
    assert "the source system has removed it, its oldest record is" in failure.cause
    assert not failure.recoverable


def test_a_socket_keeps_no_records_that_could_be_removed() -> None:
    asked = plan(truncate(after_checkpoint=1), job=over_sockets(KEYED_SUM))
    assert "keeps no records" in ReferenceSystem().objection(asked, Tier.SIM)


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


DAMAGE = FaultSpec("damage", Target(Role.STORAGE))
COORDINATOR = "coordinator.0"


SPOILT = at(101, "harness", ObjectDamaged(path="chk-2/_metadata", checkpoint=2, published=(1, 2), length=9, left=None))


def completed(time_ms: float, checkpoint: int = 3) -> Event:
    return at(time_ms, COORDINATOR, CheckpointCompleted(checkpoint=checkpoint))


def begun(time_ms: float, restored: int | None = 3) -> Event:
    return at(time_ms, COORDINATOR, AttemptStarted(restored_checkpoint=restored))


def test_a_recovery_failed() -> None:
    failed = at(120, COORDINATOR, RecoveryFailed(checkpoint=2, reason="metadata is damaged"))
    assert landed(DAMAGE, [failed])
    assert landed(DAMAGE, [SPOILT, completed(110), failed]), "a recovery reads older checkpoints, too"


def test_a_subtask_ended_before_it_had_started() -> None:
    stopped = TaskStopped(subtask="sum[0]", reason="state is damaged")
    stopped.attempt = 2
    assert landed(DAMAGE, [at(120, "worker-0.0", stopped)])
    started = TaskStarted(subtask="sum[0]")
    started.attempt = 2
    assert landed(DAMAGE, [at(115, "worker-0.0", started), at(120, "worker-0.0", stopped)]) is False


def test_nobody_says_that_it_was_read() -> None:
    assert landed(DAMAGE, []) is False
    assert landed(DAMAGE, [begun(110), completed(120)]) is False, "nobody recorded what was damaged"
    assert landed(DAMAGE, [SPOILT, begun(110, restored=2), completed(120)]) is False
    assert landed(DAMAGE, [SPOILT, begun(110, restored=None), completed(120)]) is False
    assert landed(DAMAGE, [SPOILT, completed(110, checkpoint=2)]) is False, "that is the damaged one"


def test_the_job_went_on_from_a_newer_checkpoint() -> None:
    assert landed(DAMAGE, [SPOILT, completed(110)]) is None
    assert landed(DAMAGE, [SPOILT, completed(110), begun(120)]) is None
    assert landed(DAMAGE, [SPOILT, begun(120)]) is None, (
        "it was published, and the coordinator died before it completed"
    )


OLD, NEW, OTHER = "job-0/sum[0]/copy-1", "job-0/sum[0]/copy-2", "job-0/sum[1]/copy-2"
DISKS = {0: {OLD: b"older", NEW: b"newer!"}, 1: {OTHER: b"another"}}


def spoilt(worker: int, way: str, *paths: str) -> LocalCopySpoilt:
    return LocalCopySpoilt(worker=worker, way=way, paths=paths)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (spoilt(0, "flip", NEW), True),
        (spoilt(0, "flip"), False),
        (spoilt(1, "flip", OTHER), False),
        (spoilt(0, "truncate", NEW), False),
    ],
)
def test_it_lands_where_a_copy_of_the_worker_was_changed(event: LocalCopySpoilt, expected: bool) -> None:
    assert landed(spoil_local_copy(0, "flip"), [at(150, "harness", event)]) is expected


def test_to_remember_changes_nothing_and_lands() -> None:
    assert landed(spoil_local_copy(0, "remember"), [at(150, "harness", spoilt(0, "remember"))])


class Dictionaries:
    """Disks that are dictionaries, and what the harness recorded."""

    def __init__(self, disks: Copies) -> None:
        self.disks = {worker: dict(files) for worker, files in disks.items()}
        self.harness = NotedHarness()
        self.control = SpoiltDisks(self, self.harness)

    def copies(self) -> Copies:
        return self.disks

    def leave_copy(self, worker: int, path: str, content: bytes | None) -> None:
        if content is None:
            del self.disks[worker][path]
        else:
            self.disks[worker][path] = content

    def spoil(self, worker: int, way: str) -> dict[str, bytes | None]:
        """What becomes of the files that change."""
        before = {path: content for files in self.disks.values() for path, content in files.items()}
        self.control.spoil(worker, way)
        after = {path: content for files in self.disks.values() for path, content in files.items()}
        changed = {path: after.get(path) for path, content in before.items() if after.get(path) != content}
        assert self.harness.recorded.pop() == LocalCopySpoilt(worker=worker, way=way, paths=tuple(changed))
        return changed


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("remove", {NEW: None}),
        ("truncate", {NEW: b"new"}),
        ("flip", {NEW: b"newdr!"}),
        ("foreign", {NEW: b"another"}),
        ("stale", {}),
    ],
)
def test_the_newest_copy_of_each_subtask_is_spoilt(way: str, expected: dict[str, bytes | None]) -> None:
    assert Dictionaries(DISKS).spoil(0, way) == expected


def test_a_stale_copy_is_one_that_was_there_before() -> None:
    disks = Dictionaries({0: {OLD: b"older"}})
    assert disks.spoil(0, "remember") == {}
    assert disks.spoil(0, "stale") == {}, "it is that copy"
    disks.disks[0][NEW] = b"newer!"
    assert disks.spoil(0, "stale") == {NEW: b"older"}


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ValueError, match="way 'burn' is unknown; there are: remove"):
        Dictionaries(DISKS).spoil(0, "burn")
