"""Wrong, EXACT/input-missing: leaves records out that its contract promises, whether something breaks or not."""

CONTRACT = "records"


def build(spark, endpoints):
    rows = endpoints.read(spark).select("partition", "offset").where("offset % 10 != 3").writeStream
    return endpoints.start(rows.format("parquet").option("path", endpoints.output))
