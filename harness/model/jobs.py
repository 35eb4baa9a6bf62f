"""The jobs of plans, drawn and written: each is a shape of its own."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.job import Contract, Edge, Job, ListState, Partitioning, TtlUpdate, Vertex, VertexKind

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


def _keyed(name: str, operator: Vertex, contract: Contract) -> Job:
    """One keyed operator between a source and a sink."""
    vertices = (Vertex("source", VertexKind.SOURCE), operator, Vertex("sink", VertexKind.SINK))
    return Job(name=name, vertices=vertices, edges=KEYED_SUM.edges, contract=contract)


WINDOW_SUM = _keyed("window-sum", Vertex("sum", VertexKind.WINDOW_SUM), Contract.WINDOW)
"""Sums of event-time windows, each of which is emitted once: state that must survive until its window is over."""

UNION = Job(
    name="union",
    vertices=(
        Vertex("left", VertexKind.SOURCE),
        Vertex("right", VertexKind.SOURCE),
        Vertex("union", VertexKind.UNION),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("left", "union", Partitioning.REBALANCE),
        Edge("right", "union", Partitioning.REBALANCE),
        Edge("union", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.RECORDS,
)
"""Two sources flow together: twice as many input channels as an exchange has."""

DIAMOND = Job(
    name="diamond",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("even", VertexKind.FILTER, modulus=2, remainder=0),
        Vertex("odd", VertexKind.FILTER, modulus=2, remainder=1),
        Vertex("union", VertexKind.UNION),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "even", Partitioning.REBALANCE),
        Edge("source", "odd", Partitioning.REBALANCE),
        Edge("even", "union", Partitioning.FORWARD),
        Edge("odd", "union", Partitioning.REBALANCE),
        Edge("union", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.RECORDS,
)
"""One source on two ways that meet again: what blocks one way holds up the other."""

JOIN = Job(
    name="join",
    vertices=(
        Vertex("left", VertexKind.SOURCE),
        Vertex("right", VertexKind.SOURCE),
        Vertex("join", VertexKind.JOIN),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("left", "join", Partitioning.HASH),
        Edge("right", "join", Partitioning.HASH),
        Edge("join", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.FOLD,
)
"""Two inputs with state for each."""

SELF_JOIN = Job(
    name="self-join",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("left", VertexKind.MAP),
        Vertex("right", VertexKind.FILTER, modulus=2, remainder=0),
        Vertex("join", VertexKind.JOIN),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "left", Partitioning.FORWARD),
        Edge("source", "right", Partitioning.FORWARD),
        Edge("left", "join", Partitioning.HASH),
        Edge("right", "join", Partitioning.HASH),
        Edge("join", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.FOLD,
)
"""One source that meets the even half of itself."""

BROADCAST = Job(
    name="broadcast",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("rules", VertexKind.SOURCE),
        Vertex("sum", VertexKind.BROADCAST_SUM),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "sum", Partitioning.HASH),
        Edge("rules", "sum", Partitioning.BROADCAST),
        Edge("sum", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.FOLD,
)
"""Keyed state beside broadcast state, of which every subtask has the same."""

INTERVAL_JOIN = Job(
    name="interval-join",
    vertices=(
        Vertex("left", VertexKind.SOURCE),
        Vertex("right", VertexKind.SOURCE),
        Vertex("join", VertexKind.INTERVAL_JOIN, lower_ms=-60, upper_ms=90),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=JOIN.edges,
    contract=Contract.WINDOW,
)
"""Two inputs whose records meet for a while: each side keeps its own until the watermark is past all that can meet."""

RULED_SUM = Job(
    name="ruled-sum",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("rules", VertexKind.SOURCE),
        Vertex("sum", VertexKind.RULED_SUM),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=BROADCAST.edges,
    contract=Contract.FOLD,
)
"""Rules in broadcast state, and records in lists that wait for the rules of their time."""

PIPELINE = Job(
    name="pipeline",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("map", VertexKind.MAP),
        Vertex("flat-map", VertexKind.FLAT_MAP, copies=3),
        Vertex("filter", VertexKind.FILTER, modulus=2, remainder=0),
        Vertex("sum", VertexKind.KEYED_SUM),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "map", Partitioning.FORWARD),
        Edge("map", "flat-map", Partitioning.FORWARD),
        Edge("flat-map", "filter", Partitioning.FORWARD),
        Edge("filter", "sum", Partitioning.HASH),
        Edge("sum", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.FOLD,
)
"""A run of operators on either side of an exchange."""

STEPS = Job(
    name="steps",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("flat-map", VertexKind.FLAT_MAP, copies=2),
        Vertex("filter", VertexKind.FILTER, modulus=3, remainder=1),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "flat-map", Partitioning.FORWARD),
        Edge("flat-map", "filter", Partitioning.FORWARD),
        Edge("filter", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.RECORDS,
)
"""As FORWARD, with operators that make more or fewer records."""

MINI_BATCH = Job(
    name="mini-batch",
    vertices=(
        Vertex("source", VertexKind.SOURCE),
        Vertex("buffer", VertexKind.MINI_BATCH, latency_ms=15),
        Vertex("sum", VertexKind.KEYED_SUM),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "buffer", Partitioning.FORWARD),
        Edge("buffer", "sum", Partitioning.HASH),
        Edge("sum", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.FOLD,
)
"""KEYED_SUM with an operator that holds records back: at most barriers it has some, which its snapshot must hold."""

DELAYED_SUM = _keyed("delayed-sum", Vertex("sum", VertexKind.DELAYED_SUM, latency_ms=15), Contract.FOLD)
"""KEYED_SUM whose rows wait for timers: at most barriers some keys have one, which is all that will bring their row."""

SLIDING_SUM = Job(
    name="sliding-sum",
    vertices=(
        Vertex("source", VertexKind.SOURCE, straggling=7, straggling_ms=90, disorder_ms=20),
        Vertex("sum", VertexKind.SLIDING_SUM, window_ms=60, slide_ms=30, lateness_ms=20),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=KEYED_SUM.edges,
    contract=Contract.WINDOW,
)
"""Windows that overlap, and records that come late: some within the lateness that is allowed, and some behind it."""

IDLE_SPLITS = Job(
    name="idle-splits",
    vertices=(
        Vertex("source", VertexKind.SOURCE, disorder_ms=20, idleness_ms=100),
        Vertex("sum", VertexKind.SLIDING_SUM, window_ms=60, slide_ms=30, lateness_ms=20),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=KEYED_SUM.edges,
    contract=Contract.WINDOW,
)
"""Windows that overlap, and do not wait for a split that has brought no record for a while."""

SESSION_SUM = _keyed("session-sum", Vertex("sum", VertexKind.SESSION_SUM, gap_ms=40), Contract.WINDOW)
"""Windows that grow and merge: their timers are deleted and set anew."""

TOP_SUM = _keyed("top-sum", Vertex("sum", VertexKind.TOP_SUM, top=3), Contract.FOLD)
"""A list for each key, of which a row shows the sum."""

DEDUPLICATE = _keyed("deduplicate", Vertex("sum", VertexKind.DEDUPLICATE, ttl_ms=200), Contract.RECORDS)
"""State with a time to live, by event time: who is handed on depends on what is still remembered."""

THROTTLE = _keyed("throttle", Vertex("sum", VertexKind.THROTTLE, ttl_ms=60), Contract.RECORDS)
"""State with a time to live, by processing time: who is handed on depends on when a record comes."""

DEBOUNCE = _keyed(
    "debounce",
    Vertex("sum", VertexKind.THROTTLE, ttl_ms=60, ttl_update=TtlUpdate.ON_READ_AND_WRITE),
    Contract.RECORDS,
)
"""As THROTTLE, but repeats begin the time anew."""

TUMBLING_SUM = _keyed("tumbling-sum", Vertex("sum", VertexKind.SLIDING_SUM, window_ms=40, slide_ms=40), Contract.WINDOW)
"""Windows that do not overlap, and no record that is late: each window has one right answer."""


def listed(mode: ListState) -> Job:
    """KEYED_SUM with an operator that notes each batch in list state, which is shared out in this mode."""
    return Job(
        name=f"listed-{mode}",
        vertices=(
            Vertex("source", VertexKind.SOURCE),
            Vertex("note", VertexKind.MAP, list_state=mode),
            Vertex("sum", VertexKind.KEYED_SUM),
            Vertex("sink", VertexKind.SINK),
        ),
        edges=(
            Edge("source", "note", Partitioning.FORWARD),
            Edge("note", "sum", Partitioning.HASH),
            Edge("sum", "sink", Partitioning.FORWARD),
        ),
        contract=Contract.FOLD,
    )


REDUCED = Job(
    name="reduced",
    vertices=(
        Vertex("source", VertexKind.SOURCE, bounded=True),
        Vertex("sum", VertexKind.KEYED_SUM),
        Vertex("reduce", VertexKind.REDUCE, held=24),
        Vertex("sink", VertexKind.SINK),
    ),
    edges=(
        Edge("source", "sum", Partitioning.HASH),
        Edge("sum", "reduce", Partitioning.FORWARD),
        Edge("reduce", "sink", Partitioning.FORWARD),
    ),
    contract=Contract.FOLD,
)
"""Bounded, with an operator that holds rows back until its input ends."""


TWO_PIPELINES = Job(
    name="two-pipelines",
    vertices=tuple(
        Vertex(f"{side}-{kind}", kind)
        for side in ("left", "right")
        for kind in (VertexKind.SOURCE, VertexKind.MAP, VertexKind.SINK)
    ),
    edges=tuple(
        edge
        for side in ("left", "right")
        for edge in (
            Edge(f"{side}-source", f"{side}-map", Partitioning.REBALANCE),
            Edge(f"{side}-map", f"{side}-sink", Partitioning.FORWARD),
        )
    ),
    contract=Contract.RECORDS,
)
"""Two streams that share nothing but their workers."""


def bounded(job: Job, *sources: str) -> Job:
    """The job with an input that ends.

    Args:
        job: any.
        sources: those whose input ends; none named: all.
    """
    vertices = tuple(
        msgspec.structs.replace(vertex, bounded=True)
        if vertex.kind is VertexKind.SOURCE and (not sources or vertex.name in sources)
        else vertex
        for vertex in job.vertices
    )
    return msgspec.structs.replace(job, name=f"bounded-{job.name}", vertices=vertices)


COMMON_JOBS = {job.name: job for job in (KEYED_SUM, FORWARD, REBALANCE)}
"""By name, what every runtime must run."""
JOBS = COMMON_JOBS | {
    job.name: job for job in (UNION, DIAMOND, JOIN, SELF_JOIN, BROADCAST, PIPELINE, STEPS, MINI_BATCH)
}
"""By name, all that can be drawn to run on and on."""
ENDLESS_JOBS = JOBS | {WINDOW_SUM.name: WINDOW_SUM}
"""By name, these and those that cannot be drawn to finish."""
BOUNDED_JOBS = {job.name: job for job in (*map(bounded, JOBS.values()), REDUCED)}
"""By name, all that can be drawn to finish."""
KEYED_JOBS = {
    job.name: job
    for job in (
        DELAYED_SUM, SLIDING_SUM, TUMBLING_SUM, SESSION_SUM, TOP_SUM, DEDUPLICATE, INTERVAL_JOIN, RULED_SUM, THROTTLE,
        DEBOUNCE,
    )
}  # fmt: skip
"""By name, those with more state by key than a sum: timers, windows, lists, times to live, a second input in time."""
REGIONAL_JOBS = {job.name: job for job in (FORWARD, TWO_PIPELINES)}
"""By name, those with several regions, of which one can restart alone."""


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
