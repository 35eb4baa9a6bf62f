"""Code under test that calls `sys.exit(0)`: never a success, never silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.faults.process import kill
from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.json_files import read_journal, write_plan
from holdfast.harness.model.journal import Status
from holdfast.suites.conformance.plans import WORKERS, plan
from holdfast.suites.selfcheck.abuse.leaver import IN_A_RUN, MOMENTS
from holdfast.suites.selfcheck.engine.test_plugin import run_pytest

LEAVER = "holdfast.suites.selfcheck.abuse.leaver:Leaver"
RULE = "BAR-01"
LEFT = "raised SystemExit: 0 ("
BROKEN_MODULES = {
    "sys.exit(0)": "SystemExit: 0 (",
    "raise BaseException('no')": "BaseException: no (",
    "1 // 0": "ZeroDivisionError: ",
    "import nothing_of_that_name": "ModuleNotFoundError: No module named 'nothing_of_that_name' (",
    "System = = 3": "SyntaxError: invalid syntax",
    "raise ValueError('two\\nlines')": "ValueError: two lines (",
}


def one_sentence(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("holdfast: ")
    assert said.err.count("\n") == 1
    return said.err


@pytest.mark.parametrize("line", BROKEN_MODULES)
@pytest.mark.parametrize("command", ["certify", "campaign", "run"])
@pytest.mark.share(5)
def test_a_module_that_does_not_import_is_one_sentence(
    line: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken_module.py").write_text(f"import sys\n{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    write_plan(tmp_path / "plan.json", plan())
    what = [str(tmp_path / "plan.json"), "--system"] if command == "run" else []
    assert execute([command, *what, "broken_module:System", "--out", str(tmp_path / "out")]) == 3
    sentence = one_sentence(capsys)
    assert BROKEN_MODULES[line] in sentence
    assert not (tmp_path / "out").exists()


def test_a_constructor_that_leaves_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["certify", f"{LEAVER}+constructor", "--out", str(tmp_path / "out")]) == 3
    assert "SystemExit: 0 (leaver.py:" in one_sentence(capsys)


@pytest.mark.parametrize("jobs", ["2", pytest.param("1", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("moment", MOMENTS[1:])
@pytest.mark.share(9)
def test_a_certification_is_in_error(
    moment: str, jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    narrowed = ["--tier", "sim", "--rule", RULE, "--jobs", jobs, "--out", str(tmp_path)]
    assert execute(["certify", f"{LEAVER}+{moment}", *narrowed]) == 4
    said = " ".join("".join(capsys.readouterr()).split())
    assert LEFT in said
    assert "Traceback" not in said
    if moment not in ("account", "objection", "evidence"):  # Without these there is no list of cases, and no report.
        journal = read_journal(tmp_path / "latest" / "results.json")
        assert {result.status for result in journal.cases if result.rules} >= {Status.ERROR}


@pytest.mark.parametrize("moment", IN_A_RUN)
def test_a_run_is_a_harness_error_in_one_sentence(
    moment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plan(tmp_path / "plan.json", plan(kill(WORKERS[0], after_checkpoint=1)))
    command = ["run", str(tmp_path / "plan.json"), "--tier", "sim", "--out", str(tmp_path / "out")]
    assert execute([*command, "--system", f"{LEAVER}+{moment}"]) == 4
    assert LEFT in one_sentence(capsys)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.share(2)
def test_a_campaign_raises_an_alarm(jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    what = ["--seeds", "1-2", "--jobs", jobs, "--out", str(tmp_path)]
    assert execute(["campaign", f"{LEAVER}+advance", *what]) == 4
    assert LEFT in capsys.readouterr().out


UNDER_PYTEST = """
import pytest
from holdfast.harness.plugin import case_parameters

@pytest.mark.parametrize(
    ("case", "tier"),
    case_parameters("reference", lambda case: case.id == "BARRIERS/aligned" or "BAR-01" in str(case.decides))[:1],
)
def test_case(case, tier, run_case):
    run_case("LEAVER", case, tier)
"""


@pytest.mark.parametrize("moment", ["constructor", "account", "deploy", "advance"])
@pytest.mark.share(4)
def test_a_test_under_pytest_fails(moment: str, tmp_path: Path) -> None:
    code, said = run_pytest(tmp_path, "-k", "sim", body=UNDER_PYTEST.replace("LEAVER", f"{LEAVER}+{moment}"))
    assert code == 1, said
    assert "1 failed" in said
    assert "SystemExit: 0 (leaver.py:" in said
