"""Inconclusive: its answer is another one."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, customer string, cents long"
IDENTITY = "order_id"
OUTPUT = {"kind": "files", "commit": "overwrite-per-batch"}


def generate(number, partition, offset, random):
    return {
        "order_id": number,
        "customer": f"customer-{random.randrange(6)}",
        "cents": random.randrange(1, 10_000),
    }


def totals(orders):
    sums = orders.groupBy("customer").agg(F.sum("cents").alias("cents"), F.count("*").alias("orders"))
    return sums.withColumn("cents", F.expr("cents div 100"))


def build(spark, endpoints):
    def overwrite(batch, number):
        batch.write.mode("overwrite").parquet(f"{endpoints.output}/totals")

    rows = totals(endpoints.read(spark))
    return endpoints.start(rows.writeStream.outputMode("complete").foreachBatch(overwrite))


def batch(spark, inputs):
    return totals(inputs)
