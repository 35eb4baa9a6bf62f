"""Runs the peers' job on local Spark until all is read or time is up, and prints its progress as JSON lines. Run by the
interpreter of Spark's own environment.

python spark_job.py SPECIFICATION, where that is JSON: `input`, `checkpoint`, `key_type`, `files_per_trigger` (0: all
that is there), `events`, `seconds` (from the first batch), `stop` (a file that ends the run when it appears), `cores`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from typing import Any

IDLE_S = 0.2
START_LIMIT_S = 120.0


def main(text: str) -> None:
    """Run."""
    specification = json.loads(text)
    # By name: the package is in the environment of the peer only, not where types are checked.
    sql = import_module("pyspark.sql")
    functions = import_module("pyspark.sql.functions")
    session = _session(sql, specification["cores"])
    source = session.readStream.schema(f"key {specification['key_type']}, value long")
    if specification["files_per_trigger"]:
        source = source.option("maxFilesPerTrigger", specification["files_per_trigger"])
    sums = source.parquet(specification["input"]).groupBy("key").agg(functions.sum("value"), functions.count("*"))
    query = (
        sums.writeStream.outputMode("update")
        .format("noop")
        .option("checkpointLocation", specification["checkpoint"])
        .trigger(processingTime="1 second")
        .start()
    )
    print(json.dumps({"version": session.version}), flush=True)
    _await_end(query, specification)
    query.stop()
    for progress in query.recentProgress:
        print(json.dumps(_batch(progress)), flush=True)
    session.stop()


def _session(sql: Any, cores: int) -> Any:
    return (
        sql.SparkSession.builder.master(f"local[{cores}]")
        .config("spark.sql.shuffle.partitions", cores)
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        # So that every batch is still reported and logged when the run ends.
        .config("spark.sql.streaming.numRecentProgressUpdates", 1_000_000)
        .config("spark.sql.streaming.minBatchesToRetain", 1_000_000)
        .getOrCreate()
    )


def _await_end(query: Any, specification: dict[str, Any]) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    started = False
    while query.isActive and time.monotonic() < deadline and not os.path.exists(specification["stop"]):
        seen = query.recentProgress
        if seen and not started:
            started, deadline = True, time.monotonic() + specification["seconds"]
        if sum(progress["numInputRows"] for progress in seen) >= specification["events"]:
            return
        time.sleep(IDLE_S)
    if query.exception() is not None:
        raise query.exception()


def _batch(progress: Any) -> dict[str, Any]:
    return {
        "batch": progress["batchId"],
        "timestamp": progress["timestamp"],
        "records": progress["numInputRows"],
        "duration_ms": progress["durationMs"]["triggerExecution"],
    }


if __name__ == "__main__":
    main(sys.argv[1])
