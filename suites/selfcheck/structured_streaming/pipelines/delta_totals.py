"""Right: a running total by customer, merged into a table of Delta Lake that marks rows as deleted in files beside its
own."""

from pyspark.sql import functions as F

OUTPUT = {"kind": "delta", "path": "{output}/totals", "key": ["customer"], "version": "orders"}


def build(spark, endpoints):
    table = f"delta.`{endpoints.output}/totals`"
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {table} (customer string, total bigint, orders bigint) USING delta"
        " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    read = endpoints.read(spark).withColumnRenamed("key", "customer")
    totals = read.groupBy("customer").agg(F.sum("value").alias("total"), F.count("*").alias("orders"))

    def write(batch, number):
        batch.createOrReplaceTempView("newest")
        batch.sparkSession.sql(
            f"MERGE INTO {table} AS totals USING newest ON totals.customer = newest.customer"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    return endpoints.start(totals.writeStream.outputMode("update").foreachBatch(write))


def expected(inputs):
    totals = {}
    for partition in inputs.partitions:
        for key, value in zip(partition.key.tolist(), partition.value.tolist(), strict=True):
            total, orders = totals.get(inputs.keys[key], (0, 0))
            totals[inputs.keys[key]] = total + value, orders + 1
    for customer, (total, orders) in totals.items():
        yield {"customer": customer, "total": total, "orders": orders}
