"""`holdfast mutants --table`: what is printed, and that it is the table."""

from __future__ import annotations

import json

import pytest

from holdfast.fixtures.mutants.deviations.steps import STEPS
from holdfast.harness import cli
from holdfast.harness.model.deviation import Deviation


def test_the_table_is_printed_with_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table"]) == 0
    printed = capsys.readouterr().out
    assert "cells are covered by" in printed
    for step in ("commit", "timer-restart"):
        assert step in printed


def test_a_row_is_printed_cell_by_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table", "commit"]) == 0
    printed = capsys.readouterr().out
    assert "commit early: TXN/committed-before-completion refutes commits-on-barrier on " in printed
    assert "commit partial: it carries nothing that has parts" in printed


def test_json_holds_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    counts = printed["counts"]
    assert counts["covered"] + counts["explained"] + counts["open"] == len(STEPS) * len(Deviation)


def test_a_row_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table", "comit"]) == 3
    assert "unknown step 'comit'" in capsys.readouterr().err
