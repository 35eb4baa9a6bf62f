"""Inconclusive: declares Parquet files, and writes JSON lines; nothing of it is lost."""

CONTRACT = "records"


def build(spark, endpoints):
    def write(batch, number):
        batch.select("partition", "offset").write.mode("append").json(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
