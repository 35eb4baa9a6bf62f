"""Wrong, STABLE/row-vanished: each micro-batch overwrites the rows of those before it in one folder."""

CONTRACT = "records"
OUTPUT = {"kind": "files", "format": "json", "commit": "success-file"}


def build(spark, endpoints):
    def write(batch, number):
        batch.select("partition", "offset").write.mode("overwrite").json(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
