"""Wrong, EXACT/row-repeated: remembers customers in a set, which knows none of those that its former version wrote."""

SCHEMA = "order_id long, customer string"
IDENTITY = "order_id"
UNIQUE = ["customer"]
OUTPUT = {"kind": "files", "commit": "overwrite-per-batch"}


def generate(number, partition, offset, random):
    return {"order_id": number, "customer": f"customer-{random.randrange(offset + 1)}"}


def build(spark, endpoints):
    known = set()

    def write(batch, number):
        found = {}
        for row in batch.sort("order_id").collect():
            if row.customer not in known:
                found.setdefault(row.customer, row.order_id)
        rows = batch.sparkSession.createDataFrame(list(found.items()), "customer string, order_id long")
        rows.write.mode("overwrite").parquet(f"{endpoints.output}/batch-{number:06}")
        known.update(found)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
