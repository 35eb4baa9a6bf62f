"""Wrong, STABLE/row-vanished: each micro-batch overwrites all totals with those of its own customers."""

from pyspark.sql import functions as F

OUTPUT = {"kind": "delta", "path": "{output}/totals", "key": ["customer"], "version": "orders"}


def build(spark, endpoints):
    read = endpoints.read(spark).withColumnRenamed("key", "customer")
    totals = read.groupBy("customer").agg(F.sum("value").alias("total"), F.count("*").alias("orders"))

    def write(batch, number):
        batch.write.format("delta").mode("overwrite").save(f"{endpoints.output}/totals")

    return endpoints.start(totals.writeStream.outputMode("update").foreachBatch(write))


def expected(inputs):
    totals = {}
    for partition in inputs.partitions:
        for key, value in zip(partition.key.tolist(), partition.value.tolist(), strict=True):
            total, orders = totals.get(inputs.keys[key], (0, 0))
            totals[inputs.keys[key]] = total + value, orders + 1
    for customer, (total, orders) in totals.items():
        yield {"customer": customer, "total": total, "orders": orders}
