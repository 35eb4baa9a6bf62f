"""Right: appends to a table of Apache Iceberg by its own sink, which skips a micro-batch that a snapshot names."""

CONTRACT = "records"
OUTPUT = {"kind": "iceberg", "path": "{output}/shop/orders"}


def build(spark, endpoints):
    spark.conf.set("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.lake.type", "hadoop")
    spark.conf.set("spark.sql.catalog.lake.warehouse", endpoints.output)
    spark.sql("CREATE TABLE IF NOT EXISTS lake.shop.orders (partition int, offset bigint, value bigint) USING iceberg")
    records = endpoints.read(spark).select("partition", "offset", "value")
    writer = records.writeStream.outputMode("append").option("checkpointLocation", endpoints.checkpoint)
    return writer.trigger(processingTime=f"{endpoints.trigger_ms} milliseconds").toTable("lake.shop.orders")
