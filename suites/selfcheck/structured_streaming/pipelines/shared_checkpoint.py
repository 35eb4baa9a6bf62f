"""Wrong, PLACE/folder-shared: two queries keep their progress in one checkpoint folder. Twin of own_checkpoints."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, kind string"
IDENTITY = "order_id"
UNIQUE = ["order_id"]


def generate(number, partition, offset, random):
    return {"order_id": number, "kind": "sale" if number % 2 else "refund"}


def build(spark, endpoints):
    records = endpoints.read(spark)

    def query(kind):
        rows = records.where(F.col("kind") == kind).writeStream.format("parquet")
        return endpoints.start(rows.option("path", f"{endpoints.output}/{kind}"))

    first = query("sale")
    query("refund")
    return first
