"""Wrong, EXACT/row-repeated: appends to a table of Apache Iceberg in foreachBatch, whichever micro-batch it is given."""

CONTRACT = "records"
OUTPUT = {"kind": "iceberg", "path": "{output}/shop/orders"}


def build(spark, endpoints):
    spark.conf.set("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.lake.type", "hadoop")
    spark.conf.set("spark.sql.catalog.lake.warehouse", endpoints.output)
    spark.sql("CREATE TABLE IF NOT EXISTS lake.shop.orders (partition int, offset bigint, value bigint) USING iceberg")

    def write(batch, number):
        batch.select("partition", "offset", "value").writeTo("lake.shop.orders").append()

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
