"""What a system reported of its checkpoints, as the journal keeps it."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.checkpoint_history import MOST_CHECKPOINTS, checkpoint_history
from holdfast.harness.model.checkpoint_history import CheckpointHistory, ReportedStatus
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.observability import TROUBLED
from holdfast.suites.conformance.plans import WORKERS, gate, plan
from holdfast.suites.selfcheck.oracles.legal import legal_run


def history_of(chosen: Plan) -> History:
    return run_plan(chosen, registry.system("reference"), registry.toolbox()).history


def recorded(chosen: Plan) -> CheckpointHistory:
    found = checkpoint_history(history_of(chosen))
    assert found is not None
    return found


def test_every_checkpoint_is_told_with_its_subtasks() -> None:
    found = recorded(TROUBLED)
    failed = [each for each in found.checkpoints if each.status is ReportedStatus.FAILED]
    assert [each.reason for each in failed][:1] == ["declined"]
    for each in found.checkpoints:
        assert len(each.parts) == 6
        if each.status is ReportedStatus.COMPLETED:
            assert all(part.acknowledged for part in each.parts)
            assert each.full_bytes == sum(part.full_bytes for part in each.parts)
    assert sum(found.counts.values()) == len(found.checkpoints)
    assert [restore.path for restore in found.restores] == ["checkpoints/job-0/chk-3/_metadata"]


def test_what_was_in_progress_when_its_coordinator_died_is_lost() -> None:
    died = plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0])))
    assert recorded(died).counts[ReportedStatus.LOST] == 1


def test_of_many_the_first_are_left_out() -> None:
    options = {"execution.checkpointing.interval": "10 ms"}
    found = recorded(plan(options=options, records={"records": 2_000, "records_per_second": 400}))
    assert len(found.checkpoints) == MOST_CHECKPOINTS
    assert found.left_out == sum(found.counts.values()) - MOST_CHECKPOINTS > 0


def test_a_system_that_reports_nothing_has_no_history() -> None:
    assert checkpoint_history(legal_run()) is None
