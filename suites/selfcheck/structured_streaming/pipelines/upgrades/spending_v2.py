"""Right: the same sums in the same state, with their mean, which nobody asks for."""

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


def spent(orders):
    sums = orders.groupBy("customer").agg(F.sum("cents").alias("cents"), F.count("*").alias("orders"))
    return sums.withColumn("mean", F.col("cents") / F.col("orders"))


def build(spark, endpoints):
    def overwrite(batch, number):
        batch.write.mode("overwrite").parquet(f"{endpoints.output}/totals")

    rows = spent(endpoints.read(spark))
    return endpoints.start(rows.writeStream.outputMode("complete").foreachBatch(overwrite))


def batch(spark, inputs):
    return spent(inputs)
