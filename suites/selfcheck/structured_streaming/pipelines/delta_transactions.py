"""Right: appends to a table of Delta Lake in foreachBatch, each micro-batch as a transaction with its number, of which
the table takes one only once."""

CONTRACT = "records"
OUTPUT = {"kind": "delta", "path": "{output}/orders"}


def build(spark, endpoints):
    def write(batch, number):
        rows = batch.select("partition", "offset", "value").write.format("delta").mode("append")
        rows.option("txnAppId", "orders").option("txnVersion", number).save(f"{endpoints.output}/orders")

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
