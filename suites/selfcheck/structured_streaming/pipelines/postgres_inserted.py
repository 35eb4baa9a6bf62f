"""Wrong, EXACT/row-repeated: inserts the rows of each micro-batch into a table without a key, through JDBC."""

CONTRACT = "records"
OUTPUT = {"kind": "table", "url": "postgresql://", "table": "orders"}


def build(spark, endpoints):
    def write(batch, number):
        rows = batch.select("partition", "offset", "value").write.format("jdbc").mode("append")
        rows.option("url", endpoints.jdbc_url).option("dbtable", "orders").save()

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
