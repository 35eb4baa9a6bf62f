"""Wrong, against PIP-03: it appends each micro-batch that it is given, so that one which runs again is there twice."""

CONTRACT = "records"
GUARANTEE = "exactly-once"
OUTPUT = {"kind": "files", "format": "json", "commit": "success-file"}


def build(spark, endpoints):
    def write(batch, number):
        batch.select("partition", "offset").write.mode("append").json(endpoints.output)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
