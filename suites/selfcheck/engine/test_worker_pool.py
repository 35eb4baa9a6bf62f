"""Cases that run side by side give the same journal in the same order, and a lost worker does not end the others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from signal import SIGKILL, SIGSEGV
from threading import Event
from typing import Any

import msgspec
import pytest

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.cases import tally
from holdfast.harness.engine.cases.case_run import ATTEMPTS, MOST_AGAIN
from holdfast.harness.engine.cases.case_status import case_result
from holdfast.harness.engine.certification import certify
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.limits import FIRST, Width
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.worker import Assignment, CaseEnded, WorkerSettings
from holdfast.harness.engine.certification.worker_pool import WorkerPool, WorkQueue
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.lease import Lease
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import CaseResult, Journal, RunResult, Status
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.spi.system import Deployment
from holdfast.suites.selfcheck.engine.results import result
from holdfast.suites.selfcheck.engine.scripted import Silent
from holdfast.suites.selfcheck.marks import sweeps

HERE = "holdfast.suites.selfcheck.engine.test_worker_pool"
RULES = frozenset({"CRD-04", "CRD-05", "BAR-06"})
EXIT_CODE = 9


class Named(ReferenceSystem):
    """Its workers find it by its name."""

    def __init__(self, variant: str = "") -> None:
        super().__init__(variant)
        self.name = f"{HERE}:{type(self).__name__}"


class Dying(Named):
    """Takes its harness with it."""

    def deploy(self, plan: Plan, *others: Any) -> Deployment:
        os._exit(EXIT_CODE)


class Crashing(Named):
    """Crashes its harness."""

    number = SIGSEGV

    def deploy(self, plan: Plan, *others: Any) -> Deployment:
        os.kill(os.getpid(), self.number)
        raise AssertionError


class Killed(Crashing):
    """Is killed with its harness."""

    number = SIGKILL


class Hanging(Named):
    """Never comes to stand."""

    def deploy(self, plan: Plan, *others: Any) -> Deployment:
        Event().wait()
        raise AssertionError


class Leaving(Hanging):
    """Makes a folder of its own, such as that of a cluster."""

    def deploy(self, plan: Plan, *others: Any) -> Deployment:
        Lease("left")
        return super().deploy(plan, *others)


class Alone(Named):
    """Says of no tier that several of it may stand."""

    side_by_side = frozenset()


class Shy(Named):
    """Cannot stand as long as it is run for the first time."""

    stands_from = ATTEMPTS

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        assert folder is not None
        serial = int(folder.parent.name.removesuffix(".part").rpartition("-")[2])
        if serial < self.stands_from:
            raise OSError("somebody is looking")
        return super().deploy(plan, inputs, tier, folder)


class Listener(Silent):
    """Writes down which cases begin and end."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, Tier]] = []
        self.ended: list[tuple[str, Tier]] = []

    def begin(self, case: str, tier: Tier, demanded: int) -> None:
        self.begun.append((case, tier))

    def end(self, result: CaseResult) -> None:
        self.ended.append((result.case, result.tier))


def certified(
    folder: Path,
    jobs: int,
    system: str = "reference",
    listener: Listener | None = None,
    rules: frozenset[str] = RULES,
    tier: Tier = Tier.SIM,
) -> Journal:
    folder.mkdir(exist_ok=True)
    request = Request(command="test", system=system, folder=folder, rules=rules, tiers=frozenset({tier}), jobs=jobs)
    return Certification(request, listener or Listener(), Interruption()).run()


@pytest.mark.nightly
def test_side_by_side_comes_to_the_same_in_the_same_order(tmp_path: Path) -> None:
    listener = Listener()
    alone, together = certified(tmp_path / "alone", 1), certified(tmp_path / "together", 3, listener=listener)
    untimed = [[msgspec.structs.replace(each, wall_ms=0.0) for each in found.cases] for found in (together, alone)]
    assert untimed[0] == untimed[1]
    assert together.rules == alone.rules
    assert together.tiers == alone.tiers
    assert together.plans_digest == alone.plans_digest
    assert [comparable(run) for run in together.runs] == [comparable(run) for run in alone.runs]
    assert len(together.runs) > len(RULES)
    assert set(listener.begun) <= set(listener.ended)
    assert sorted(listener.ended) == sorted((each.case, each.tier) for each in together.cases)
    for run in (each for each in together.runs if each.artefacts):
        assert (tmp_path / "together" / run.artefacts / "verdicts.json").is_file()


def comparable(run: msgspec.Struct) -> msgspec.Struct:
    """Without what a run cost and where it lies."""
    return msgspec.structs.replace(run, wall_ms=0.0, replay="")


def test_of_a_lost_worker_nothing_is_counted_and_others_go_on(tmp_path: Path) -> None:
    journal = certified(tmp_path, 2, f"{HERE}:Dying")
    run = [each for each in journal.cases if each.runs_demanded]
    assert len(run) > 2
    assert {each.status for each in run} == {Status.ERROR}
    reason = f"harness error: OSError: the worker process of the case ended with exit code {EXIT_CODE}"
    assert {each.reason for each in run} == {reason}
    assert {each.runs_inconclusive for each in run} == {1}
    assert not [each for each in journal.rules if each.status is Status.PASS]


@pytest.mark.parametrize(
    ("system", "how"),
    [
        ("Crashing", "ended by SIGSEGV"),
        ("Killed", "was killed from outside by SIGKILL, perhaps because memory ran out"),
    ],
)
@pytest.mark.share(2)
def test_the_signal_that_ended_a_worker_is_named(tmp_path: Path, system: str, how: str) -> None:
    """It was an exit code below zero."""
    journal = certified(tmp_path, 2, f"{HERE}:{system}", rules=frozenset({"BAR-06"}))
    reasons = {each.reason for each in journal.cases if each.runs_demanded}
    assert reasons == {f"harness error: OSError: the worker process of the case {how}"}


def test_a_worker_that_hangs_is_lost_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certify, "silence_limit_s", lambda bounds: 2.0)
    journal = certified(tmp_path, 2, f"{HERE}:Hanging", rules=frozenset({"CRD-04"}))
    run = [each for each in journal.cases if each.runs_demanded]
    assert run
    assert {each.status for each in run} == {Status.ERROR}
    reason = "harness error: OSError: the worker process of the case hung: no run ended for 2 s"
    assert {each.reason for each in run} == {reason}


NEVER_BUSY, ALWAYS_BUSY = float("inf"), -1.0
"""From which share of waiting on the machine is held to be too busy."""


@pytest.mark.tier("process")
@pytest.mark.parametrize(
    ("jobs", "busy", "status"),
    [
        (1, NEVER_BUSY, Status.INCONCLUSIVE),
        (2, NEVER_BUSY, Status.PASS),
        (1, ALWAYS_BUSY, Status.PASS),
    ],
    ids=["nothing beside it", "other cases beside it", "others beside it"],
)
@pytest.mark.share(3)
def test_what_is_open_because_of_others_is_run_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, busy: float, status: Status
) -> None:
    monkeypatch.setattr(tally, "STALLED_SHARE", busy)
    listener = Listener()
    journal = certified(tmp_path, jobs, f"{HERE}:Shy", listener, frozenset({"CFG-08"}), Tier.PROCESS)
    run = [each for each in journal.cases if each.runs_demanded]
    assert run
    assert {each.status for each in run} == {status}
    assert min(each.runs_inconclusive for each in run) >= ATTEMPTS
    assert len(listener.ended) == len(set(listener.ended))


@pytest.mark.tier("process")
@pytest.mark.parametrize(("jobs", "times"), [(1, 1), (2, 2)])
@pytest.mark.share(2)
def test_so_is_one_whose_runs_pass_and_leave_a_rule_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, times: int
) -> None:
    """A clause had nothing to decide, which takes luck on a machine that others use too."""
    monkeypatch.setattr(tally, "STALLED_SHARE", NEVER_BUSY)
    results: list[CaseResult] = []

    def left_open(*arguments: Any) -> CaseResult:
        result = case_result(*arguments)
        first = result.case not in {each.case for each in results}
        results.append(result)
        return (
            msgspec.structs.replace(result, rules=dict.fromkeys(result.rules, Status.INCONCLUSIVE)) if first else result
        )

    monkeypatch.setattr(certify, "case_result", left_open)
    journal = certified(tmp_path, jobs, rules=frozenset({"CFG-08"}), tier=Tier.PROCESS)
    run = [each for each in journal.cases if each.runs_demanded]
    assert run
    assert [each.runs_passed for each in run] == [times * each.runs_demanded for each in run]
    open_yet = [each.case for each in run if Status.INCONCLUSIVE in each.rules.values()]
    assert open_yet == ([] if times > 1 else [each.case for each in run])


@pytest.mark.tier("process")
def test_what_stays_open_on_a_busy_machine_is_run_a_few_times_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally, "STALLED_SHARE", ALWAYS_BUSY)
    monkeypatch.setattr(f"{HERE}.Shy.stands_from", 1_000)
    journal = certified(tmp_path, 1, f"{HERE}:Shy", rules=frozenset({"CFG-08"}), tier=Tier.PROCESS)
    run = [each for each in journal.cases if each.runs_demanded]
    assert {each.status for each in run} == {Status.INCONCLUSIVE}
    assert {each.runs_inconclusive for each in run} == {(1 + MOST_AGAIN) * ATTEMPTS * run[0].runs_demanded}


def single_cases(count: int) -> list[tuple[int, str]]:
    """Numbered ones that are run with one run on the simulator."""
    return list(enumerate(each.id for each in registry.cases() if each.runs == 1 and Tier.SIM in each.tiers))[:count]


def assignments(cases: Sequence[tuple[int, str]], begun: list[int]) -> Iterator[tuple[int, Assignment]]:
    """One run of each; `begun` gets the numbers of those that were taken."""
    for number, case in cases:
        begun.append(number)
        yield number, Assignment(case, Tier.SIM, 1, 0)


def begun_beside(folder: Path, count: int, width: int, then: int) -> list[int]:
    """Of a queue whose width changes behind the first case: behind each, how many have begun and not ended."""
    begun: list[int] = []
    ended: list[int] = []
    beside = []
    with WorkerPool[int](Interruption()) as pool:
        settings = WorkerSettings("reference", str(folder), 1, 1, None)
        queue = WorkQueue(assignments(single_cases(count), begun), width, settings)
        for number, message in pool.messages([queue]):
            if isinstance(message, CaseEnded):
                ended.append(number)
                beside.append(len(begun) - len(ended))
                queue.width = then
    assert sorted(ended) == begun == list(range(count))
    return beside


@pytest.mark.nightly
def test_a_queue_that_is_made_narrower_goes_on_in_fewer_workers(tmp_path: Path) -> None:
    assert begun_beside(tmp_path, 8, 3, then=1) == [2, 1, *[0] * 6]


@pytest.mark.nightly
def test_a_queue_that_is_made_wider_goes_on_in_more_workers(tmp_path: Path) -> None:
    beside = begun_beside(tmp_path, 9, 1, then=3)
    assert (beside[0], max(beside), beside[-3:]) == (0, 2, [2, 1, 0])


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.share(2)
def test_work_of_its_own_is_done_while_all_workers_are_busy_and_a_signal_ends_it(tmp_path: Path, stopped: bool) -> None:
    interruption = Interruption()
    taken: list[int] = []

    def steps() -> Iterator[int]:
        for number in range(5):
            taken.append(number)
            if stopped:
                interruption.give_up("somebody asked for it")
            yield number

    with WorkerPool[int](interruption, steps()) as pool:
        queue = WorkQueue(assignments(single_cases(1), []), 1, WorkerSettings("reference", str(tmp_path), 1, 1, None))
        before_the_end = [list(taken) for _, message in pool.messages([queue]) if isinstance(message, CaseEnded)]
    assert before_the_end == [[0] if stopped else [0, 1, 2, 3, 4]]


@sweeps
def test_what_a_worker_made_that_is_ended_in_its_work_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stayed until the next sweep, behind each certificate that ended at its time limit."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def until_it_is_there() -> Iterator[None]:
        while not list(tmp_path.glob("holdfast-left-*/*")):
            yield
        raise TimeoutError

    settings = WorkerSettings(f"{HERE}:Leaving", str(tmp_path / "out"), 1, 1, None)
    with pytest.raises(TimeoutError), WorkerPool[int](Interruption(), until_it_is_there()) as pool:
        list(pool.messages([WorkQueue(assignments(single_cases(1), []), 1, settings)]))
    assert list(tmp_path.glob("holdfast-left-*")) == []


def waited(share: float) -> RunResult:
    """A run of which processes waited for a processor for this share of its time."""
    return result(stalled_ms=share * 100.0, wall_ms=100.0)


def test_more_runs_than_processors_go_on_at_a_time_until_one_waits_for_a_processor() -> None:
    width = Width(2)
    seen = [width.value]
    for _ in range(40):
        width.take(waited(0.0))
        seen.append(width.value)
    assert (seen[0], seen[3], seen[4], max(seen), seen[-1]) == (4, 4, 5, 8, 8)
    assert seen == sorted(seen)
    width.take(waited(0.5))
    assert width.value == 7
    for _ in range(40):
        width.take(waited(0.5))
    assert width.value == 1


@pytest.mark.parametrize(("system", "several"), [("reference", True), (f"{HERE}:Alone", False)])
def test_only_a_system_that_allows_it_runs_several_times_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, several: bool
) -> None:
    widths: list[int] = []

    def messages(pool: object, queues: list[WorkQueue[object]]) -> Iterator[object]:
        widths.extend(queue.width for queue in queues)
        return iter(())

    monkeypatch.setattr(WorkerPool, "messages", messages)
    jobs = 3
    certified(tmp_path, jobs, system)
    assert widths == [jobs, FIRST * jobs if several else 1, 1]
