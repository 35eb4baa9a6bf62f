"""A job that was changed between two submissions."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.job import VERSIONED, Edge, Job, Partitioning, Vertex, VertexKind

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
