"""A state backend of somebody else's keeps the state of the reference runtime, whatever the plan configures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.faults.process import kill
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import DELAYED_SUM, KEYED_SUM
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import WORKERS, plan
from holdfast.suites.selfcheck.replaced_runs import counting_run

STRANGER = "holdfast.suites.certify.scaffolds.state_backend.right:Backend"


@pytest.fixture
def runtime() -> Any:
    return registry.system(f"reference+state-backend={STRANGER}")


@pytest.mark.tier("process")
def test_a_right_one_is_exact_under_faults_and_no_option_is_wrong(runtime: Any, tmp_path: Path) -> None:
    faults = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))
    run = counting_run(plan(*faults, job=KEYED_SUM), runtime, Tier.PROCESS, tmp_path)
    verdicts = {verdict.oracle: verdict.outcome for verdict in run.verdicts}
    assert Outcome.FAIL not in verdicts.values(), run.reason
    assert (verdicts["EXACT"], verdicts["CONFIG"]) == (Outcome.PASS, Outcome.PASS)


def test_a_job_that_needs_what_it_does_not_declare_is_not_applicable(runtime: Any) -> None:
    objection = runtime.objection(plan(job=DELAYED_SUM), Tier.PROCESS)
    assert objection.endswith(f"needs timers, which state backend {STRANGER} does not declare.")
    assert runtime.objection(plan(job=KEYED_SUM), Tier.PROCESS) == ""
