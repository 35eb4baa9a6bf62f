"""A sample of orders, appended by `foreachBatch`: a batch that runs again draws some of them once more. INVARIANT/broken."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, amount double"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def at_most_once(rows):
    found = [row["order_id"] for row in rows]
    return "" if len(found) == len(set(found)) else "an order is in the sample twice"


INVARIANTS = {"each order at most once": at_most_once}


def build(spark, endpoints):
    def append(batch, number):
        batch.where(F.rand() < 0.8).write.mode("append").parquet(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(append))
