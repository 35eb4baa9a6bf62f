"""The jobs of a plan: the one that it begins with, those that a user submits later, edited or not, and how wide each
may become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import TypeVar

import msgspec

from holdfast.harness.model.job import VERSIONED, Edge, Job, Partitioning, Vertex, VertexKind
from holdfast.harness.model.plan import Plan, Topology

ADDED = "added"
"""Name of the new vertex."""


RENAMED = "="
VERSION = "@"


def edited(job: Job, edit: str) -> Job:
    """The job with a new map in the middle of one of its edges, or with another name or another format of state for one
    of its operators.

    Args:
        job: as it was.
        edit: the ends of the edge, such as `source->sum`; the old and the new name, such as `sum=total`; or the name
            and the version of the format, such as `sum@2`.

    Raises:
        ValueError: the job has no such edge, or no such operator; one sentence.
    """
    if VERSION in edit:
        return _versioned(job, *edit.split(VERSION, 1))
    return _renamed(job, *edit.split(RENAMED, 1)) if RENAMED in edit else _extended(job, edit)


def _versioned(job: Job, name: str, version: str) -> Job:
    known = [vertex.name for vertex in job.of_kind(*VERSIONED)]
    if name not in known or version not in ("1", "2"):
        raise ValueError(
            f"state {name!r} of job {job.name} has no version {version!r}; there are 1 and 2 of {', '.join(known)}."
        )
    vertices = (
        msgspec.structs.replace(each, state_version=int(version)) if each.name == name else each
        for each in job.vertices
    )
    return msgspec.structs.replace(job, vertices=tuple(vertices))


def _renamed(job: Job, old: str, new: str) -> Job:
    names = [vertex.name for vertex in job.vertices]
    if old not in names:
        raise ValueError(f"operator {old!r} is none of job {job.name}; there are {', '.join(names)}.")
    vertices = (msgspec.structs.replace(each, name=new) if each.name == old else each for each in job.vertices)
    edges = (
        msgspec.structs.replace(
            each,
            upstream=new if each.upstream == old else each.upstream,
            downstream=new if each.downstream == old else each.downstream,
        )
        for each in job.edges
    )
    return msgspec.structs.replace(job, vertices=tuple(vertices), edges=tuple(edges))


def _extended(job: Job, edge: str) -> Job:
    known = {f"{each.upstream}->{each.downstream}": each for each in job.edges}
    if edge not in known:
        raise ValueError(f"edge {edge!r} is none of job {job.name}; there are {', '.join(known)}.")
    old = known[edge]
    place = [vertex.name for vertex in job.vertices].index(old.downstream)
    vertices = (*job.vertices[:place], Vertex(ADDED, VertexKind.MAP), *job.vertices[place:])
    halves = (Edge(old.upstream, ADDED, old.partitioning), Edge(ADDED, old.downstream, Partitioning.FORWARD))
    edges = tuple(half for each in job.edges for half in (halves if each is old else (each,)))
    return msgspec.structs.replace(job, vertices=vertices, edges=edges)


Fact = TypeVar("Fact")


def kept_for_the_latest_plan(fact: Callable[[Plan], Fact]) -> Callable[[Plan], Fact]:
    """Cache what a function derives from the latest plan: a run calls it some hundred times.

    The plan is known by its identity, since to hash one takes longer than most functions. It is an immutable value.
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


def requested_topology(parameters: Mapping[str, int | str], former: Topology) -> Topology:
    """The topology of a job that is submitted; what its submission leaves open is as in the job before it."""
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
            latest = requested_topology(fault.parameters, latest)
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
    """By job, the edge that has a new operator; empty: the job is the plan's."""
    return ("", *(str(fault.parameters.get(EDIT, "")) for fault in plan.faults if fault.kind == SUBMIT))


@kept_for_the_latest_plan
def programs(plan: Plan) -> tuple[Job, ...]:
    """By job, its program; one that cannot be edited so is the plan's."""
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
