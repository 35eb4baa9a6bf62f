"""Whether a mutant is fair: its committed output must be known to be right while nothing is broken."""

from __future__ import annotations

import pytest

from holdfast.harness.engine.exploration.mutation import objections_to_system
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.engine.scripted import Checkpoints, ScriptedOracle, ScriptedSystem, plan, toolbox

PASS, FAIL, INCONCLUSIVE = Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE
EXACT, NOLOSS = ScriptedOracle("EXACT"), ScriptedOracle("NOLOSS")


@pytest.mark.parametrize(
    ("oracles", "objection"),
    [
        ([EXACT, NOLOSS], ""),
        ([NOLOSS], ""),
        ([EXACT, ScriptedOracle("NOLOSS", INCONCLUSIVE, checked=0)], ""),
        ([EXACT, NOLOSS, ScriptedOracle("CUT", FAIL)], ""),
        ([EXACT, ScriptedOracle("NOLOSS", FAIL)], "NOLOSS does not pass on scripted, so it is a plain bug"),
        ([EXACT, ScriptedOracle("NOLOSS", INCONCLUSIVE)], "NOLOSS could not decide whether scripted is right: "),
        ([EXACT, ScriptedOracle("NOLOSS", ZeroDivisionError())], "NOLOSS could not decide whether scripted is right: "),
        ([ScriptedOracle("CUT")], "nothing judged what scripted committed"),
        ([ScriptedOracle("EXACT", INCONCLUSIVE, checked=0)], "nothing judged what scripted committed"),
    ],
    ids=["both", "one", "one-idle", "other-oracle", "fails", "cannot-tell", "crashes", "none-applies", "all-idle"],
)
def test_the_output_without_faults_must_be_judged_and_right(oracles: list[ScriptedOracle], objection: str) -> None:
    objections = objections_to_system(ScriptedSystem(Checkpoints()), plan(), toolbox(*oracles))
    assert len(objections) == (1 if objection else 0)
    assert objection in "".join(objections)


def test_a_run_with_a_problem_shows_nothing_whatever_its_verdicts() -> None:
    system = ScriptedSystem(Checkpoints())
    system.dead_after_ms = 150
    objections = objections_to_system(system, plan(), toolbox(EXACT, NOLOSS))
    assert objections == ["without faults scripted could not be judged: the adapter answered garbage"]
