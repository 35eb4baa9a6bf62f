"""What a job asks of a system besides a source, a keyed sum and a sink."""

from __future__ import annotations

from holdfast.harness.model.capability import Capability
from holdfast.harness.model.job import Job, VertexKind

_COMMON = frozenset({VertexKind.SOURCE, VertexKind.MAP, VertexKind.KEYED_SUM, VertexKind.WINDOW_SUM, VertexKind.SINK})


def demands(job: Job) -> frozenset[Capability]:
    """The capabilities that a system must declare to be given this job."""
    sources = job.of_kind(VertexKind.SOURCE)
    wanted = set()
    if len(sources) > 1 or any(vertex.kind not in _COMMON or vertex.list_state for vertex in job.vertices):
        wanted.add(Capability.OPERATORS)
    if job.of_kind(VertexKind.WINDOW_SUM):
        wanted.add(Capability.EVENT_TIME_WINDOWS)
    if any(source.bounded for source in sources):
        wanted.add(Capability.BOUNDED_INPUT)
    if job.iterative:
        wanted.add(Capability.ITERATION)
    if any(source.socket for source in sources):
        wanted.add(Capability.SOCKET_INPUT)
    return frozenset(wanted)
