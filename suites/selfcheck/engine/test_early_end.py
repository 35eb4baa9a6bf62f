"""Whatever breaks a certification, or ends it in time, what is finished is reported."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import active_children
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness import cli
from holdfast.harness.commands import progress, reports
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.cases import case_run as case_run_module
from holdfast.harness.engine.cases.case import system_under_test
from holdfast.harness.engine.cases.case_run import CaseRun
from holdfast.harness.engine.cases.swarm_case import case_for, cases_for
from holdfast.harness.engine.certification import certify, result_log
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.limits import TimeLimit
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.result_log import ResultLog
from holdfast.harness.engine.certification.run_store import RunStore
from holdfast.harness.engine.certification.worker import Assignment, CaseEnded, Message, execute
from holdfast.harness.engine.certification.worker_pool import WorkerPool, WorkQueue
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.harness.spi.system import Part, declared
from holdfast.suites.selfcheck.engine.scripted import Silent

HERE = "holdfast.suites.selfcheck.engine.test_early_end"
NARROWED = ("--tier", "sim", "--rule", "RST-01", "--rule", "SBK-09", "--jobs", "1")
KIT = """
from holdfast.harness.spi.suite import Suite
from holdfast.suites.certify.state_backend import StateBackendKit

class Kit(StateBackendKit):
    def certify(self, factory, *_):
        raise eval(factory)

SUITE = Suite(kits={"broken": "broken_kit:Kit"})
"""


class OfBrokenKits(ReferenceSystem):
    """Its parts are judged by a kit that raises what their names say, and by one that does not exist."""

    def __init__(self, variant: str = "") -> None:
        super().__init__(variant)
        self.name = f"{HERE}:OfBrokenKits"

    def certified_parts(self) -> Sequence[Part]:
        raised = ("OSError(24, 'Too many open files')", "ValueError('a kit of somebody')", "SystemExit(0)")
        return (*(Part("broken", each) for each in raised), Part("absent", "x"), Part("state-backend", "hashmap"))


def certified(folder: Path, system: str = "reference") -> tuple[int, Journal]:
    """Exit code and report of a certification that runs a few simulator cases and one rule of a kit."""
    code = cli.execute(["certify", system, *NARROWED, "--out", str(folder)])
    for name in ("report.html", "junit.xml", "summary.md"):
        assert (folder / "latest" / name).stat().st_size
    return code, read_journal(folder / "latest" / "results.json")


@pytest.fixture
def broken_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that registers a kit."""
    place = tmp_path / "installed"
    (place / "broken_kit-0.dist-info").mkdir(parents=True)
    (place / "broken_kit.py").write_text(KIT)
    (place / "broken_kit-0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-kit\nVersion: 0\n")
    (place / "broken_kit-0.dist-info" / "entry_points.txt").write_text("[holdfast.suites]\nbroken = broken_kit:SUITE\n")
    monkeypatch.syspath_prepend(place)
    entry_points.entries.cache_clear()
    yield
    entry_points.entries.cache_clear()


@pytest.mark.usefixtures("broken_kit")
def test_a_kit_that_breaks_loses_nothing(tmp_path: Path) -> None:
    """Whatever a kit raised behind all runs, a kit that is not installed among it, ended without a report."""
    code, journal = certified(tmp_path / "out", f"{HERE}:OfBrokenKits")
    assert code == 1
    assert {each.status for each in journal.cases} >= {Status.PASS}
    subjects = {each.subject: each for each in journal.subjects}
    parts = {each.factory: each for each in (*subjects["SB"].parts, *subjects["absent"].parts)}
    assert parts["hashmap"].title is not Title.INCONCLUSIVE
    assert parts["hashmap"].checks
    for factory, words in (
        ("OSError(24, 'Too many open files')", "the kit broke: OSError: [Errno 24] Too many open files"),
        ("ValueError('a kit of somebody')", "a kit of somebody"),
        ("SystemExit(0)", "raised SystemExit: 0"),
        ("x", "unknown kit 'absent'"),
    ):
        part = parts[factory]
        said = list(part.missing)
        if part.report:
            own = read_journal(tmp_path / "out" / "latest" / Path(part.report).with_name("results.json"))
            said += [each.reason for each in own.cases]
        assert any(words in sentence for sentence in said), said
    assert subjects["SB"].errors
    assert subjects["SB"].title is Title.REFUSED
    assert subjects["absent"].title is Title.INCONCLUSIVE


def test_a_full_disk_is_one_sentence_and_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each run that could not be stored was an error of its own, and the report came to nothing."""
    left = iter([1 << 40] * 2)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: Usage(next(left, 0)))
    code, journal = certified(tmp_path)
    assert code == 4
    assert journal.certificate.title is Title.INCONCLUSIVE
    assert sum(each.runs_passed for each in journal.cases) == 2
    errors = capsys.readouterr().err
    assert f"holdfast: the harness broke: {journal_folder(tmp_path)}: No space left on device; make room" in errors
    assert errors.count("No space left on device") == 1
    assert "Traceback" not in errors


def test_a_log_that_cannot_be_written_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ResultLog, "add", raising(OSError(errno.EIO, os.strerror(errno.EIO))))
    code, journal = certified(tmp_path)
    assert code == 4
    assert journal.runs
    assert capsys.readouterr().err.count("Input/output error") == 1


def test_each_result_is_on_disk_as_soon_as_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was on disk before the report."""
    seen: list[int] = []
    before = progress.CaseProgress.ran

    def ran(self: progress.CaseProgress, *arguments: object) -> None:
        (log,) = tmp_path.glob("*/results-0001.jsonl.gz")
        seen.append(sum(isinstance(each, result_log.LoggedRun) for each in result_log.read_log(log)))
        before(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(progress.CaseProgress, "ran", ran)
    certified(tmp_path)
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) > 1


def test_certifications_of_the_same_second_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both chose the same free name, and the second one failed."""
    names = iter([tmp_path / "1", tmp_path / "1", tmp_path / "2"])
    monkeypatch.setattr(reports, "free_folder", lambda root: next(names))
    assert [reports.new_folder(tmp_path) for _ in range(2)] == [tmp_path / "1", tmp_path / "2"]


class Usage(NamedTuple):
    """What is left of a disk."""

    free: int


def journal_folder(out: Path) -> Path:
    """The folder of the only report."""
    return (out / "latest").resolve()


def raising(error: BaseException) -> Callable[..., object]:
    """A function that raises."""

    def function(*_: object, **__: object) -> object:
        raise error

    return function


def test_a_certificate_that_ran_out_of_time_is_inconclusive(tmp_path: Path) -> None:
    """It was PARTIAL, with exit code 0."""
    out = str(tmp_path)
    code = cli.execute(["certify", "reference", *NARROWED, "--budget", "1ms", "--out", out])
    journal = read_journal(tmp_path / "latest" / "results.json")
    assert (code, journal.certificate.title) == (2, Title.INCONCLUSIVE)
    assert journal.certificate.unfinished


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
