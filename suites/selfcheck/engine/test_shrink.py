"""The shrinker: what it leaves is what matters, and it finds the same every time."""

from __future__ import annotations

from holdfast.harness.engine.exploration.shrink import attempted, shrink
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.plan import FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance import plans
from holdfast.suites.selfcheck.engine.scripted import (
    WORKER,
    Checkpoints,
    ScriptedOracle,
    ScriptedSystem,
    plan,
    toolbox,
)


def needs_a_late_kill(candidate: Plan) -> bool:
    return any(spec.kind == "kill" and spec.schedule.after_checkpoint >= 2 for spec in candidate.faults) and (
        int(candidate.workload.parameters.get("records", 0)) >= 7
    )


BIG = plan(
    FaultSpec("cut", duration_ms=5, parameters={"delay_ms": 9}),
    FaultSpec("kill", WORKER, Schedule(after_checkpoint=5, after_rows=3, gate=Gate("commit", WORKER, 3))),
    FaultSpec("kill", WORKER, Schedule(at_event="rows_visible")),
    options={"a": "1", "b": "2"},
    workload=WorkloadSpec("tiny", {"records": 100, "skew": "zipf"}),
)


def test_it_leaves_what_reproduces_and_nothing_else() -> None:
    small = shrink(BIG, needs_a_late_kill)
    assert small.faults == (FaultSpec("kill", WORKER, Schedule(after_checkpoint=2)),)
    assert small.options == {}
    assert small.topology.parallelism == 1
    assert small.workload.parameters == {"records": 7, "skew": "zipf"}


def test_it_is_deterministic_and_bounded() -> None:
    tried: list[int] = []
    assert shrink(BIG, needs_a_late_kill) == shrink(BIG, needs_a_late_kill, progress=tried.append)
    assert tried == list(range(1, len(tried) + 1))
    stopped: list[int] = []
    shrink(BIG, needs_a_late_kill, tries=4, progress=stopped.append)
    assert stopped == [1, 2, 3, 4]


def test_a_plan_that_nothing_smaller_reproduces_stays() -> None:
    assert shrink(BIG, lambda candidate: False) == BIG


def test_a_plan_that_cannot_run_is_none_to_look_at() -> None:
    system = ScriptedSystem(Checkpoints())
    tools = toolbox(ScriptedOracle("F", Outcome.FAIL))
    assert attempted(plan(), system, tools) is not None
    assert attempted(plan(FaultSpec("kill", WORKER, duration_ms=3)), system, tools) is None


def test_drawn_plans_can_be_shrunk_to_nothing() -> None:
    drawn = draw_plan(11)
    small = shrink(drawn, lambda candidate: True, tries=1_000)
    assert (small.faults, small.options, small.topology.parallelism) == ((), {}, 1)
    assert set(small.workload.parameters.values()) == {0}


def test_a_smaller_plan_that_breaks_the_harness_is_none() -> None:
    """Without its partition the poison is one of nothing; that ended a certification before its report."""
    poison = FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"partition": 1, "offset": 0})
    asked = plans.plan(poison, records={"records": 20, "partitions": 1})
    assert attempted(asked, registry.system("reference"), registry.toolbox()) is None
