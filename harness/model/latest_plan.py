"""What follows from a plan, kept while the same plan is asked about."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from holdfast.harness.model.plan import Plan

Fact = TypeVar("Fact")


def kept_for_the_latest_plan(fact: Callable[[Plan], Fact]) -> Callable[[Plan], Fact]:
    """Keep the fact of the latest plan: a run asks for it some hundred times.

    The plan is known by its identity, since to hash one takes longer than most facts. It is a value: nobody changes it.
    """
    latest: tuple[Plan, Fact] | None = None

    @wraps(fact)
    def kept(plan: Plan) -> Fact:
        nonlocal latest
        found = latest  # once, since another thread may run another plan
        if found is None or found[0] is not plan:
            found = latest = (plan, fact(plan))
        return found[1]

    return kept
