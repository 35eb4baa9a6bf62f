"""The job unfolded: subtasks and the channels between them, as they follow from job and topology."""

from __future__ import annotations

from functools import lru_cache

from holdfast.harness.model.job import STATEFUL, Job, Partitioning, VertexKind
from holdfast.harness.model.plan import Topology


class Layout:
    """Subtask `vertex[i]`, channel `vertex[i]->vertex[j]`.

    Attributes:
        subtasks: all of them, upstream first.
        sources, sums, sinks: those of sources, of keyed operators, of sinks.
        inputs, outputs: channels by subtask; every subtask has an entry.
    """

    __slots__ = ("inputs", "outputs", "sinks", "sources", "subtasks", "sums")

    def __init__(self, job: Job, topology: Topology) -> None:
        width = range(topology.parallelism)
        self.subtasks = tuple(f"{vertex.name}[{i}]" for vertex in job.vertices for i in width)
        self.sources, self.sums, self.sinks = (
            tuple(f"{vertex.name}[{i}]" for vertex in job.of_kind(*kinds) for i in width)
            for kinds in ((VertexKind.SOURCE,), STATEFUL, (VertexKind.SINK,))
        )
        self.inputs: dict[str, list[str]] = {subtask: [] for subtask in self.subtasks}
        self.outputs: dict[str, list[str]] = {subtask: [] for subtask in self.subtasks}
        for edge in job.edges:
            for i in width:
                for j in (i,) if edge.partitioning is Partitioning.FORWARD else width:
                    sender, receiver = f"{edge.upstream}[{i}]", f"{edge.downstream}[{j}]"
                    self.outputs[sender].append(f"{sender}->{receiver}")
                    self.inputs[receiver].append(f"{sender}->{receiver}")


@lru_cache(maxsize=64)
def layout_of(job: Job, topology: Topology) -> Layout:
    """The layout of a job; never modified, so that it can be shared."""
    return Layout(job, topology)
