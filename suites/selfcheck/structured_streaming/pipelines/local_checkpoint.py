"""Inconclusive on containers: keeps its checkpoint on a disk of its own machine, where no other driver finds it."""

from urllib.parse import urlsplit

CONTRACT = "records"


def build(spark, endpoints):
    rows = endpoints.read(spark).select("partition", "offset").writeStream.format("parquet")
    disk = urlsplit(endpoints.checkpoint).path
    return rows.option("path", endpoints.output).option("checkpointLocation", disk).start()
