"""A certification that is killed loses nothing that is finished: it goes on, and it can be reported as it is."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.artefacts.journal_file import read_journal
from holdfast.harness.engine.certification.begun import FILE
from holdfast.harness.engine.certification.result_log import LoggedRun, read_log
from holdfast.harness.model.journal import Title
from holdfast.suites.selfcheck.abuse.conftest import Invoke

RULES = ("--rule", "CRD-04", "--rule", "CRD-05", "--rule", "BAR-06", "--rule", "RST-01")


def finished(folder: Path) -> list[str]:
    """Runs that are on disk."""
    found = (each for path in folder.glob("results-*.jsonl.gz") for each in read_log(path))
    return [each.result.id for each in found if isinstance(each, LoggedRun)]


def test_a_killed_certification_is_reported_and_goes_on(
    invoke: Invoke, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a certification that was killed nothing was left but runs without a verdict."""
    out = tmp_path / "out"
    certifying = invoke("certify", "reference", "--tier", "sim", *RULES, "--out", out)
    certifying.wait_until(lambda: any(len(finished(each)) > 2 for each in out.glob("2*")))
    certifying.send(signal.SIGKILL)
    assert certifying.exit_code() == -signal.SIGKILL
    assert certifying.left() == []
    (folder,) = out.glob("2*")
    first = finished(folder)
    assert cli.execute(["report", str(folder)]) == 2
    half = read_journal(folder / "results.json")
    assert half.certificate.title is Title.INCONCLUSIVE
    assert any(f"holdfast certify --resume {folder}" in sentence for sentence in half.certificate.missing)
    assert sum(each.runs_passed + each.runs_failed + each.runs_inconclusive for each in half.cases) == len(first)
    assert cli.execute(["certify", "--resume", str(folder)]) == 0
    whole = read_journal(folder / "results.json")
    assert whole.certificate.title is not Title.INCONCLUSIVE
    assert whole.started == half.started
    assert not (folder / FILE).exists()
    runs = finished(folder)
    assert len(set(runs)) == len(runs) > len(first)
    capsys.readouterr()
    assert cli.execute(["certify", "--resume", str(folder)]) == 3
    assert "no certification was interrupted there" in capsys.readouterr().err


def test_only_the_same_code_and_settings_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "begun"
    folder.mkdir()
    (folder / FILE).write_text('{"identity":"other","request":{"command":"","system":"reference","folder":"."}}')
    assert cli.execute(["certify", "--resume", str(folder)]) == 3
    assert "its results are of other code" in capsys.readouterr().err
