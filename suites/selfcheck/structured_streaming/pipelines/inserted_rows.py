"""Wrong, EXACT/row-repeated: inserts the rows of each micro-batch into a table that has no key."""

import sqlite3

CONTRACT = "records"
OUTPUT = {"kind": "table", "url": "sqlite:///{output}/orders.db", "table": "orders"}


def build(spark, endpoints):
    def write(batch, number):
        rows = [(row.partition, row.offset) for row in batch.select("partition", "offset").collect()]
        with sqlite3.connect(endpoints.table_url.removeprefix("sqlite:///")) as database:
            database.execute('CREATE TABLE IF NOT EXISTS orders ("partition" INTEGER, "offset" INTEGER)')
            database.executemany("INSERT INTO orders VALUES (?, ?)", rows)
        database.close()

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
