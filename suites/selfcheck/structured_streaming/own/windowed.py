"""Sums of windows as somebody else may write them, who says what the state behind them means."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

CONTRACT = "window"
NUMBER = "unix_seconds({}.start)"


def build(spark: SparkSession, endpoints: Any) -> Any:
    windows = endpoints.read(spark).withWatermark("time", "2 seconds").groupBy(F.window("time", "1 second"), "key")
    summed = windows.agg(F.sum("value").alias("value"), F.sum("weight").alias("digest"), F.count("*").alias("records"))
    # Spark keeps the sums that are written out, and in this order.
    shown = summed.select("key", F.expr(NUMBER.format("window")).alias("window"), "records", "digest", "value")
    return endpoints.start(shown.writeStream.format("parquet").option("path", endpoints.output))


def state(stored: DataFrame, partitions: int) -> DataFrame:
    held = F.col("value").cast("struct<records: bigint, digest: bigint, value: bigint>").alias("held")
    number = F.expr(NUMBER.format("key.window")).alias("window")
    parts = stored.select("partition_id", F.col("key.key").alias("key"), number, held)
    return parts.select("partition_id", "key", "window", "held.*")
