"""Writes the identity of each record, without saying what it is to be judged by; a batch that runs twice is there
twice."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession


def build(spark: SparkSession, endpoints: Any) -> Any:
    def append(batch: DataFrame, number: int) -> None:
        batch.select("partition", "offset").write.mode("append").parquet(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(append))
