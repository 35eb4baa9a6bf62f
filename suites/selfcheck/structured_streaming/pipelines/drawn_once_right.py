"""A sample of orders, each of which is there at most once: Spark's file sink takes each micro-batch once."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, amount double"
UNIQUE = ["order_id"]
GUARANTEE = "at-most-once"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def build(spark, endpoints):
    sample = endpoints.read(spark).where(F.rand() < 0.8)
    return endpoints.start(sample.writeStream.format("parquet").option("path", endpoints.output))
