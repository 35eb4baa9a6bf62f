"""A sample of orders, of which a micro-batch that runs again draws some once more. NOREPEAT/record-repeated."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, amount double"
UNIQUE = ["order_id"]
GUARANTEE = "at-most-once"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def build(spark, endpoints):
    def append(batch, number):
        batch.where(F.rand() < 0.8).write.mode("append").parquet(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(append))
