"""Right: upserts the rows of each micro-batch by their key, in one transaction."""

import psycopg

CONTRACT = "records"
OUTPUT = {"kind": "table", "url": "postgresql://", "table": "orders", "key": ["partition", "offset"]}


def build(spark, endpoints):
    def write(batch, number):
        rows = [tuple(row) for row in batch.select("partition", "offset", "value").collect()]
        with psycopg.connect(endpoints.table_url) as database, database.cursor() as cursor:
            cursor.execute(
                'CREATE TABLE IF NOT EXISTS orders ("partition" int, "offset" bigint, value bigint,'
                ' PRIMARY KEY ("partition", "offset"))'
            )
            cursor.executemany(
                "INSERT INTO orders VALUES (%s, %s, %s)"
                ' ON CONFLICT ("partition", "offset") DO UPDATE SET value = excluded.value',
                rows,
            )

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
