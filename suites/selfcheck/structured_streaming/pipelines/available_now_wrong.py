"""Orders of a job that takes what there is and ends, appended by `foreachBatch`, whatever is there. EXACT/row-repeated."""

SCHEMA = "order_id long, amount double"
IDENTITY = "order_id"
GUARANTEE = "exactly-once"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def build(spark, endpoints):
    def write(batch, number):
        batch.write.mode("append").parquet(endpoints.output)

    orders = endpoints.read(spark).writeStream.foreachBatch(write)
    return orders.option("checkpointLocation", endpoints.checkpoint).trigger(availableNow=True).start()
