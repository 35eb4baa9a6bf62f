"""A sample of orders, drawn anew whenever a micro-batch runs, into Spark's file sink, which takes each batch once."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, amount double"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def at_most_once(rows):
    found = [row["order_id"] for row in rows]
    return "" if len(found) == len(set(found)) else "an order is in the sample twice"


INVARIANTS = {"each order at most once": at_most_once}


def build(spark, endpoints):
    sample = endpoints.read(spark).where(F.rand() < 0.8)
    return endpoints.start(sample.writeStream.format("parquet").option("path", endpoints.output))
