"""Doubles every value, drops what is negative, and says which rows there must be in the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name


def build(spark: SparkSession, endpoints: Any) -> Any:
    records = spark.readStream.schema("key string, value long, partition int, offset long").parquet(endpoints.input)
    doubled = records.where("value >= 0").select("key", (2 * F.col("value")).alias("doubled"))
    writer = doubled.writeStream.format("parquet").option("path", endpoints.output)
    return writer.option("checkpointLocation", endpoints.checkpoint).trigger(processingTime="300 milliseconds").start()


def expected(inputs: Any) -> Iterator[dict[str, Any]]:
    for partition in inputs.partitions:
        for key, value in zip(partition.key.tolist(), partition.value.tolist(), strict=True):
            if value >= 0:
                yield {"key": inputs.keys[key], "doubled": 2 * value}
