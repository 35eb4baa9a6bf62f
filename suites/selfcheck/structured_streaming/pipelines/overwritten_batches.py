"""Right: overwrites the folder of each micro-batch, so that one that runs again takes the place of itself."""

CONTRACT = "records"
OUTPUT = {
    "kind": "files", "format": "csv", "schema": "partition int, offset long", "commit": "overwrite-per-batch",
}  # fmt: skip


def build(spark, endpoints):
    def write(batch, number):
        batch.select("partition", "offset").write.mode("overwrite").csv(f"{endpoints.output}/batch={number}")

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
