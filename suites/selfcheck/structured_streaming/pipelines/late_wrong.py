"""The watermark waits for none of the orders that come late, so that they are in no sum. EXACT/value-wrong."""

from pyspark.sql import functions as F

SCHEMA = "shop string, amount long, at timestamp"
TIME = "at"
LATE = {"share": 0.1, "at_most_ms": 1500}
COMPARE = "window"


def generate(number, partition, offset, random):
    return {"shop": f"shop-{random.randrange(3)}", "amount": random.randrange(100)}


def by_half_second(records):
    grouped = records.groupBy("shop", F.window("at", "500 milliseconds").alias("during"))
    summed = grouped.agg(F.count("*").alias("orders"), F.sum("amount").alias("amount"))
    return summed.select("shop", "during.start", "orders", "amount")


def build(spark, endpoints):
    found = by_half_second(endpoints.read(spark).withWatermark("at", "0 seconds"))
    return endpoints.start(found.writeStream.outputMode("append").format("parquet").option("path", endpoints.output))


def batch(spark, inputs):
    return by_half_second(inputs)
