"""A night from its settings to its report: what failed is one signature, run again, resumed, waived."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.engine.cases.swarm_case import swarm_case
from holdfast.harness.engine.certification import certify
from holdfast.harness.engine.certification.begun import FILE as BEGUN
from holdfast.harness.engine.nights.night_folder import read_night
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.finding import Signature
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.night import Night, SystemNight
from holdfast.harness.spi.system import System

DRAWN = 3
WRONG = "reference+D1"
"""A task that is cancelled deletes state files that it has acknowledged already."""


pytestmark = pytest.mark.xdist_group("nights")
"""One process finishes a night for all."""


def make_small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the plan that the wrong system is known by, and a few drawn ones on each tier."""
    (known,) = (each for each in registry.mutants() if each.name == "D1")
    decided = (each for case in registry.cases() for each in case.decides)
    decisions = (each for each in decided if each.oracle == "REACH" and "file-missing" in each.clauses)
    said = "as the test says"
    decides = (next(decisions),)
    directed = Case(id="directed/D1", purpose=said, method=said, passes=said, decides=decides, plan=known.plan, runs=2)

    def cases(system: System, drawn_on: Iterable[Tier] = ()) -> tuple[Case, ...]:
        drawn = (swarm_case(system, tier) for tier in drawn_on if tier is Tier.SIM)
        return (directed, *(msgspec.structs.replace(each, windows=()) for each in drawn))

    monkeypatch.chdir(folder)
    monkeypatch.setattr(certify, "cases_for", cases)
    monkeypatch.setattr(certify, "MANY", DRAWN)


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a finished night."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        make_small(folder, patch)
        assert nightly("--reruns", "0") == 1
    return folder / "nights"


@pytest.fixture
def finished(whole: Path) -> None:
    """It is the last night here."""
    shutil.copytree(whole, "nights", symlinks=True)


def nightly(*more: str, system: str = WRONG) -> int:
    arguments = ["--system", system, "--tier", "sim", "--budget", "10min", "--jobs", "1", "--seed", "7"]
    return cli.execute(["nightly", *arguments, "--out", "nights", *more])


def the_night(out: Path = Path("nights")) -> Night:
    return read_night(out / "latest" / "night.json")


def found(night: Night) -> SystemNight:
    (system,) = night.systems
    return system


def test_a_wrong_system_is_one_signature_that_reruns_show_again() -> None:
    assert nightly("--reruns", "2") == 1
    night = the_night()
    system = found(night)
    assert (night.seed, night.interrupted, system.title.value) == (7, "", "REFUSED")
    signatures = [each.signature for each in system.findings]
    assert len(signatures) == len(set(signatures)) > 0
    assert [each.clause.partition("/")[0] for each in signatures] == ["REACH"]
    assert system.findings[0].runs >= 2
    first = system.findings[0]
    assert first.reruns is not None
    assert first.reruns.of == 2
    assert first.reruns.shown > 0
    assert first.runs >= 1
    assert sum(each.drawn for each in system.runs) >= 1
    assert sum(system.faults_planned.values()) >= sum(system.faults_landed.values()) > 0
    check_reports(signatures[0])


def check_reports(signature: Signature) -> None:
    """They are there and name the finding."""
    folder = Path("nights/latest")
    for name in ("report.html", "summary.md", "junit.xml", "ctrf.json", "night.json", "reference+D1/report.html"):
        assert (folder / name).stat().st_size > 0, name
    assert list((folder / "allure-results").glob("*-result.json"))
    assert signature.clause.partition("/")[0] in (folder / "summary.md").read_text()
    assert signature.clause in (folder / "report.html").read_text()
    assert signature.label in Path("nights/trend.html").read_text()


@pytest.mark.usefixtures("finished")
def test_the_commands_of_the_summary_work_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("nights/latest")
    written = Path("summary.md").read_text()
    assert "\nPaste commands in the folder of this file.\n" in written
    commands = re.findall(r"^holdfast .*", written, re.MULTILINE)
    assert len(commands) == len(found(the_night(Path(".."))).findings) > 0
    assert [cli.execute(shlex.split(each)[1:]) for each in commands] == [1] * len(commands)


def test_the_reference_passes_and_the_next_night_gets_a_folder_of_its_own() -> None:
    assert nightly(system="reference") == 0
    assert nightly(system="reference") == 0
    assert found(the_night()).findings == ()
    first, second = sorted(path.name for path in Path("nights").iterdir() if path.is_dir() and not path.is_symlink())
    assert second == f"{first}-2"


def interrupt_after(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a signal end the night after so many runs."""
    seen = 0
    before = CaseProgress.ran

    def ran(self: CaseProgress, result: RunResult, kept: RunResult | None) -> None:
        nonlocal seen
        seen += 1
        before(self, result, kept)
        if seen == runs:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(CaseProgress, "ran", ran)


@pytest.mark.parametrize("runs", [1, 2, 4], ids=["within a case", "at its end", "within drawn plans"])
@pytest.mark.share(3)
def test_an_interrupted_night_reports_and_goes_on_with_what_it_has(
    runs: int, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        interrupt_after(runs, patched)
        assert nightly("--reruns", "0") == 128 + signal.SIGTERM
    half = the_night()
    assert half.interrupted == "SIGTERM"
    assert found(half).total_runs == runs
    assert (Path("nights/latest") / BEGUN).exists()
    assert (Path("nights/latest") / "report.html").exists()
    executed: list[str] = []
    before = CaseProgress.ran

    def ran(self: CaseProgress, result: RunResult, kept: RunResult | None) -> None:
        executed.append(result.id)
        before(self, result, kept)

    with monkeypatch.context() as patched:
        patched.setattr(CaseProgress, "ran", ran)
        assert nightly("--reruns", "0") == 1
    resumed = the_night()
    assert resumed.name == half.name
    assert not (Path("nights/latest") / BEGUN).exists()
    at_once = found(the_night(whole))
    assert len(executed) == at_once.total_runs - runs
    assert len(set(executed)) == len(executed)
    again = found(resumed)
    assert [(each.passed, each.failed, each.inconclusive) for each in again.runs] == [
        (each.passed, each.failed, each.inconclusive) for each in at_once.runs
    ]
    assert [each.signature for each in again.findings] == [each.signature for each in at_once.findings]
    assert (again.rules, again.windows_hit, again.faults_landed) == (
        at_once.rules,
        at_once.windows_hit,
        at_once.faults_landed,
    )


def test_another_seed_does_not_go_on_with_an_interrupted_night(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        interrupt_after(2, patched)
        nightly("--reruns", "0")
    first = the_night()
    nightly("--reruns", "0", "--seed", "8")
    assert the_night().name == f"{first.name}-2"


def waivers(*, expires: str) -> str:
    labels = [each.signature.label for each in found(the_night()).findings]
    tables = (f'[[waivers]]\nsignature = "{label}"\nreason = "ticket 41"\nexpires = {expires}\n' for label in labels)
    Path("holdfast.toml").write_text("\n".join(tables))
    return labels[0]


@pytest.mark.nightly
def test_a_waived_finding_is_listed_and_does_not_fail_the_night_until_it_expires(
    finished: None, capsys: pytest.CaptureFixture[str]
) -> None:
    label = waivers(expires="2999-12-31")
    assert nightly("--reruns", "0") == 0
    system = found(the_night())
    assert label in [each.signature.label for each in system.findings]
    assert all(each.waived is not None and each.waived.reason == "ticket 41" for each in system.findings)
    assert system.title.value != "REFUSED"
    assert "FAIL" not in system.rules.values()
    assert "WAIVED" in system.rules.values()
    page = (Path("nights/latest/reference+D1") / "report.html").read_text()
    assert "waived until 2999-12-31: ticket 41" in page
    assert "<failure" not in Path("nights/latest/junit.xml").read_text()
    label = waivers(expires="2020-01-01")
    assert nightly("--reruns", "0") == 1
    assert f"The waiver of {label} expired on 2020-01-01 (ticket 41): renew or remove it." in capsys.readouterr().out
    assert all(each.waived is not None and each.waived.expired for each in found(the_night()).findings)
    assert found(the_night()).title.value == "REFUSED"


@pytest.mark.nightly
def test_a_certificate_is_partial_where_all_that_refutes_it_is_waived(
    finished: None, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["certify", WRONG, "--tier", "sim", "--jobs", "1", "--out", "out"]
    assert cli.execute(words) == 1
    waivers(expires="2999-12-31")
    assert cli.execute([*words, "--waivers", "holdfast.toml"]) == 0
    shown = capsys.readouterr().out
    assert "WAIVED" in shown
    assert "waived until 2999-12-31: ticket 41" in " ".join(shown.split())
    label = waivers(expires="2020-01-01")
    assert cli.execute([*words, "--waivers", "holdfast.toml"]) == 1
    assert f"The waiver of {label} expired on 2020-01-01" in " ".join(capsys.readouterr().err.split())


def test_a_file_that_waives_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("holdfast.toml").write_text('systems = ["reference"]\n')
    assert cli.execute(["certify", WRONG, "--tier", "sim", "--waivers", "holdfast.toml"]) == cli.WRONG_USAGE
    assert "holdfast.toml waives nothing" in capsys.readouterr().err
