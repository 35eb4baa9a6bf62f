"""What each customer has spent, by a sum in the state; each micro-batch overwrites all sums. It has a next version."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, customer string, cents long"
IDENTITY = "order_id"
OUTPUT = {"kind": "files", "commit": "overwrite-per-batch"}
NEXT = "spending_v2.py"


def generate(number, partition, offset, random):
    return {
        "order_id": number,
        "customer": f"customer-{random.randrange(6)}",
        "cents": random.randrange(1, 10_000),
    }


def totals(orders):
    return orders.groupBy("customer").agg(F.sum("cents").alias("cents"), F.count("*").alias("orders"))


def build(spark, endpoints):
    def write(batch, number):
        batch.write.mode("overwrite").parquet(f"{endpoints.output}/totals")

    return endpoints.start(totals(endpoints.read(spark)).writeStream.outputMode("complete").foreachBatch(write))


def batch(spark, inputs):
    return totals(inputs)
