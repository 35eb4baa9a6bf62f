"""The tables that diagrams are drawn from say what the runtime does: no step without a row, no row without a step."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import msgspec
import pytest

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.effects import JobRecord, Recovered
from holdfast.fixtures.reference.protocol.state_machines import CHECKPOINT, STATE_MACHINES
from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.cases.swarm_case import swarm_case
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.follow import Course, follow
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import EVENT_KINDS, CheckpointAborted, CheckpointCompleted, Event, JobStatus
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.state_machine import StateMachine
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.plans import TOLERANT, TWO_AT_ONCE, plan
from holdfast.suites.selfcheck.oracles.builder import story
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
    ("checkpoint", "published", "checkpoint_dropped"),
    ("checkpoint", "aborted", "metadata_published"),
    ("checkpoint", "aborted", "savepoint_completed"),
    ("checkpoint", "completed", "savepoint_completed"),
    ("subtask-checkpoint", "declined", "barrier_received"),
}
"""Rows that need a coordinator that dies between two writes, or a barrier that comes between two messages: about one
drawn plan in a thousand takes them, so they are not waited for here."""
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


def ended_before(*, failed: bool) -> History:
    """A coordinator begins to live when the job has failed or finished, which no run goes on long enough to show."""
    chosen = plan()
    configuration = REFERENCE.configure(chosen)
    master = REFERENCE.job_master(
        REFERENCE.graph(chosen, configuration), configuration, lambda: 0.5, REFERENCE.job_parts
    )
    ended = JobStatus.FAILED if failed else JobStatus.FINISHED
    effects = master.step(Recovered(JobRecord(1, 2, (0, 0), ended=ended), (0, 0), (), ()), 0.0)
    return story(*(effect for effect in effects if isinstance(effect, Event)))


@pytest.fixture(scope="module")
def courses() -> dict[str, list[Course]]:
    """Of every table, its course through every plan."""
    system = registry.system("reference")
    tools = msgspec.structs.replace(registry.toolbox(), oracles=())  # suites/conformance judges
    found: dict[str, list[Course]] = {machine.name: [] for machine in STATE_MACHINES}
    chosen_plans = (swarm_case(system).plan_for(seed) for seed in range(1, DRAWN))
    drawn = (chosen for chosen in chosen_plans if not starts_anew(chosen))
    runs = (run_plan(chosen, system, tools).history for chosen in chain(conformance_plans(), DIRECTED, drawn))
    for history in chain([ended_before(failed=True), ended_before(failed=False)], runs):
        for machine in STATE_MACHINES:
            found[machine.name].append(follow(machine, history))
    return found


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
    missing = [step for number, step in enumerate(machine.steps) if not taken[number]]
    assert not [step for step in missing if (machine.name, step.before, step.on) not in RARE]


@pytest.mark.parametrize("machine", STATE_MACHINES, ids=lambda machine: machine.name)
def test_the_table_is_whole(machine: StateMachine) -> None:
    assert {step.on for step in machine.steps} <= set(EVENT_KINDS)
    assert machine.good | machine.bad <= set(machine.states)
    assert len({(step.before, step.on, *sorted(step.where.items())) for step in machine.steps}) == len(machine.steps)


def test_a_step_that_no_row_allows_strays() -> None:
    history = legal_run()
    last = history.of(CheckpointCompleted)[-1].checkpoint
    aborted = CheckpointAborted(checkpoint=last, reason="expired", node="coordinator.0")
    events = [*history.events, aborted]
    wrong = History(history.plan, history.claims, history.inputs, history.output, events, history.end)
    machine = msgspec.structs.replace(CHECKPOINT, initial="drawn")  # The legal run does not tell of requests
    assert [state for state, event in follow(machine, wrong).strays if event is aborted] == ["completed"]
