"""The jobs of a plan: the one that it begins with, those that a user submits later, and how wide each may become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import TypeVar

from holdfast.harness.model.edited_job import edited
from holdfast.harness.model.job import Job
from holdfast.harness.model.plan import Plan, Topology

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


_MOST = 32_768
STOP = "stop"
"""The command with which a job finishes whose input does not end."""
RESCALE = "rescale"
"""The command with which a running job goes on at another `parallelism`."""
SUBMIT, PARALLELISM, MAX_PARALLELISM, EDIT = "submit", "parallelism", "max_parallelism", "edit"
STATE_BACKEND = "state_backend"
"""The one command that no job master takes: a fresh cluster works for the next job, and with a parameter `restore` of 1
restores the latest checkpoint that the last one has left. A parameter `edit` names the edge that has a new operator.
`parallelism`, `max_parallelism` and `state_backend` say how wide it is, how many key groups it has and where it keeps
its state, if not as the last."""
LATEST_SAVEPOINT = 2
"""As `restore`: the latest savepoint, however old."""


def asked_topology(parameters: Mapping[str, int | str], former: Topology) -> Topology:
    """Of a job that is submitted; of what is not said, that of the last one."""
    return Topology(
        int(parameters.get(PARALLELISM, 0)) or former.parallelism,
        int(parameters.get(MAX_PARALLELISM, 0)) or former.max_parallelism,
    )


@lru_cache(maxsize=64)
def _topologies(first: Topology, requested: tuple[tuple[int, int], ...]) -> tuple[Topology, ...]:
    return (first, *(Topology(*each) for each in requested))


@kept_for_the_latest_plan
def topologies(plan: Plan) -> tuple[Topology, ...]:
    """By job, how wide it is. A job that is submitted without a word is as wide as the one before it."""
    requested: list[tuple[int, int]] = []
    latest = plan.topology
    for fault in plan.faults:
        if fault.kind == SUBMIT:
            latest = asked_topology(fault.parameters, latest)
            requested.append((latest.parallelism, latest.max_parallelism))
    return _topologies(plan.topology, tuple(requested))


@kept_for_the_latest_plan
def widths(plan: Plan) -> tuple[int, ...]:
    """Parallelisms that running jobs are to go on at; none that is above the max parallelism, which is refused."""
    most = max(topology.max_parallelism or _MOST for topology in topologies(plan))
    required = (int(fault.parameters.get(PARALLELISM, 0)) for fault in plan.faults if fault.kind == RESCALE)
    return tuple(width for width in required if 1 <= width <= most)


def state_backends_of(plan: Plan) -> tuple[str, ...]:
    """Those that jobs are submitted with, if not with that of the one before."""
    requested = (fault.parameters.get(STATE_BACKEND) for fault in plan.faults if fault.kind == SUBMIT)
    return tuple(str(each) for each in requested if each)


def edited_edges(plan: Plan) -> tuple[str, ...]:
    """By job, the edge that has a new operator; empty: it is as the plan says."""
    return ("", *(str(fault.parameters.get(EDIT, "")) for fault in plan.faults if fault.kind == SUBMIT))


@kept_for_the_latest_plan
def programs(plan: Plan) -> tuple[Job, ...]:
    """By job, its program; one that cannot be edited so is as the plan says."""
    return _programs(plan.job, edited_edges(plan))


@lru_cache(maxsize=64)
def _programs(first: Job, edits: tuple[str, ...]) -> tuple[Job, ...]:
    found = []
    for edit in edits:
        try:
            found.append(edited(first, edit) if edit else first)
        except ValueError:
            found.append(first)
    return tuple(found)


@kept_for_the_latest_plan
def most_workers(plan: Plan) -> int:
    """As many as the widest of its jobs needs, which may be rescaled while it runs."""
    return max((*(topology.parallelism for topology in topologies(plan)), *widths(plan)))
