"""Wrong, EXACT/row-repeated: appends JSON lines in foreachBatch, whichever micro-batch it is given."""

CONTRACT = "records"
OUTPUT = {"kind": "files", "format": "json", "commit": "success-file"}


def build(spark, endpoints):
    def write(batch, number):
        batch.select("partition", "offset").write.mode("append").json(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
