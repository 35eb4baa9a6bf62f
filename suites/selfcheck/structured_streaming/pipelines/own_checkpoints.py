"""Right: two queries, each with a checkpoint folder of its own. The second one counts refunds, and writes nothing."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, kind string"
IDENTITY = "order_id"
UNIQUE = ["order_id"]


def generate(number, partition, offset, random):
    return {"order_id": number, "kind": "sale" if number % 2 else "refund"}


def build(spark, endpoints):
    def count(batch, number):
        batch.count()

    records = endpoints.read(spark)
    refunds = records.where(F.col("kind") == "refund").writeStream.foreachBatch(count)
    refunds.option("checkpointLocation", f"{endpoints.checkpoint}/refunds").start()
    return endpoints.start(records.writeStream.format("parquet").option("path", endpoints.output))
