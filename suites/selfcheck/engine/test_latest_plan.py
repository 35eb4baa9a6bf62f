"""What is kept for the latest plan is of that plan."""

from __future__ import annotations

from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.submitted_jobs import kept_for_the_latest_plan


def test_a_fact_is_worked_out_once_while_the_plan_is_the_same() -> None:
    asked: list[int] = []

    @kept_for_the_latest_plan
    def seed(plan: Plan) -> int:
        asked.append(plan.draw_seed)
        return plan.draw_seed

    one, other = draw_plan(1), draw_plan(2)
    assert [seed(plan) for plan in (one, one, other, other, one)] == [1, 1, 2, 2, 1]
    assert asked == [1, 2, 1]
