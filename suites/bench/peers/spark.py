"""Spark Structured Streaming on the flights stream: records per second, and how late it is at a bearable rate.

A micro-batch is Spark's checkpoint: it reads some files, aggregates in both phases with generated code, stores the
state and writes its commit. How many files a batch takes decides between rate and latency; it is set so that a batch
takes about the second that the others have between checkpoints, and the true length of a batch is printed.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from holdfast.suites.bench.peers.cache import PeerCache
from holdfast.suites.bench.peers.children import Child
from holdfast.suites.bench.peers.peer import SETTLED_AFTER_S, SLICE_S, Demand, Latency, Throughput
from holdfast.suites.bench.peers.peer_input import Arrival, Columns, arrive, write_flights
from holdfast.suites.bench.peers.progress import Sample, Spent, rates_of

SPARK = "pyspark==4.3.0"
JOB = Path(__file__).with_name("spark_job.py")
KEY_TYPES = {Columns.TEXT: "string", Columns.NUMBER: "long"}
MODE = "micro-batches"
YEARS_PER_BATCH = 48
START_LIMIT_S = 120.0
END_LIMIT_S = 60.0


class _Batch(msgspec.Struct, frozen=True):
    batch: int
    timestamp: str
    records: int
    duration_ms: float

    @property
    def begin_s(self) -> float:
        return datetime.fromisoformat(self.timestamp).timestamp()


def throughput(cache: PeerCache, demand: Demand) -> Throughput:
    """Take the input as fast as possible in a fresh session.

    Raises:
        OSError: Spark cannot be had or fails.
    """
    with tempfile.TemporaryDirectory(dir=demand.folder) as name:
        folder = Path(name)
        flights = write_flights(folder / "year", demand.key, demand.columns)
        years = _made(folder / "input")
        for index in range(-(-demand.events // flights.records_per_round)):
            flights.link(years, index)
        run = _SparkRun(cache, demand, folder, YEARS_PER_BATCH)
        try:
            version, batches = run.finished(START_LIMIT_S + demand.seconds + END_LIMIT_S)
        finally:
            run.close()
    samples = [Sample(batches[0].begin_s, 0)] if batches else []
    for batch in batches:
        samples.append(Sample(batch.begin_s + batch.duration_ms / 1000, samples[-1].records + batch.records))
    rates = rates_of(samples, run.spent)
    durations = tuple(batch.duration_ms for batch in batches if batch.begin_s >= rates.warm_from_s)
    return Throughput(f"Spark {version}", MODE, rates, durations)


def latency(cache: PeerCache, demand: Demand, parts: int) -> Latency:
    """Let the year arrive in so many parts, one every SLICE_S, and see when the batch with each has its commit.

    Which batch read a part is said by Spark's own log of its sources, when a batch was committed by the time of its
    commit file. When it was applied is not reported: dash.
    """
    with tempfile.TemporaryDirectory(dir=demand.folder) as name:
        folder = Path(name)
        flights = write_flights(folder / "year", demand.key, demand.columns, parts)
        arriving = _made(folder / "input")
        unlimited = msgspec.structs.replace(demand, events=1 << 62, seconds=demand.seconds + 3 * START_LIMIT_S)
        run = _SparkRun(cache, unlimited, folder, 0)
        try:
            run.await_query()
            arrivals = arrive(flights, arriving, SLICE_S, SETTLED_AFTER_S + demand.seconds, lambda: None)
            run.await_parts(len(arrivals))
            run.stop()
            version, _ = run.finished(END_LIMIT_S)
            settled = [each for each in arrivals if each.time_s - arrivals[0].time_s >= SETTLED_AFTER_S]
            committed = _commit_delays(settled, run.checkpoint)
        finally:
            run.close()
        return Latency(f"Spark {version}", MODE, flights.records_per_round / parts / SLICE_S, (), committed)


class _SparkRun:
    """One run of the job in a process of its own. `spent`: its processor time, while somebody waited for it."""

    def __init__(self, cache: PeerCache, demand: Demand, folder: Path, files_per_trigger: int) -> None:
        self.checkpoint = folder / "checkpoint"
        self.spent: list[Spent] = []
        self._stop, self._log = folder / "stop", folder / "spark.log"
        specification = {
            "input": str(folder / "input"),
            "checkpoint": str(self.checkpoint),
            "stop": str(self._stop),
            "key_type": KEY_TYPES[demand.columns],
            "files_per_trigger": files_per_trigger,
            "events": demand.events,
            "seconds": demand.seconds,
            "cores": len(demand.cores),
        }
        command = [str(cache.python("spark", SPARK)), str(JOB), json.dumps(specification)]
        environment = dict(os.environ) | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder)}
        self._child = Child(command, demand.cores, environment, self._log)

    def await_query(self) -> None:
        """Wait until the query has looked for input for the first time."""
        self._await(lambda: bool(self._lines()), "start", START_LIMIT_S)

    def await_parts(self, parts: int) -> None:
        """Wait until all parts are committed."""
        self._await(lambda: len(_batches_of_parts(self.checkpoint)) >= parts, "commit the last parts", END_LIMIT_S)

    def stop(self) -> None:
        """Ask for the end."""
        self._stop.touch()

    def finished(self, limit_s: float) -> tuple[str, list[_Batch]]:
        """Wait for the end: the version, and the batches that had records."""
        self._await(lambda: not self._child.running(), "end", limit_s, ending=True)
        lines = self._lines()
        if len(lines) < 2:
            raise self._failure("reported no progress")
        batches = [msgspec.convert(line, _Batch) for line in lines[1:] if line["records"]]
        return str(lines[0]["version"]), batches

    def close(self) -> None:
        """End it in every case."""
        self._child.end()

    def _await(self, condition: Any, what: str, limit_s: float, *, ending: bool = False) -> None:
        deadline = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > deadline or not (ending or self._child.running()):
                raise self._failure(f"did not {what} within {limit_s:.0f} s")
            self.spent.append(Spent(time.time(), self._child.spent_s()))
            time.sleep(0.1)

    def _lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines() if line.startswith("{")]

    def _failure(self, what: str) -> OSError:
        return OSError(f"Spark {what}; the end of its log:\n{self._log.read_text()[-2000:]}")


def _batches_of_parts(checkpoint: Path) -> dict[str, int]:
    """The batch that read each part, for committed batches, by file name."""
    commits = checkpoint / "commits"
    committed = {int(path.name) for path in commits.glob("[0-9]*")} if commits.exists() else set()
    found = {}
    for path in (checkpoint / "sources" / "0").glob("[0-9]*"):
        for line in path.read_text().splitlines()[1:]:
            entry = json.loads(line)
            if entry["batchId"] in committed:
                found[entry["path"].rpartition("/")[2]] = entry["batchId"]
    return found


def _commit_delays(arrivals: Sequence[Arrival], checkpoint: Path) -> tuple[float, ...]:
    batch_of = _batches_of_parts(checkpoint)
    delays = []
    for arrival in arrivals:
        batch = batch_of[f"part-{arrival.number:06d}.parquet"]
        delays.append((os.stat(checkpoint / "commits" / str(batch)).st_mtime - arrival.time_s) * 1000)
    return tuple(delays)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
