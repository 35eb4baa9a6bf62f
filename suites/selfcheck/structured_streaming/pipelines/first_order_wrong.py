"""The first order of each customer, with a set in the Python worker in place of state. EXACT/row-repeated."""

import pandas as pd
from pyspark.sql.streaming.state import GroupStateTimeout

SCHEMA = "order_id long, customer string"
IDENTITY = "order_id"
UNIQUE = ["customer"]
known = set()


def generate(number, partition, offset, random):
    return {"order_id": number, "customer": f"customer-{random.randrange(number + 1)}"}


def first(key, frames, state):
    orders = [order for frame in frames for order in frame["order_id"]]
    if key[0] not in known:
        known.add(key[0])
        yield pd.DataFrame({"customer": [key[0]], "order_id": [min(orders)]})


def build(spark, endpoints):
    found = (
        endpoints.read(spark)
        .groupBy("customer")
        .applyInPandasWithState(
            first, "customer string, order_id long", "first long", "append", GroupStateTimeout.NoTimeout
        )
    )
    return endpoints.start(found.writeStream.format("parquet").option("path", endpoints.output))
