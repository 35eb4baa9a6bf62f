"""Exhibits of LIVE."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import AttemptStarted
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.judging import BY_NAME, check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("LIVE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_an_end_is_not_owed_whose_fault_never_acted() -> None:
    for landed, outcome in ((None, Outcome.INCONCLUSIVE), (False, Outcome.FAIL), (True, Outcome.FAIL)):
        assert BY_NAME["LIVE"].judge(killed(landed)).outcome is outcome


def killed(landed: bool | None) -> History:
    """One kill, from which the job was to fail and did not."""
    end = RunEnd(reached=False, reason="the job did not fail", faults_landed=(landed,))
    return story(AttemptStarted(), faults=(FaultSpec("kill"),), expected=ExpectedEnd.FAILED, end=end)


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("LIVE")
