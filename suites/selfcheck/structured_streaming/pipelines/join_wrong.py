"""Orders joined with their payments within each micro-batch, so that pairs of two batches are lost. EXACT/input-missing."""

from datetime import datetime, timedelta, timezone

from pyspark.sql import functions as F

SCHEMA = "kind string, order_id long, amount decimal(10,2), at timestamp"
TIME = "at"
PAYMENT_DELAY = 7


def generate(number, partition, offset, random):
    order = offset if partition == 0 else offset - PAYMENT_DELAY
    at = datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=10 * offset)
    return {"kind": "payment" if partition else "order", "order_id": order, "amount": f"{order}.50", "at": at}


def joined(records):
    orders = records.where("kind = 'order'").select("order_id", F.col("at").alias("ordered"))
    payments = records.where("kind = 'payment'").select(F.col("order_id").alias("paid_id"), "amount", "at")
    matching = F.expr("order_id = paid_id and at between ordered - interval 1 minute and ordered + interval 1 minute")
    return orders.join(payments, matching).select("order_id", "amount", "ordered", "at")


def build(spark, endpoints):
    def write(batch, number):
        joined(batch).write.mode("overwrite").parquet(f"{endpoints.output}/batch-{number:06}")

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))


def batch(spark, inputs):
    return joined(inputs)
