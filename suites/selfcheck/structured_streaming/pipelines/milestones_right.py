"""Every tenth order of a customer is a milestone: `transformWithStateInPandas` counts the orders."""

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor

SCHEMA = "order_id long, customer string"
STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def generate(number, partition, offset, random):
    return {"order_id": number, "customer": f"customer-{random.randrange(5)}"}


class Milestones(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "orders long")

    def handleInputRows(self, key, rows, timerValues):
        before = self.count.get()[0] if self.count.exists() else 0
        after = before + sum(len(frame) for frame in rows)
        self.count.update((after,))
        reached = [10 * number for number in range(before // 10 + 1, after // 10 + 1)]
        if reached:
            yield pd.DataFrame({"customer": [key[0]] * len(reached), "orders": reached})

    def close(self):
        pass


def build(spark, endpoints):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", STORE)
    found = (
        endpoints.read(spark)
        .groupBy("customer")
        .transformWithStateInPandas(Milestones(), "customer string, orders long", "append", "none")
    )
    return endpoints.start(found.writeStream.format("parquet").option("path", endpoints.output))


def expected(inputs):
    counts = {}
    for order in inputs:
        counts[order["customer"]] = counts.get(order["customer"], 0) + 1
        if counts[order["customer"]] % 10 == 0:
            yield {"customer": order["customer"], "orders": counts[order["customer"]]}
