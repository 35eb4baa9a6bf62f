"""Jobs from outside: refused unless the operators of the model can run them and the oracles can interpret them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.job import (
    DELAYING,
    STATEFUL,
    VERSIONED,
    Contract,
    Edge,
    Job,
    Partitioning,
    Vertex,
    VertexKind,
)

_NAME = re.compile(r"(?!\.{1,2}$)(?!.*->)[\w .:()-]{1,100}")
_INPUTS = {
    VertexKind.JOIN: (Partitioning.HASH, Partitioning.HASH),
    VertexKind.BROADCAST_SUM: (Partitioning.HASH, Partitioning.BROADCAST),
    VertexKind.INTERVAL_JOIN: (Partitioning.HASH, Partitioning.HASH),
    VertexKind.RULED_SUM: (Partitioning.HASH, Partitioning.BROADCAST),
}
"""Operators whose inputs differ: how each of them must come."""


_SUMS = (VertexKind.KEYED_SUM, VertexKind.BROADCAST_SUM)


def check_job(job: Job) -> None:
    """Refuse a job that contradicts itself.

    Raises:
        UsageError: one sentence that names the field.
    """
    names = [vertex.name for vertex in job.vertices]
    require(len(set(names)) == len(names), f"job.vertices names {listed(names)}: give each vertex a name of its own.")
    for name in names:
        require(
            _NAME.fullmatch(name) is not None,
            f"job.vertices names {name!r}; subtasks, channels and files are named by it, so allowed are at most 100 "
            "letters, digits, underscores, spaces, dots, colons, hyphens and round brackets, without '->': rename it.",
        )
    for kind in (VertexKind.SOURCE, VertexKind.SINK):
        require(bool(job.of_kind(kind)), f"job.vertices has no {kind}: add one.")
    for index, vertex in enumerate(job.vertices):
        _check_parameters(f"job.vertices[{index}]", vertex)
    for index, edge in enumerate(job.edges):
        _check_edge(f"job.edges[{index}]", edge, job, names)
    ends = [(edge.upstream, edge.downstream) for edge in job.edges]
    require(
        len(set(ends)) == len(ends),
        "job.edges joins two vertices twice: put a map on one of the two ways between them.",
    )
    for vertex in job.vertices:
        _check_inputs(job, vertex)
    idling = [source.name for source in job.of_kind(VertexKind.SOURCE) if source.idleness_ms]
    require(
        not idling or bool(job.of_kind(VertexKind.SLIDING_SUM)),
        f"{idling} may have records that come late behind an idle split, and only a {VertexKind.SLIDING_SUM} can drop "
        "them: set idleness_ms to 0.",
    )


_PARAMETERS = (
    (("copies",), (VertexKind.FLAT_MAP,)),
    (("modulus", "remainder"), (VertexKind.FILTER,)),
    (("latency_ms",), DELAYING),
    (("window_ms", "slide_ms", "lateness_ms"), (VertexKind.SLIDING_SUM,)),
    (("state_version",), VERSIONED),
    (("lower_ms", "upper_ms"), (VertexKind.INTERVAL_JOIN,)),
    (("gap_ms",), (VertexKind.SESSION_SUM,)),
    (("top",), (VertexKind.TOP_SUM,)),
    (("ttl_ms",), (VertexKind.DEDUPLICATE, VertexKind.THROTTLE)),
    (("ttl_update",), (VertexKind.THROTTLE,)),
    (("held",), (VertexKind.REDUCE,)),
    (("bounded", "union_state", "socket"), (VertexKind.SOURCE,)),
    (("straggling", "straggling_ms", "disorder_ms", "idleness_ms"), (VertexKind.SOURCE,)),
    (("list_state",), (VertexKind.MAP,)),
)

_CONTRACTS = {
    VertexKind.DELAYED_SUM: Contract.FOLD,
    VertexKind.SLIDING_SUM: Contract.WINDOW,
    VertexKind.SESSION_SUM: Contract.WINDOW,
    VertexKind.INTERVAL_JOIN: Contract.WINDOW,
    VertexKind.RULED_SUM: Contract.FOLD,
    VertexKind.TOP_SUM: Contract.FOLD,
    VertexKind.DEDUPLICATE: Contract.RECORDS,
    VertexKind.THROTTLE: Contract.RECORDS,
}
"""What the rows of such an operator are judged by."""
_BEHIND_SOURCES = {
    VertexKind.SLIDING_SUM: 1,
    VertexKind.SESSION_SUM: 1,
    VertexKind.TOP_SUM: 1,
    VertexKind.DEDUPLICATE: 1,
    VertexKind.THROTTLE: 1,
    VertexKind.INTERVAL_JOIN: 2,
    VertexKind.RULED_SUM: 2,
}
"""Operators whose inputs are interpreted as so many sources have read them."""
_COPIED = [kind for kind, ways in _INPUTS.items() if Partitioning.BROADCAST in ways]
_POSITIVE = {
    VertexKind.SESSION_SUM: "gap_ms",
    VertexKind.TOP_SUM: "top",
    VertexKind.DEDUPLICATE: "ttl_ms",
    VertexKind.THROTTLE: "ttl_ms",
}


def _check_parameters(place: str, vertex: Vertex) -> None:
    bare = Vertex(vertex.name, vertex.kind)
    for names, kinds in _PARAMETERS:
        for name in names:
            value = getattr(vertex, name)
            require(
                vertex.kind in kinds or value == getattr(bare, name),
                f"{place}.{name} is {value}, but only a {' or a '.join(kinds)} has any: remove it.",
            )
    require(
        not vertex.socket or not (vertex.bounded or vertex.union_state),
        f"{place}.socket is {vertex.socket}, and a socket has neither an end nor positions: leave out bounded and "
        "union_state.",
    )
    require(vertex.copies >= 1, f"{place}.copies is {vertex.copies}: use at least 1.")
    require(vertex.latency_ms >= 0, f"{place}.latency_ms is {vertex.latency_ms}: use at least 0.")
    for name in ("lateness_ms", "straggling", "straggling_ms", "disorder_ms", "idleness_ms"):
        value = getattr(vertex, name)
        require(value >= 0, f"{place}.{name} is {value}: use at least 0.")
    require(
        vertex.kind is not VertexKind.SLIDING_SUM or 0 < vertex.slide_ms <= vertex.window_ms,
        f"{place}.slide_ms is {vertex.slide_ms}: use 1 to window_ms, which is {vertex.window_ms}.",
    )
    require(
        vertex.lower_ms <= vertex.upper_ms,
        f"{place}.lower_ms is {vertex.lower_ms}: use at most upper_ms, which is {vertex.upper_ms}.",
    )
    require(vertex.state_version in (1, 2), f"{place}.state_version is {vertex.state_version}: use 1 or 2.")
    for kind, name in _POSITIVE.items():
        value = getattr(vertex, name)
        require(vertex.kind is not kind or value >= 1, f"{place}.{name} is {value}: use at least 1.")
    require(vertex.held >= 0, f"{place}.held is {vertex.held}: use at least 0.")
    require(vertex.modulus >= 1, f"{place}.modulus is {vertex.modulus}: use at least 1.")
    require(
        0 <= vertex.remainder < vertex.modulus,
        f"{place}.remainder is {vertex.remainder}: use 0 to {vertex.modulus - 1}, less than the modulus.",
    )


def _check_edge(place: str, edge: Edge, job: Job, names: list[str]) -> None:
    for name in (edge.upstream, edge.downstream):
        require(name in names, f"{place} names {name!r}; the vertices are {listed(names)}.")
    if edge.feedback:
        require(
            edge.upstream == edge.downstream and job.vertex(edge.upstream).kind is VertexKind.ITERATION,
            f"{place} leads from {edge.upstream!r} to {edge.downstream!r} as a feedback edge: these begin and end at "
            f"one {VertexKind.ITERATION}.",
        )
        return
    require(
        names.index(edge.upstream) < names.index(edge.downstream),
        f"{place} leads from {edge.upstream!r} to {edge.downstream!r}: list vertices upstream first.",
    )
    if edge.partitioning is Partitioning.BROADCAST:
        require(
            job.vertex(edge.downstream).kind in _COPIED,
            f"{place}.partitioning is {edge.partitioning}, but only a {' or a '.join(_COPIED)} takes copies.",
        )


def _check_inputs(job: Job, vertex: Vertex) -> None:
    inputs = job.inputs_of(vertex.name)
    fed, read = bool(inputs), any(edge.upstream == vertex.name for edge in job.edges)
    require(
        fed is not (vertex.kind is VertexKind.SOURCE) and read is not (vertex.kind is VertexKind.SINK),
        f"job.edges leave vertex {vertex.name!r} loose: a source only sends, a sink only receives, others do both.",
    )
    if vertex.kind is VertexKind.REDUCE:
        _check_reduce(job, vertex, inputs)
    if vertex.kind is VertexKind.ITERATION:
        _check_iteration(job, vertex, inputs)
    if vertex.kind not in STATEFUL:
        return
    _check_keyed(job, vertex, inputs)
    wanted = _INPUTS.get(vertex.kind, (Partitioning.HASH,) * len(inputs))
    require(
        len(inputs) == len(wanted),
        f"job.edges give {vertex.name!r}, a {vertex.kind}, {len(inputs)} inputs: give it {len(wanted)}.",
    )
    for edge, partitioning in zip(inputs, wanted, strict=True):
        require(
            edge.partitioning is partitioning,
            f"job.edges[{job.edges.index(edge)}].partitioning is {edge.partitioning}, but {vertex.name!r} is keyed: "
            f"use {partitioning}.",
        )
    # What reaches a keyed operator is judged as a prefix of each source partition, by input of a join.
    inputs_apart = [inputs[:1], inputs[1:]] if vertex.kind is VertexKind.JOIN else [inputs]
    for some in inputs_apart:
        ways = [way for edge in some for way in _ways(job, edge)]
        sources = [way[0].upstream for way in ways]
        require(
            len(set(sources)) == len(sources),
            f"job.edges bring one source to {vertex.name!r} on two ways, so that its records lose their order: "
            "filter them into one.",
        )
        require(
            all(edge.partitioning is not Partitioning.REBALANCE for way in ways for edge in way),
            f"job.edges rebalance above {vertex.name!r}, so that records of a key lose their order: "
            f"use {Partitioning.FORWARD}.",
        )


def _check_keyed(job: Job, vertex: Vertex, inputs: tuple[Edge, ...]) -> None:
    contract = _CONTRACTS.get(vertex.kind, job.contract)
    require(
        job.contract is contract,
        f"job.contract is {job.contract}, but {vertex.name!r} is a {vertex.kind}: use {contract}.",
    )
    sources = [job.vertex(edge.upstream) for edge in inputs]
    if wanted := _BEHIND_SOURCES.get(vertex.kind):
        require(
            {source.name for source in sources} == {source.name for source in job.of_kind(VertexKind.SOURCE)}
            and len(sources) == wanted,
            f"job.edges give {vertex.name!r}, a {vertex.kind}, something else than {wanted} sources of its own: join "
            "every source of the job to it, and nothing else.",
        )
    straggling = [source.name for source in sources if source.straggling]
    require(
        not straggling or vertex.kind is VertexKind.SLIDING_SUM,
        f"{straggling} has records that come late, and only a {VertexKind.SLIDING_SUM} can drop them: set straggling "
        "to 0.",
    )


def _check_iteration(job: Job, vertex: Vertex, inputs: tuple[Edge, ...]) -> None:
    leaving = [edge for edge in job.edges if edge.upstream == vertex.name and not edge.feedback]
    require(
        [edge.feedback for edge in inputs] == [False, True] and bool(leaving),
        f"job.edges give {vertex.name!r}, an {vertex.kind}, other edges than it can use: one that comes in, then one "
        "that feeds it back, and others that lead on.",
    )
    require(
        job.contract is Contract.RECORDS and not any(source.bounded for source in job.of_kind(VertexKind.SOURCE)),
        f"{vertex.name!r} loses records when a job restarts, and never ends: use contract {Contract.RECORDS} and "
        "sources without an end.",
    )


def _check_reduce(job: Job, vertex: Vertex, inputs: tuple[Edge, ...]) -> None:
    summed = [job.vertex(edge.upstream).kind in _SUMS and edge.partitioning is Partitioning.FORWARD for edge in inputs]
    require(
        summed == [True],
        f"job.edges give {vertex.name!r} something else than the rows of one sum: join a {VertexKind.KEYED_SUM} or a "
        f"{VertexKind.BROADCAST_SUM} to it by {Partitioning.FORWARD}.",
    )
    require(job.bounded, f"{vertex.name!r} holds rows back until its input ends: make every source bounded.")


def _ways(job: Job, last: Edge) -> Iterator[tuple[Edge, ...]]:
    """Every way from a source along the edges that ends with this one."""
    before = job.inputs_of(last.upstream)
    if not before:
        yield (last,)
    for edge in before:
        yield from ((*way, last) for way in _ways(job, edge))


def require(condition: bool, sentence: str) -> None:
    if not condition:
        raise UsageError(sentence)


def listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, names)))
