"""Right: a running total by customer, of which the newest takes the place of the one before it."""

import sqlite3

from pyspark.sql import functions as F

OUTPUT = {
    "kind": "table", "url": "sqlite:///{output}/totals.db", "table": "totals", "key": ["customer"],
    "version": "orders",
}  # fmt: skip


def build(spark, endpoints):
    totals = endpoints.read(spark).groupBy("key").agg(F.sum("value").alias("total"), F.count("*").alias("orders"))

    def write(batch, number):
        rows = [tuple(row) for row in batch.collect()]
        with sqlite3.connect(endpoints.table_url.removeprefix("sqlite:///")) as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS totals (customer TEXT PRIMARY KEY, total INTEGER, orders INTEGER)"
            )
            database.executemany(
                "INSERT INTO totals VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET total = excluded.total, orders = excluded.orders",
                rows,
            )
        database.close()

    return endpoints.start(totals.writeStream.outputMode("update").foreachBatch(write))


def expected(inputs):
    totals = {}
    for partition in inputs.partitions:
        for key, value in zip(partition.key.tolist(), partition.value.tolist(), strict=True):
            total, orders = totals.get(inputs.keys[key], (0, 0))
            totals[inputs.keys[key]] = total + value, orders + 1
    for customer, (total, orders) in totals.items():
        yield {"customer": customer, "total": total, "orders": orders}
