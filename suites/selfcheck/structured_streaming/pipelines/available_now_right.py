"""Orders of a job that takes what there is, writes it and ends (`availableNow`); its scheduler starts it again."""

SCHEMA = "order_id long, amount double"
IDENTITY = "order_id"
GUARANTEE = "exactly-once"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def build(spark, endpoints):
    orders = endpoints.read(spark).writeStream.format("parquet").option("path", endpoints.output)
    return orders.option("checkpointLocation", endpoints.checkpoint).trigger(availableNow=True).start()
