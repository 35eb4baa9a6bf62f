"""The input of a drawn plan: how much of it is there at the start, and how fast the rest arrives."""

from __future__ import annotations

from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import WorkloadSpec

_ARRIVAL_INTERVALS = (3, 5)
_ARRIVAL_INTERVALS_OF_BOUNDED = (8, 10)
"""The job must not be over before its faults have acted."""
_BEFORE = (0, 25, 50)
_BEFORE_LATEST = (25, 50, 100)
"""How much of its partitions, but for an idle one, a job that starts at the latest offset never reads."""
BACKLOG_TIMES = 4
"""So many times as many records has a plan whose input is there before the job starts."""


def draw_workload(scene: Scene, *, latest: bool) -> WorkloadSpec:
    """A part is there at the start; the rest arrives over some checkpoints, so that faults find input unread."""
    stream, mix = scene.stream, scene.mix
    sources = len(scene.job.of_kind(VertexKind.SOURCE))
    partitions = max(scene.topology.parallelism, sources) + stream.below(2)
    records = stream.between(*mix.records) * (BACKLOG_TIMES if scene.backlog else 1)
    before = _BEFORE_LATEST if latest else (75,) if scene.backlog else _BEFORE
    preloaded_percent = (stream.fork("arrivals") if latest or scene.backlog else stream).choice(before)
    arriving = records * (100 - preloaded_percent) // 100 // partitions if not latest else records // partitions
    span_ms = scene.interval_ms * stream.between(
        *(_ARRIVAL_INTERVALS_OF_BOUNDED if scene.job.bounded else _ARRIVAL_INTERVALS)
    )
    parameters: dict[str, int | str] = {
        "records": records,
        "keys": stream.between(*mix.keys),
        "partitions": partitions,
        "skew_percent": stream.choice((0, 0, 50, 80)),
        "preloaded_percent": preloaded_percent,
        "records_per_second": max(1, arriving * 1_000 // span_ms),
    }
    if latest:
        parameters["idle_partition"] = stream.below(partitions)
        parameters["starts_ms"] = scene.interval_ms * stream.between(1, 4) + stream.below(scene.interval_ms)
    return WorkloadSpec("synthetic", parameters)
