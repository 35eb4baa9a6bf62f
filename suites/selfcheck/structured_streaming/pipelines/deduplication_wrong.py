"""Orders, each once, with a set in a variable, which a restart forgets while the output stays. EXACT/row-repeated."""

from datetime import datetime, timedelta, timezone

SCHEMA = "order_id string, amount double, at timestamp"
TIME = "at"
IDENTITY = "order_id"
UNIQUE = ["order_id"]


def generate(number, partition, offset, random):
    order = offset - 1 if offset % 3 == 2 else offset
    at = datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=10 * order)
    return {"order_id": f"{partition}-{order}", "amount": random.uniform(1, 100), "at": at}


def build(spark, endpoints):
    seen = set()

    def append(batch, number):
        new = batch.dropDuplicates(["order_id"]).where(~batch.order_id.isin(list(seen)))
        rows = new.collect()
        if rows:
            batch.sparkSession.createDataFrame(rows, batch.schema).write.mode("append").parquet(endpoints.output)
        seen.update(row.order_id for row in rows)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(append))
