"""The jobs of a plan: the one that it begins with, and those that a user submits later."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from holdfast.harness.model.plan import Plan, Topology

SUBMIT, PARALLELISM, EDIT = "submit", "parallelism", "edit"
"""The one command that no job master takes: a fresh cluster works for the next job, and with a parameter `restore` of 1
restores the latest checkpoint that the last one has left. A parameter `edit` names the edge that has a new operator,
and `parallelism` says how wide it is, if not as the last."""


@lru_cache(maxsize=64)
def _topologies(first: Topology, asked: tuple[int, ...]) -> tuple[Topology, ...]:
    return (first, *(replace(first, parallelism=width) for width in asked))


def topologies(plan: Plan) -> tuple[Topology, ...]:
    """By job, how wide it is. A job that is submitted without a word is as wide as the one before it."""
    asked: list[int] = []
    width = plan.topology.parallelism
    for fault in plan.faults:
        if fault.kind == SUBMIT:
            width = int(fault.parameters.get(PARALLELISM, 0)) or width
            asked.append(width)
    return _topologies(plan.topology, tuple(asked))


def edited_edges(plan: Plan) -> tuple[str, ...]:
    """By job, the edge that has a new operator; empty: it is as the plan says."""
    return ("", *(str(fault.parameters.get(EDIT, "")) for fault in plan.faults if fault.kind == SUBMIT))


def most_workers(plan: Plan) -> int:
    """As many as the widest of its jobs needs."""
    return max(topology.parallelism for topology in topologies(plan))
