"""Right: prices orders in Python, at executors, with a module beside it and one that PY_FILES names, and writes each
micro-batch to a folder of its own."""

import rates_of_shop
import taxes_of_shop

PY_FILES = ["taxes/taxes_of_shop.py"]
SCHEMA = "order_id long, currency string, amount long"
IDENTITY = "order_id"
OUTPUT = {"kind": "files", "format": "parquet", "commit": "overwrite-per-batch"}


def generate(number, partition, offset, random):
    return {"order_id": number, "currency": random.choice(("EUR", "NOK")), "amount": random.randrange(1, 100)}


def price(currency, amount):
    return taxes_of_shop.with_tax(rates_of_shop.in_euro(currency, amount))


def priced(frames):
    for frame in frames:
        euros = [price(currency, amount) for currency, amount in zip(frame["currency"], frame["amount"], strict=True)]
        yield frame[["order_id"]].assign(euros=euros)


def folder_of(number):
    return f"batch={number}"


def build(spark, endpoints):
    def write(batch, number):
        batch.write.mode("overwrite").parquet(f"{endpoints.output}/{folder_of(number)}")

    rows = endpoints.read(spark).mapInPandas(priced, "order_id long, euros double")
    return endpoints.start(rows.writeStream.foreachBatch(write))


def expected(inputs):
    for order in inputs:
        yield {"order_id": order["order_id"], "euros": price(order["currency"], order["amount"])}
