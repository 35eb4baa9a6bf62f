"""Orders, each once: clients send some of them twice. State under a watermark remembers which were there."""

from datetime import datetime, timedelta, timezone

SCHEMA = "order_id string, amount double, at timestamp"
TIME = "at"
IDENTITY = "order_id"
UNIQUE = ["order_id"]


def generate(number, partition, offset, random):
    order = offset - 1 if offset % 3 == 2 else offset  # Every third record is the one before it, sent again.
    at = datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=10 * order)
    return {"order_id": f"{partition}-{order}", "amount": random.uniform(1, 100), "at": at}


def build(spark, endpoints):
    orders = endpoints.read(spark).withWatermark("at", "10 minutes").dropDuplicatesWithinWatermark(["order_id"])
    return endpoints.start(orders.writeStream.format("parquet").option("path", endpoints.output))
