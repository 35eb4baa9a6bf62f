"""Jobs that a user submits one after the other: each has the graph of its own program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.faults.user import command
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.edited_job import ADDED
from holdfast.harness.model.events import JobSubmitted, TaskStarted
from holdfast.harness.oracles.shared.submissions import Submissions
from holdfast.suites.conformance.plans import CHECKPOINTING, plan
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.replaced_runs import counting_run

RETAIN = {f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
LEFT = "checkpoint_retained"
LIMIT_S = 30.0


@pytest.mark.parametrize("tier", [Tier.SIM, pytest.param(Tier.PROCESS, marks=pytest.mark.tier("process"))])
@pytest.mark.parametrize(("next_edit", "runs_added"), [({}, [2]), ({"edit": "source->sum"}, [2, 3])])
def test_an_edited_program_is_that_of_one_job(
    next_edit: dict[str, int | str], runs_added: list[int], tier: Tier, tmp_path: Path
) -> None:
    thrice = plan(
        command("cancel", after_checkpoint=2),
        command("submit", {"edit": "source->sum"}, after_checkpoint=2, at_event=LEFT),
        command("cancel", after_checkpoint=20),
        command("submit", next_edit, after_checkpoint=20, at_event=LEFT),
        options=RETAIN,
    )
    # What they come to is not judged: oracles know the subtasks of the plan's own program. A run counts if it landed.
    unjudged = replace(registry.toolbox(), oracles=(ScriptedOracle("ALL"),))
    run = counting_run(thrice, registry.system("reference"), tier, tmp_path, tools=unjudged)
    assert all(run.history.end.faults_landed), run.reason
    job_of = Submissions(run.history).of
    started = run.history.of(TaskStarted)
    assert {job_of(event) for event in started} == {1, 2, 3}
    assert sorted({job_of(event) for event in started if event.subtask.startswith(ADDED)}) == runs_added


@pytest.mark.tier("process")
def test_a_job_that_begins_before_all_of_its_processes_is_the_work_of_its_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its coordinator told of it before the harness had recorded the effect: nothing had come of the fault."""
    replace_processes = Supervisor.replace

    def replace_slowly(supervisor: Supervisor, processes: Sequence[str]) -> None:
        replace_processes(supervisor, processes)
        assert supervisor.wait_for(lambda: any(isinstance(e, JobSubmitted) for e in supervisor.happened), LIMIT_S)

    monkeypatch.setattr(Supervisor, "replace", replace_slowly)
    again = plan(
        command("cancel", after_checkpoint=2),
        command("submit", after_checkpoint=2, at_event=LEFT),
        options=RETAIN,
    )
    run = counting_run(again, registry.system("reference"), Tier.PROCESS, tmp_path)
    assert all(run.history.end.faults_landed), run.reason
