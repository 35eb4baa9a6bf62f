"""Jobs of which a restore cannot bring everything back."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.job import Contract, Edge, Job, Partitioning, Vertex, VertexKind

ITERATION = Job(
    name="iteration",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("loop", VertexKind.ITERATION),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "loop", Partitioning.REBALANCE),
        Edge("loop", "loop", Partitioning.REBALANCE, feedback=True),
        Edge("loop", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.RECORDS,
)
"""Every record goes round once before it is out."""


def over_sockets(job: Job) -> Job:
    """The job with sources that read sockets."""
    vertices = tuple(
        msgspec.structs.replace(vertex, socket=True) if vertex.kind is VertexKind.SOURCE else vertex
        for vertex in job.vertices
    )
    return msgspec.structs.replace(job, name=f"socket-{job.name}", vertices=vertices)


def socket_partitions(job: Job, partitions: int) -> list[int]:
    """Which of so many partitions come over sockets."""
    sources = job.of_kind(VertexKind.SOURCE)
    return [partition for partition in range(partitions) if sources[partition % len(sources)].socket]
