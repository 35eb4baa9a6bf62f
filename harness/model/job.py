"""The declarative dataflow. Adapters compile it; oracles interpret it with their own slow code."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class VertexKind(StrEnum):
    """The closed set of operators."""

    SOURCE = "source"
    MAP = "map"
    """Identity on rows; stateless."""
    KEYED_SUM = "keyed-sum"
    """Running sum of `value` by key; emits one row per touched key and batch."""
    WINDOW_SUM = "window-sum"
    """Sum of `value` by key and tumbling window of event time; emits a window once, when the watermark passed it."""
    SINK = "sink"


class Partitioning(StrEnum):
    """How an edge spreads records over the subtasks below it."""

    FORWARD = "forward"
    """Subtask i feeds subtask i only: every receiver has one input channel."""
    HASH = "hash"
    """By key group of the key."""
    REBALANCE = "rebalance"
    """Whole batches, round robin."""


class Contract(StrEnum):
    """How the right answer is known.

    RECORDS: a row carries the identity (partition, offset) of the input that it stands for.
    FOLD: a row carries key, value, count per source partition and a digest: the sum modulo 2**64 of
    `identity hash(digest_key, partition, offset)` over every contributing input, where the identity hash is the
    splitmix64 finaliser of `digest_key + (partition << 48) + offset + 1` modulo 2**64:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
    WINDOW: a row carries key, number of the window (its start divided by WINDOW_MS), value and digest of its records.
    The watermark is the latest event time of all records minus WATERMARK_DELAY_MS; a window is owed one row when the
    watermark has reached its end.
    """

    RECORDS = "records"
    FOLD = "fold"
    WINDOW = "window"


WINDOW_MS = 1_000
"""Length of the windows of WINDOW_SUM."""
WATERMARK_DELAY_MS = 2_000
"""How far, in event time, one partition may be behind another without being late."""


class Vertex(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One operator. `name` is its id: states and transactions are addressed by it."""

    name: str
    kind: VertexKind


class Edge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stream between two vertices, by name."""

    upstream: str
    downstream: str
    partitioning: Partitioning


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dataflow with the contract of its output. Vertices are listed upstream first."""

    name: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    contract: Contract

    def vertex(self, name: str) -> Vertex:
        """The vertex of that name.

        Raises:
            KeyError: there is none.
        """
        for vertex in self.vertices:
            if vertex.name == name:
                return vertex
        raise KeyError(name)

    def of_kind(self, kind: VertexKind) -> tuple[Vertex, ...]:
        """All vertices of one kind, upstream first."""
        return tuple(vertex for vertex in self.vertices if vertex.kind is kind)


KEYED_SUM = Job(
    name="keyed-sum",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("sum", VertexKind.KEYED_SUM),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(Edge("source", "sum", Partitioning.HASH), Edge("sum", "sink", Partitioning.FORWARD)),
    contract=Contract.FOLD,
)
"""Sources, a hash exchange, a running keyed sum, a sink: the smallest job that must align barriers."""

FORWARD = Job(
    name="forward",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("map", VertexKind.MAP),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(Edge("source", "map", Partitioning.FORWARD), Edge("map", "sink", Partitioning.FORWARD)),
    contract=Contract.RECORDS,
)
"""One input channel everywhere: nothing ever aligns, so it is exactly-once in either mode (BAR-08)."""

REBALANCE = Job(
    name="rebalance",
    vertices=FORWARD.vertices,
    edges=(Edge("source", "map", Partitioning.REBALANCE), Edge("map", "sink", Partitioning.FORWARD)),
    contract=Contract.RECORDS,
)
"""Identity rows over an exchange that aligns; no state but offsets and transactions."""

WINDOW_SUM = Job(
    name="window-sum",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("sum", VertexKind.WINDOW_SUM),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=KEYED_SUM.edges,
    contract=Contract.WINDOW,
)
"""Sums of event-time windows, each of which is told once: state that must survive until its window is over."""

JOBS = {job.name: job for job in (KEYED_SUM, FORWARD, REBALANCE)}
"""By name, what every runtime is asked to run."""
