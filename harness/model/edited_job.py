"""A job that was changed between two submissions."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.job import Edge, Job, Partitioning, Vertex, VertexKind

ADDED = "added"
"""Name of the new vertex."""


def edited(job: Job, edge: str) -> Job:
    """The job with a new map in the middle of one of its edges.

    Args:
        job: as it was.
        edge: its ends, such as `source->sum`.

    Raises:
        ValueError: the job has no such edge; one sentence.
    """
    known = {f"{each.upstream}->{each.downstream}": each for each in job.edges}
    if edge not in known:
        raise ValueError(f"edge {edge!r} is none of job {job.name}; there are {', '.join(known)}.")
    old = known[edge]
    place = [vertex.name for vertex in job.vertices].index(old.downstream)
    vertices = (*job.vertices[:place], Vertex(ADDED, VertexKind.MAP), *job.vertices[place:])
    halves = (Edge(old.upstream, ADDED, old.partitioning), Edge(ADDED, old.downstream, Partitioning.FORWARD))
    edges = tuple(half for each in job.edges for half in (halves if each is old else (each,)))
    return msgspec.structs.replace(job, vertices=vertices, edges=edges)
