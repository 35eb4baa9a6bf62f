"""The declarative dataflow, and what a job needs of a system. Adapters compile it; oracles interpret it with their own
slow code."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from holdfast.harness.model.capability import Capability


class VertexKind(StrEnum):
    """The closed set of operators."""

    SOURCE = "source"
    MAP = "map"
    """Identity on rows; stateless."""
    FLAT_MAP = "flat-map"
    """The record at offset n becomes `copies` records of the same partition, key and value, at offsets n * copies and
    the ones behind it; stateless."""
    FILTER = "filter"
    """Keeps the records whose offset modulo `modulus` is `remainder`; stateless."""
    UNION = "union"
    """The records of several inputs as they come; stateless."""
    MINI_BATCH = "mini-batch"
    """Holds back the records of its input for `latency_ms` from the first one on, then hands them on as they came; what
    it holds is state."""
    KEYED_SUM = "keyed-sum"
    """Running sum of `value` by key; emits one row per touched key and batch."""
    DELAYED_SUM = "delayed-sum"
    """Running sum of `value` by key; emits the row of a key `latency_ms` after the first record that changed it since
    it last did, by a timer in processing time, and where its input ends. A key may wait for nothing but its timer."""
    JOIN = "join"
    """Inner join, by key, of the running sums of two inputs: its first and its second edge in the order of the job.
    Emits one row per touched key and batch, once both sides have the key. `value` is the left sum minus the right one;
    `counts` has the partitions of the left side, then those of the right; in `digest` the hashes of the right side
    count RIGHT_WEIGHT times, so that a record of one side is distinguished from one of the other."""
    BROADCAST_SUM = "broadcast-sum"
    """Running sum by key of the first input, to which the sum over all keys of the second, a broadcast one, is added:
    each subtask keeps a copy of that. Emits one row per touched key and batch, and one per key that it holds for each
    batch of the second input. Every record of a broadcast partition counts for every key."""
    INTERVAL_JOIN = "interval-join"
    """Inner join, by key and event time, of two inputs: its first edge in the order of the job is the left one. Emits a
    row for each pair of records whose right one is `lower_ms` to `upper_ms` behind the left one in event time, either
    way round if negative, as soon as both are there. A record is kept until the watermark, which is that of
    SLIDING_SUM, has passed all that it can meet. `value` is the left one minus the right one, and in `digest` the right
    hash counts RIGHT_WEIGHT times."""
    RULED_SUM = "ruled-sum"
    """Running sum by key of the records of its first input, each times the factor of its key at its event time. The
    second input, a broadcast one, brings the factors: a record there with value v sets that of its key, from its own
    event time on, to 1 plus v modulo RULED_FACTORS, of several at one time the one of the greatest partition and
    offset; without any it is 1. A record waits until the watermark, which is that of SLIDING_SUM, has passed its time,
    or its input ends. Emits one row per key that has waited; `counts` and `digest` are those of the first input."""
    WINDOW_SUM = "window-sum"
    """Sum of `value` by key and tumbling window of event time; emits a window once, when the watermark passed it."""
    SLIDING_SUM = "sliding-sum"
    """Sum of `value` by key and window of event time, of which there is one every `slide_ms`, each `window_ms` long: a
    record counts in all that its time lies in. Each split has a watermark (see Contract), and the operator's is the
    least of them, but for splits that are idle. A window is emitted once, when that has passed its end by
    `lateness_ms`; a record that comes later is dropped from it. Where the input ends, every window is emitted."""
    SESSION_SUM = "session-sum"
    """Sum of `value` by key and session: records of a key, of whatever split, none of which is `gap_ms` or more behind
    the one before it in event time. A session is emitted once, when the watermark, which is that of SLIDING_SUM, is
    `gap_ms` behind its last record, and where the input ends."""
    TOP_SUM = "top-sum"
    """As KEYED_SUM, but what is summed of a key are its `top` largest values: equal ones of several records each for
    itself, that of a record which comes again once."""
    DEDUPLICATE = "deduplicate"
    """Hands on a record unless it has handed on another one of the same key and split less than `ttl_ms` of event time
    before."""
    THROTTLE = "throttle"
    """Hands on a record unless state of its key lives: that is written when a record is handed on, by `ttl_update` also
    when one is not, and lives `ttl_ms` of processing time behind its last write. What has expired is never found."""
    ITERATION = "iteration"
    """What comes by its first input goes round, along a feedback edge that ends here again, and what comes back goes on
    along the other edges; stateless."""
    REDUCE = "reduce"
    """Keeps the newest row of each key back, and emits those that it holds when it has taken more than `held` rows
    since it last did, and when its input ends; for sums above it, and bounded jobs only."""
    SINK = "sink"


class Partitioning(StrEnum):
    """How an edge spreads records over the subtasks below it."""

    FORWARD = "forward"
    """Subtask i feeds subtask i only: every receiver has one input channel."""
    HASH = "hash"
    """By key group of the key."""
    REBALANCE = "rebalance"
    """Whole batches, round robin."""
    BROADCAST = "broadcast"
    """Every batch to every receiver."""


class Contract(StrEnum):
    """How the right answer is known.

    RECORDS: a row carries the identity (partition, offset) of the input that it stands for.
    FOLD: a row carries key, value, count per source partition and a digest: the sum modulo 2**64 of
    `identity hash(digest_key, partition, offset)` over every contributing input, where the identity hash is the
    splitmix64 finaliser of `digest_key + (partition << 48) + offset + 1` modulo 2**64:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
    WINDOW: a row carries key, number of the window (its start divided by WINDOW_MS), value and digest of its records.
    Of WINDOW_SUM, the watermark is the latest event time of all records minus WATERMARK_DELAY_MS; a window must have
    one row when the watermark has reached its end. Of SLIDING_SUM, a window is numbered by its start divided by
    `slide_ms`; the watermark of a split is the latest event time of its records, as far as they were read, minus
    `disorder_ms` of its source, and the window must have one row when those of all splits have passed its end by
    `lateness_ms`. Of SESSION_SUM, the number of a session is the event time of its first record. Of INTERVAL_JOIN, a
    row is of a pair, whose number has 7 bits for the partition of the left record, 24 for its offset, then as many for
    the right one.
    A record must be in a window unless the watermark of its own split had passed it before the record came. A split
    that has brought no record for the `idleness_ms` of its source is idle until one comes: it holds back no window, and
    what it brings then may be late. While all are idle, a window must have a row when the furthest has passed it.
    """

    RECORDS = "records"
    FOLD = "fold"
    WINDOW = "window"


class TtlUpdate(StrEnum):
    """What begins a time to live anew: Flink's StateTtlConfig.UpdateType."""

    ON_CREATE_AND_WRITE = "on-create-and-write"
    ON_READ_AND_WRITE = "on-read-and-write"


class ListState(StrEnum):
    """How what one subtask keeps in list state is shared out at a restore (RULES RSC-03)."""

    NONE = ""
    """It keeps none."""
    SPLIT = "split-distribute"
    """Each element goes to one subtask."""
    UNION = "union"
    """All elements go to each subtask, which forgets those that are another's."""


RIGHT_WEIGHT = 3
"""See JOIN."""
RULED_FACTORS = 5
"""See RULED_SUM."""
WINDOW_MS = 1_000
"""Length of the windows of WINDOW_SUM."""
WATERMARK_DELAY_MS = 2_000
"""How far, in event time, one partition may be behind another without being late."""


STATEFUL = (
    VertexKind.KEYED_SUM,
    VertexKind.DELAYED_SUM,
    VertexKind.JOIN,
    VertexKind.BROADCAST_SUM,
    VertexKind.INTERVAL_JOIN,
    VertexKind.RULED_SUM,
    VertexKind.WINDOW_SUM,
    VertexKind.SLIDING_SUM,
    VertexKind.SESSION_SUM,
    VertexKind.TOP_SUM,
    VertexKind.DEDUPLICATE,
    VertexKind.THROTTLE,
)
"""Kinds that keep state by key: their inputs come by key."""
FORGETTING = (VertexKind.SLIDING_SUM, VertexKind.DEDUPLICATE, VertexKind.THROTTLE)
"""Of these, those whose state is not the sum of everything that they have taken."""
VERSIONED = (VertexKind.DELAYED_SUM, VertexKind.SESSION_SUM, VertexKind.TOP_SUM, VertexKind.DEDUPLICATE)
"""Kinds of whose state there are two formats."""
WATERMARKED = (VertexKind.SLIDING_SUM, VertexKind.SESSION_SUM, VertexKind.INTERVAL_JOIN, VertexKind.RULED_SUM)
"""Kinds that wait for watermarks."""
EVENT_TIMED = (*WATERMARKED, VertexKind.DEDUPLICATE)
"""Kinds that ask for the event time of records."""
DELAYING = (VertexKind.MINI_BATCH, VertexKind.DELAYED_SUM)
"""Kinds that hold back what they have for `latency_ms`."""
TIMED = (VertexKind.DELAYED_SUM, *WATERMARKED)
"""Kinds whose state has timers."""


class Vertex(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One operator.

    Attributes:
        name: its id: states and transactions are addressed by it.
        kind: what it does.
        copies: of FLAT_MAP, how many records it makes of one.
        modulus, remainder: of FILTER, what it keeps.
        latency_ms: of MINI_BATCH and DELAYED_SUM, how long it holds back what it has.
        window_ms, slide_ms: of SLIDING_SUM, how long a window is, and how far one begins behind the last.
        lateness_ms: of SLIDING_SUM, for how long behind its end a window takes records.
        lower_ms, upper_ms: of INTERVAL_JOIN, from when to when, counted from a left record, it meets right ones.
        gap_ms: of SESSION_SUM, how long nothing comes behind a session.
        top: of TOP_SUM, how many values it sums.
        ttl_ms: of DEDUPLICATE and THROTTLE, for how long others are dropped.
        ttl_update: of THROTTLE, what begins that time anew.
        state_version: of the kinds in VERSIONED, of the format in which they store their sums: 1 or 2. What was stored
            as an older version is converted; what was stored as a newer one is refused.
        straggling: of SOURCE, every so-manyth record is `straggling_ms` earlier in event time than its place; 0: none.
        disorder_ms: of SOURCE, how far its watermark stays behind the latest event time.
        idleness_ms: of SOURCE, for how long one of its splits may bring no record until it is idle, in processing time;
            0: for ever. Flink's WatermarkStrategy.withIdleness.
        held: of REDUCE, how many rows it takes at most before it emits.
        bounded: of SOURCE, its input ends: when every record of its partitions was read it has nothing more to do.
        union_state: of SOURCE, its positions are union list state: every subtask is given those of all, and takes up
            those that it reads itself.
        list_state: of MAP, it keeps an element of list state for each batch that it has passed on.
        socket: of SOURCE, it reads a socket: whatever it asks for it is given what comes next, and nothing twice.
    """

    name: str
    kind: VertexKind
    copies: int = 1
    modulus: int = 1
    remainder: int = 0
    latency_ms: int = 0
    window_ms: int = 0
    slide_ms: int = 0
    lateness_ms: int = 0
    lower_ms: int = 0
    upper_ms: int = 0
    gap_ms: int = 0
    top: int = 0
    ttl_ms: int = 0
    ttl_update: TtlUpdate = TtlUpdate.ON_CREATE_AND_WRITE
    state_version: int = 1
    straggling: int = 0
    straggling_ms: int = 0
    disorder_ms: int = 0
    idleness_ms: int = 0
    held: int = 0
    bounded: bool = False
    union_state: bool = False
    socket: bool = False
    list_state: ListState = ListState.NONE


class Edge(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A stream between two vertices, by name. No snapshot waits for what is in a `feedback` edge, so that is in no
    checkpoint."""

    upstream: str
    downstream: str
    partitioning: Partitioning
    feedback: bool = False


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dataflow with the contract of its output. Vertices are listed upstream first.

    Of several sources each reads its own partitions of the input: partition p belongs to source number p modulo the
    number of sources.
    """

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

    def of_kind(self, *kinds: VertexKind) -> tuple[Vertex, ...]:
        """All vertices of these kinds, upstream first."""
        return tuple(vertex for vertex in self.vertices if vertex.kind in kinds)

    def inputs_of(self, name: str) -> tuple[Edge, ...]:
        """The edges that end at a vertex, in the order of the job: its inputs, from 0."""
        return tuple(edge for edge in self.edges if edge.downstream == name)

    @property
    def iterative(self) -> bool:
        """Whether it has a feedback edge."""
        return any(edge.feedback for edge in self.edges)

    @property
    def bounded(self) -> bool:
        """Whether the input of every source ends, and with it the job."""
        return all(vertex.bounded for vertex in self.of_kind(VertexKind.SOURCE))

    def never_aligns(self) -> bool:
        """Whether every subtask has at most one input channel, at any width."""
        receivers = [edge.downstream for edge in self.edges if edge.partitioning is Partitioning.FORWARD]
        return len(receivers) == len(self.edges) == len(set(receivers))


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
