"""Right: upserts the rows of each micro-batch by their key."""

import sqlite3

CONTRACT = "records"
OUTPUT = {
    "kind": "table", "url": "sqlite:///{output}/orders.db", "table": "orders", "key": ["partition", "offset"],
}  # fmt: skip


def build(spark, endpoints):
    def write(batch, number):
        rows = [tuple(row) for row in batch.select("partition", "offset", "value").collect()]
        with sqlite3.connect(endpoints.table_url.removeprefix("sqlite:///")) as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS orders"
                ' ("partition" INTEGER, "offset" INTEGER, value INTEGER, PRIMARY KEY ("partition", "offset"))'
            )
            database.executemany(
                "INSERT INTO orders VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", rows
            )
        database.close()

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
