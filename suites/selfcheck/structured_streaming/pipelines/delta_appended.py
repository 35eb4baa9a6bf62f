"""Wrong, EXACT/row-repeated: appends to a table of Delta Lake in foreachBatch, whichever micro-batch it is given."""

CONTRACT = "records"
OUTPUT = {"kind": "delta", "path": "{output}/orders"}


def build(spark, endpoints):
    def write(batch, number):
        batch.select("partition", "offset", "value").write.format("delta").mode("append").save(
            f"{endpoints.output}/orders"
        )

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
