"""Flink SQL on the flights stream: records per second, and how late it is when records arrive at a bearable rate.

Flink is set up to its advantage: state on the heap, objects reused, both slots in one task manager (so that its
exchange stays in one process), a sink that throws rows away, and in the second mode mini-batches with local-global
aggregation. No Python runs in the job.
"""

from __future__ import annotations

import tempfile
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.suites.bench.peers.cache import PeerCache
from holdfast.suites.bench.peers.flink_cluster import FlinkCluster, FlinkJob
from holdfast.suites.bench.peers.peer import SETTLED_AFTER_S, SLICE_S, Demand, Latency, Throughput
from holdfast.suites.bench.peers.peer_input import Arrival, Columns, PeerInput, arrive, write_flights
from holdfast.suites.bench.peers.progress import WARM_AFTER_S, Sample, Spent, rates_of

MODES: dict[str, dict[str, str]] = {
    "record by record": {},
    "local-global": {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "500 ms",
        "table.exec.mini-batch.size": "100000",
        "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    },
}
KEY_TYPES = {Columns.TEXT: "STRING", Columns.NUMBER: "BIGINT"}
SAMPLE_S = 0.5
FIRST_RECORD_LIMIT_S = 120.0


def throughput(cache: PeerCache, demand: Demand, mode: str) -> Throughput:
    """Take the input as fast as possible on a fresh cluster.

    Raises:
        OSError: Flink cannot be had or fails.
    """
    with tempfile.TemporaryDirectory(dir=demand.folder) as name:
        folder = Path(name)
        return take(cache, demand, folder, write_flights(folder / "year", demand.key, demand.columns), mode)


def take(
    cache: PeerCache,
    demand: Demand,
    folder: Path,
    source: PeerInput,
    mode: str,
    options: Mapping[str, str] = {},
    warm_after_s: float = WARM_AFTER_S,
) -> Throughput:
    """Take any input as fast as possible on a fresh cluster.

    Args:
        cache, demand: as above; the demand's key plays no part.
        folder: takes all that is written; of this run only.
        source: one round; as many rounds are read as the demand has events.
        mode: one of MODES.
        options: of Flink, which win over those of the mode.
        warm_after_s: from the first record on.

    Raises:
        OSError: Flink cannot be had or fails.
    """
    rounds = _made(folder / "input")
    for index in range(-(-demand.events // source.records_per_round)):
        source.link(rounds, index)
    with FlinkCluster(cache, _made(folder / "cluster"), demand.cores) as cluster:
        job = cluster.submit(rounds, KEY_TYPES[demand.columns], MODES[mode] | dict(options))
        rates = rates_of(*_watch(cluster, job, demand.seconds), warm_after_s=warm_after_s)
        durations = tuple(
            (complete - triggered) * 1000 for triggered, complete in job.checkpoints() if triggered >= rates.warm_from_s
        )
        return Throughput(f"Flink SQL {cluster.version}", mode, rates, durations)


def latency(cache: PeerCache, demand: Demand, mode: str, parts: int) -> Latency:
    """Let the year arrive in so many parts, one every SLICE_S, and see when each is applied and in a checkpoint.

    Applied is polled, so late by up to a poll; with local-global aggregation it cannot be seen, because what reaches
    the aggregation are sums. Committed is exact to the millisecond, but a part that the poll saw too late is counted
    for the next checkpoint: the figures err to Flink's disadvantage by at most a tenth of an interval.
    """
    with tempfile.TemporaryDirectory(dir=demand.folder) as name:
        folder = Path(name)
        flights = write_flights(folder / "year", demand.key, demand.columns, parts)
        arriving = _made(folder / "input")
        with FlinkCluster(cache, _made(folder / "cluster"), demand.cores) as cluster:
            job = cluster.submit(arriving, KEY_TYPES[demand.columns], MODES[mode], "100 ms")
            read: list[Sample] = []
            received: list[Sample] = []

            def look() -> None:
                _, source, aggregation = job.state()
                read.append(Sample(time.time(), source))
                received.append(Sample(time.time(), aggregation))

            arrivals = arrive(flights, arriving, SLICE_S, SETTLED_AFTER_S + demand.seconds, look)
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:  # the last parts are still on their way into a checkpoint
                look()
                time.sleep(0.05)
            settled = [each for each in arrivals if each.time_s - arrivals[0].time_s >= SETTLED_AFTER_S]
            return Latency(
                engine=f"Flink SQL {cluster.version}",
                mode=mode,
                offered=flights.records_per_round / parts / SLICE_S,
                applied_ms=_delays(settled, received) if mode == "record by record" else (),
                committed_ms=_commit_delays(settled, read, job.checkpoints()),
            )


def _watch(cluster: FlinkCluster, job: FlinkJob, seconds: float) -> tuple[list[Sample], list[Spent]]:
    samples, spent = [Sample(time.time(), 0)], [Spent(time.time(), cluster.spent_s())]
    deadline = time.monotonic() + FIRST_RECORD_LIMIT_S
    status = "RUNNING"
    while status in ("CREATED", "INITIALIZING", "RUNNING") and time.monotonic() < deadline:
        status, source, _ = job.state()
        if source and not samples[-1].records:
            deadline = time.monotonic() + seconds
        samples.append(Sample(time.time(), source))
        spent.append(Spent(time.time(), cluster.spent_s()))
        time.sleep(SAMPLE_S)
    if status not in ("RUNNING", "FINISHED"):
        raise OSError(f"the Flink job ended as {status}.")
    return samples, spent


def _delays(arrivals: Sequence[Arrival], samples: Sequence[Sample]) -> tuple[float, ...]:
    """Milliseconds from each arrival to the first sample that has it; Flink takes parts in the order of arrival."""
    seen = [_seen(arrival, samples) for arrival in arrivals]
    return tuple((time_s - arrival.time_s) * 1000 for arrival, time_s in zip(arrivals, seen, strict=True))


def _commit_delays(
    arrivals: Sequence[Arrival], samples: Sequence[Sample], checkpoints: Sequence[tuple[float, float]]
) -> tuple[float, ...]:
    delays = []
    triggers = [triggered for triggered, _ in checkpoints]
    for arrival in arrivals:
        holding = bisect_left(triggers, _seen(arrival, samples))
        if holding == len(checkpoints):
            raise OSError("the last parts were in no checkpoint within 10 s: the offered rate is too high for Flink.")
        delays.append((checkpoints[holding][1] - arrival.time_s) * 1000)
    return tuple(delays)


def _seen(arrival: Arrival, samples: Sequence[Sample]) -> float:
    index = bisect_left(samples, arrival.records, key=lambda sample: sample.records)
    if index == len(samples):
        raise OSError("not all parts were read within 10 s: the offered rate is too high for Flink.")
    return samples[index].time_s


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
