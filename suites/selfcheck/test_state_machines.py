"""The tables that diagrams are drawn from say what the runtime does: no step without a row, no row without a step."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import chain

import msgspec
import pytest

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.fixtures.reference.protocol.effects import Effects, RecoverFailed
from holdfast.fixtures.reference.protocol.job import job_state
from holdfast.fixtures.reference.protocol.job.job_master import JobMaster
from holdfast.fixtures.reference.protocol.state_machines import (
    CHECKPOINT,
    JOB,
    STATE_MACHINES,
    TASK,
    Position,
    RefusedStep,
)
from holdfast.fixtures.reference.protocol.tasks import task_info
from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.cases.swarm_case import swarm_case
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.pictures.of_runs import Course, follow
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import EVENT_KINDS, CheckpointAborted, CheckpointCompleted, Event, NodeDied
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.state_machine import StateMachine, Step
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import RESTART, TOLERANT, TWO_AT_ONCE, WORKERS, plan
from holdfast.suites.conformance.recovery import REGION
from holdfast.suites.selfcheck.job_walk import JobWalk
from holdfast.suites.selfcheck.oracles.legal import legal_run

pytestmark = pytest.mark.xdist_group("courses")
"""All of them look at what was run once."""
DIRECTED = (
    plan(storage_error("persist-job-record", after_checkpoint=1)),
    plan(
        storage_error("read-metadata", after_checkpoint=1),
        kill(COORDINATOR, after_checkpoint=2),
        options={"execution.checkpointing.num-retained": "2"},
    ),
    plan(
        slow_storage("publish-metadata", 60, 60, 1, after_checkpoint=1),
        storage_error("delete", 300, {"occurrences": 9}, after_checkpoint=2),
        kill(COORDINATOR, after_checkpoint=4),
        options={**TWO_AT_ONCE, **TOLERANT},
        records={"records": 240},
    ),
)
"""Steps that no case has a reason to take: an id that is not durable, a store that cannot be read at first, metadata of
an aborted checkpoint that could not be deleted and is found again."""
RARE = {
    ("job", "deploying", "job_switched", "finished"),
    ("checkpoint", "published", "checkpoint_dropped", "dropped"),
    ("checkpoint", "aborted", "metadata_published", "completed"),
    ("checkpoint", "aborted", "savepoint_completed", "completed"),
    ("checkpoint", "completed", "savepoint_completed", "completed"),
    ("subtask-checkpoint", "declined", "barrier_received", "declined"),
}
"""Rows that need a coordinator that dies between two writes, or a barrier that comes between two messages: about one
drawn plan in a thousand takes them, so they are not waited for here. The job: a region that had finished is deployed
again while the last subtask of another one ends."""
REPEATS_ITSELF = "long-runs/ten-thousand"
"""What it does ten thousand times, seven days do six hundred times on a wider job."""
DRAWN = 40
PLANS_OF_A_CASE = 4


def starts_anew(chosen: Plan) -> bool:
    """Whether a second job draws ids of the first again, because it starts empty or from an older savepoint, or the
    first was ended in the middle of a checkpoint: a table follows two in one then."""
    submitted = [spec for spec in chosen.faults if spec.kind == "submit"]
    torn = any(spec.kind in ("cancel", "suspend") and spec.schedule.at_event for spec in chosen.faults)
    return any(torn or spec.parameters.get("restore", 1) != 1 for spec in submitted)


def conformance_plans() -> list[Plan]:
    """Every plan of a case that the reference runtime can be asked on the simulator."""
    return [
        case.plan_for(number)
        for case in registry.cases()
        if Tier.SIM in case.tiers and not is_control(case) and case.id != REPEATS_ITSELF
        for number in range(min(case.runs, PLANS_OF_A_CASE))
        if case.plan_for(number).system == "reference" and not starts_anew(case.plan_for(number))
    ]


WALKS = 200
WALKED = (
    plan(),
    plan(job=FORWARD, options=REGION),
    plan(options={f"{RESTART}.fixed-delay.attempts": "2"}),
)


@cache
def walked() -> Course:
    """The course of a job through its table, in orders that no plan has the luck to meet."""
    base, found = legal_run(), Course()
    for seed in range(WALKS):
        events = JobWalk(WALKED[seed % len(WALKED)], seed).run()
        course = follow(JOB, History(base.plan, base.claims, base.inputs, base.output, events, base.end))
        found.taken += course.taken
        found.strays += course.strays
    return found


@pytest.fixture(scope="module")
def courses() -> dict[str, list[Course]]:
    """Of every table, its course through every plan."""
    system = registry.system("reference")
    tools = msgspec.structs.replace(registry.toolbox(), oracles=())  # suites/conformance judges
    found: dict[str, list[Course]] = {machine.name: [] for machine in STATE_MACHINES}
    chosen_plans = (swarm_case(system).plan_for(seed) for seed in range(1, DRAWN))
    drawn = (chosen for chosen in chosen_plans if not starts_anew(chosen))
    runs = (run_plan(chosen, system, tools).history for chosen in chain(conformance_plans(), DIRECTED, drawn))
    found[JOB.name].append(walked())
    for history in runs:
        for machine in STATE_MACHINES:
            found[machine.name].append(follow(machine, history))
    return found


def missing(machine: StateMachine, taken: Counter[int]) -> list[Step]:
    """Rows that should have been taken."""
    left = [step for number, step in enumerate(machine.steps) if not taken[number]]
    return [step for step in left if (machine.name, step.before, step.on, step.after) not in RARE]


@pytest.mark.parametrize("machine", STATE_MACHINES, ids=lambda machine: machine.name)
@pytest.mark.nightly
def test_every_step_is_in_the_table(machine: StateMachine, courses: dict[str, list[Course]]) -> None:
    strays = {
        (state, type(event).__name__): event for course in courses[machine.name] for state, event in course.strays
    }
    assert not strays


@pytest.mark.parametrize("machine", STATE_MACHINES, ids=lambda machine: machine.name)
@pytest.mark.nightly
def test_every_row_is_taken(machine: StateMachine, courses: dict[str, list[Course]]) -> None:
    taken = sum((course.taken for course in courses[machine.name]), Counter[int]())
    assert not missing(machine, taken)


@pytest.mark.parametrize("machine", STATE_MACHINES, ids=lambda machine: machine.name)
def test_the_table_is_whole(machine: StateMachine) -> None:
    assert {step.on for step in machine.steps} <= set(EVENT_KINDS)
    assert machine.good | machine.bad <= set(machine.states)
    assert len({(step.before, step.on, *sorted(step.where.items())) for step in machine.steps}) == len(machine.steps)


def test_no_order_of_answers_leads_a_job_out_of_its_table() -> None:
    course = walked()
    assert not course.strays
    assert not missing(JOB, course.taken)


class RestartsWhatEnds(JobMaster):
    """A store that cannot be read fails a job that a user has ended, too."""

    def on_recover_failed(self, event: RecoverFailed, now: float) -> Effects:
        return self.recovery.fail(event.reason) + self.fail(event.reason, now)


def test_a_step_that_a_job_must_not_take_is_refused() -> None:
    def walk() -> None:
        for seed in range(WALKS):
            JobWalk(WALKED[0], seed, RestartsWhatEnds).run()

    with pytest.raises(RefusedStep, match="the job is cancelling, and no row of its table allows FailureCounted"):
        walk()


def shown(step: Step) -> Event:
    """An event that shows a step of a job or of a subtask."""
    kind = EVENT_KINDS[step.on]
    fields = {"cause": "it failed", "subtask": "sum[0]", "reason": "it failed", **step.where}
    known = {name: fields[name] for name in kind.__struct_fields__ if name in fields}
    return msgspec.convert({"kind": step.on, **known}, kind)


EXECUTED = [(machine, number) for machine in (JOB, TASK) for number in range(len(machine.steps))]


@pytest.mark.parametrize(("machine", "number"), EXECUTED, ids=lambda each: getattr(each, "name", str(each)))
def test_a_step_whose_row_is_missing_is_refused(machine: StateMachine, number: int) -> None:
    step = machine.steps[number]
    event = shown(step)
    position = Position(msgspec.structs.replace(machine, initial=step.before))
    assert (position.take(event), position.at) == (event, step.after)
    without = machine.steps[:number] + machine.steps[number + 1 :]
    position = Position(msgspec.structs.replace(machine, initial=step.before, steps=without))
    with pytest.raises(RefusedStep, match=f"the {machine.name} is {step.before}, and no row of its table allows"):
        position.take(event)
    assert position.at == step.before


@pytest.mark.parametrize(("machine", "on"), [(JOB, "failure_counted"), (TASK, "task_stopped")])
def test_the_runtime_takes_no_step_whose_row_is_missing(
    machine: StateMachine, on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that would take it dies of that."""
    known = tuple(step for step in machine.steps if (step.before, step.on) != ("running", on))
    short = msgspec.structs.replace(machine, steps=known)
    monkeypatch.setattr(job_state if machine is JOB else task_info, machine.name.upper(), short)
    run = run_plan(plan(kill(WORKERS[1], after_checkpoint=1)), registry.system("reference"), registry.toolbox())
    refused = f"RefusedStep: the {machine.name} is running, and no row of its table allows"
    assert any(refused in died.cause for died in run.history.of(NodeDied))
    assert run.outcome is not Outcome.PASS


def test_a_step_that_no_row_allows_strays() -> None:
    history = legal_run()
    last = history.of(CheckpointCompleted)[-1].checkpoint
    aborted = CheckpointAborted(checkpoint=last, reason="expired", node="coordinator.0")
    events = [*history.events, aborted]
    wrong = History(history.plan, history.claims, history.inputs, history.output, events, history.end)
    machine = msgspec.structs.replace(CHECKPOINT, initial="drawn")  # The legal run does not tell of requests
    assert [state for state, event in follow(machine, wrong).strays if event is aborted] == ["completed"]
