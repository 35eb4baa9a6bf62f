"""On the simulator and on processes: gates in the middle of a storage operation, and snapshots from live state."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.events import CheckpointAborted, CheckpointCompleted, NodeDied
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import CHECKPOINTING, STATE_IN_FILES, TOLERANT, WORKERS, gate, plan
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run

SECOND_MIDDLE = plan(
    storage_error("publish-metadata", 400, {"occurrences": 1}, after_checkpoint=1),
    kill(COORDINATOR, after_checkpoint=1, gate=gate("during-publish-metadata", COORDINATOR, occurrence=2)),
    options=TOLERANT,
    records={"records": 240},
)
"""One publication fails before it writes anything; of those behind it, the second is held where half of it is there."""


@pytest.mark.parametrize("tier", [Tier.SIM, Tier.PROCESS])
def test_a_gate_counts_the_operations_that_reach_their_middle(tier: Tier, tmp_path: Path) -> None:
    run = counting_run(SECOND_MIDDLE, ReferenceSystem(), tier, tmp_path)
    assert_passes(run)
    assert "coordinator.0" in {event.dead_node for event in run.history.of(NodeDied)}
    (failed, *_) = (event.checkpoint for event in run.history.of(CheckpointAborted) if event.node == "coordinator.0")
    behind = [
        event.checkpoint
        for event in run.history.of(CheckpointCompleted)
        if event.node == "coordinator.0" and event.checkpoint > failed
    ]
    assert len(behind) == 1, "the first that reached its middle went on"


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
