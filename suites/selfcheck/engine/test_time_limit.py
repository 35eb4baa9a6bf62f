"""What a time limit leaves undone, and to whom it leaves time."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.engine.cases import case_run as case_run_module
from holdfast.harness.engine.cases.case import system_under_test
from holdfast.harness.engine.cases.case_run import CaseRun
from holdfast.harness.engine.cases.swarm_case import case_for, cases_for
from holdfast.harness.engine.certification import certify
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.run_store import RunStore
from holdfast.harness.engine.certification.time_limit import TimeLimit
from holdfast.harness.engine.certification.worker import Assignment, CaseEnded, Message, execute
from holdfast.harness.engine.certification.worker_pool import WorkerPool, WorkQueue
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, Status
from holdfast.harness.spi.system import declared
from holdfast.suites.selfcheck.engine.observers import Silent

CONTROL, DRAWN = "sockets/loss-control", "swarm/drawn-plans"


def test_a_case_that_does_not_apply_is_not_untested_for_want_of_time(tmp_path: Path) -> None:
    """After the limit all cases were UNTESTED, whatever they need."""
    arguments = ["--tier", "process", "--budget", "1ms", "--jobs", "1", "--out", str(tmp_path)]
    assert cli.execute(["certify", "persists-first", *arguments]) == 2
    journal = msgspec.json.decode((tmp_path / "latest" / "results.json").read_bytes(), type=Journal)
    able = declared(registry.system("persists-first"))
    lacks = {case.id for case in registry.cases() if case.needs - able}
    found = {each.case: each for each in journal.cases if each.tier is Tier.PROCESS}
    assert {found[name].status for name in lacks & found.keys()} == {Status.NOT_APPLICABLE}
    late = found["programs/killed"]
    assert (late.status, late.reason) == (Status.UNTESTED, "the time limit of 0 s was reached")


class Counted(TimeLimit):
    """Time passes by looks at the clock."""

    first_s = 0.0
    looks = 0

    @property
    def elapsed_s(self) -> float:
        self.looks += 1
        return self.first_s + self.looks / 8


@pytest.mark.parametrize(
    ("first_s", "status", "reason"),
    [
        pytest.param(0.0, Status.PASS, "", marks=pytest.mark.nightly),
        (8.0, Status.UNTESTED, "25% of the time limit of 10 s are left to drawn plans"),
    ],
)
def test_a_control_does_not_take_the_time_of_drawn_plans(
    first_s: float, status: Status, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [each for each in cases_for(registry.system("reference"), ()) if each.id in (CONTROL, DRAWN)]
    monkeypatch.setattr(certify, "cases_for", lambda *_: cases)
    monkeypatch.setattr(certify, "TimeLimit", Counted)
    monkeypatch.setattr(Counted, "first_s", first_s)
    request = Request(command="t", system="reference", folder=tmp_path, tiers=frozenset({Tier.SIM}), budget_s=10.0)
    journal = Certification(request, Silent(), Interruption()).run()
    control = next(each for each in journal.cases if each.case == CONTROL)
    assert (control.status, control.reason) == (status, reason)
    assert journal.certificate.drawn_plans


def test_where_no_plan_is_drawn_a_control_has_all_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [each for each in registry.cases() if each.id == CONTROL]
    monkeypatch.setattr(certify, "cases_for", lambda *_: cases)
    monkeypatch.setattr(certify, "TimeLimit", Counted)
    monkeypatch.setattr(Counted, "first_s", 6.0)
    request = Request(command="t", system="reference", folder=tmp_path, tiers=frozenset({Tier.SIM}), budget_s=10.0)
    journal = Certification(request, Silent(), Interruption()).run()
    assert [each.status for each in journal.cases if each.tier is Tier.SIM] == [Status.PASS]


@pytest.mark.parametrize(("first_s", "waits"), [(0.0, True), (900.0, False)])
def test_drawn_plans_wait_for_cases_of_processes_but_not_for_ever(
    first_s: float, waits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They took a processor from the first minute on, and of the others some had no turn within the limit."""
    cases = [each for each in cases_for(registry.system("reference"), ()) if each.id in (CONTROL, DRAWN)]
    taken: list[list[str]] = []

    def messages(_: object, queues: list[WorkQueue[object]]) -> Iterator[object]:
        simulated, processes = queues[0], queues[1]
        for queue in (simulated, processes, simulated):
            assignments = [each for _, each in queue.assignments if isinstance(each, Assignment)]
            taken.append([each.case for each in assignments])
        return iter(())

    monkeypatch.setattr(certify, "cases_for", lambda *_: cases)
    monkeypatch.setattr(certify, "TimeLimit", Counted)
    monkeypatch.setattr(Counted, "first_s", first_s)
    monkeypatch.setattr(WorkerPool, "messages", messages)
    tiers = frozenset({Tier.SIM, Tier.PROCESS})
    request = Request(command="t", system="reference", folder=tmp_path, tiers=tiers, budget_s=1_000.0, jobs=2)
    Certification(request, Silent(), Interruption()).run()
    at_once, of_processes, behind = taken
    assert CONTROL in of_processes
    assert (DRAWN in at_once, DRAWN in behind) == ((False, True) if waits else (True, False))


def test_a_case_that_runs_out_of_time_has_ended_its_processes_when_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process was ended before them, and left their semaphores."""
    monkeypatch.setattr(case_run_module, "CHUNK", 1)
    system, tools = registry.system("reference"), registry.toolbox()
    case = case_for(system, "swarm/drawn-plans", Tier.SIM)
    store = RunStore(tmp_path, tools.faults)
    case_run = CaseRun(case, system_under_test(case, system, 1), Tier.SIM, tools, 1, store.runs)
    messages: list[Message] = []
    processes: list[int] = []
    of_others = {*active_children()}
    for message in execute(case_run, 40, store, Interruption(), lambda: len(messages) > 1, jobs=2):
        messages.append(message)
        processes.append(len({*active_children()} - of_others))
    assert isinstance(messages[-1], CaseEnded)
    assert (processes[-2], processes[-1]) == (2, 0)
