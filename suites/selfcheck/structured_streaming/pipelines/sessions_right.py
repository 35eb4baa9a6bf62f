"""Sessions of users: a session ends when nothing comes for two seconds of event time."""

from datetime import datetime, timedelta, timezone

from pyspark.sql import functions as F

SCHEMA = "user string, spent double, at timestamp"
TIME = "at"
COMPARE = "window"
BURST, PAUSE_S = 20, 5


def generate(number, partition, offset, random):
    """Bursts of clicks, five seconds apart, a bit out of order."""
    moment = timedelta(seconds=offset // BURST * PAUSE_S, milliseconds=random.randrange(500))
    at = datetime(2024, 1, 1, tzinfo=timezone.utc) + moment
    return {"user": f"user-{random.randrange(4)}", "spent": random.uniform(0, 10), "at": at}


def sessions(records):
    grouped = records.groupBy("user", F.session_window("at", "2 seconds").alias("session"))
    counted = grouped.agg(F.count("*").alias("clicks"), F.sum("spent").alias("spent"))
    return counted.select("user", "session.start", "session.end", "clicks", "spent")


def build(spark, endpoints):
    found = sessions(endpoints.read(spark).withWatermark("at", "1 minute"))
    return endpoints.start(found.writeStream.outputMode("append").format("parquet").option("path", endpoints.output))


def batch(spark, inputs):
    return sessions(inputs)
