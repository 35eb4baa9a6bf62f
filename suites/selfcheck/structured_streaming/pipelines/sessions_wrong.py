"""Sessions of users within each micro-batch, so that those of two batches are cut in pieces. EXACT/row-unknown."""

from datetime import datetime, timedelta, timezone

from pyspark.sql import functions as F

SCHEMA = "user string, spent double, at timestamp"
TIME = "at"
COMPARE = "window"
BURST, PAUSE_S = 20, 5


def generate(number, partition, offset, random):
    moment = timedelta(seconds=offset // BURST * PAUSE_S, milliseconds=random.randrange(500))
    at = datetime(2024, 1, 1, tzinfo=timezone.utc) + moment
    return {"user": f"user-{random.randrange(4)}", "spent": random.uniform(0, 10), "at": at}


def sessions(records):
    grouped = records.groupBy("user", F.session_window("at", "2 seconds").alias("session"))
    counted = grouped.agg(F.count("*").alias("clicks"), F.sum("spent").alias("spent"))
    return counted.select("user", "session.start", "session.end", "clicks", "spent")


def build(spark, endpoints):
    def write(batch, number):
        sessions(batch).write.mode("overwrite").parquet(f"{endpoints.output}/batch-{number:06}")

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))


def batch(spark, inputs):
    return sessions(inputs)
