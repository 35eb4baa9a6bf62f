"""Wrong, EXACT/input-missing: overwrites partitions that hold rows of earlier micro-batches, too."""

CONTRACT = "records"
OUTPUT = {"kind": "files", "commit": "overwrite-partitions"}


def build(spark, endpoints):
    def write(batch, number):
        writer = batch.select("partition", "offset").write.mode("overwrite").partitionBy("partition")
        writer.option("partitionOverwriteMode", "dynamic").parquet(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
