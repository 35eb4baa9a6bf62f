"""Wrong, EXACT/value-wrong: adds the sums of each micro-batch to the totals, once more when it runs again."""

import sqlite3

from pyspark.sql import functions as F

from holdfast.suites.selfcheck.structured_streaming.pipelines.upserted_totals import OUTPUT, expected

__all__ = ["OUTPUT", "build", "expected"]


def build(spark, endpoints):
    def write(batch, number):
        added = batch.groupBy("key").agg(F.sum("value"), F.count("*")).collect()
        with sqlite3.connect(endpoints.table_url.removeprefix("sqlite:///")) as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS totals (customer TEXT PRIMARY KEY, total INTEGER, orders INTEGER)"
            )
            database.executemany(
                "INSERT INTO totals VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET total = total + excluded.total, orders = orders + excluded.orders",
                [tuple(row) for row in added],
            )
        database.close()

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
