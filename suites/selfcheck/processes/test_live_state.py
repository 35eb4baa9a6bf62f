"""A snapshot that is written from live state is caught on real processes too, where state is columns (RULES ASY-02)."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import CHECKPOINTING, STATE_IN_FILES, WORKERS, plan
from holdfast.suites.selfcheck.replaced_runs import counting_run

PLAN = plan(
    slow_storage("write-state", 60, 8_000),
    kill(WORKERS[0], after_checkpoint=3),
    options={**STATE_IN_FILES, f"{CHECKPOINTING}.interval": "250 ms"},
    records={"records": 2_000, "records_per_second": 500, "preloaded_percent": 0},
)
"""Each write begins 60 ms behind its cut, and records come until well after the kill."""


@pytest.mark.parametrize(("variant", "refuting"), [("E1", {"CUT", "RESTORE"}), ("", set())])
@pytest.mark.share(2)
def test_only_live_state_is_refuted(variant: str, refuting: set[str], tmp_path: Path) -> None:
    run = counting_run(PLAN, ReferenceSystem(variant), Tier.PROCESS, tmp_path, Window.RESTORED_STATE)
    failed = {verdict.oracle for verdict in run.verdicts if verdict.outcome is Outcome.FAIL}
    assert bool(failed & refuting) if refuting else not failed, (run.outcome, run.reason, failed)
