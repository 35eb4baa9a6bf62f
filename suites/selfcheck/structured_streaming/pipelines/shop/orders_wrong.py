"""Wrong, EXACT/row-repeated: the same, but each call writes to a folder of its own, whichever micro-batch it is given."""

import uuid

from orders_right import IDENTITY, OUTPUT, SCHEMA, expected, generate, priced  # noqa: F401

PY_FILES = ["taxes/taxes_of_shop.py"]


def build(spark, endpoints):
    def write(batch, number):
        batch.write.mode("overwrite").parquet(f"{endpoints.output}/batch={uuid.uuid4().hex}")

    rows = endpoints.read(spark).mapInPandas(priced, "order_id long, euros double")
    return endpoints.start(rows.writeStream.foreachBatch(write))
