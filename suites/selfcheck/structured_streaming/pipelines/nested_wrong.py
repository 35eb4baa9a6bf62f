"""Baskets with nested columns, appended by foreachBatch: a batch that runs twice is there twice. EXACT/row-repeated."""

SCHEMA = (
    "basket_id long, customer struct<name: string, tags: array<string>>, "
    "items array<struct<sku: string, price: decimal(8,2)>>, attributes map<string, string>, at timestamp"
)
TIME = "at"
IDENTITY = "basket_id"


def generate(number, partition, offset, random):
    items = [
        {"sku": f"sku-{random.randrange(50)}", "price": f"{random.randrange(1, 90)}.25"} for _ in range(offset % 4)
    ]
    customer = {"name": f"customer {number}", "tags": ["new"] if number % 2 else []}
    return {"basket_id": number, "customer": customer, "items": items, "attributes": {"shop": f"s{partition}"}}


def build(spark, endpoints):
    kept = endpoints.read(spark).where("size(items) > 0").select("basket_id", "customer", "items", "attributes")

    def append(batch, number):
        batch.write.mode("append").parquet(endpoints.output)

    return endpoints.start(kept.writeStream.foreachBatch(append))


def expected(inputs):
    from decimal import Decimal

    for basket in inputs:
        if basket["items"]:
            items = [{"sku": item["sku"], "price": Decimal(item["price"])} for item in basket["items"]]
            yield {
                "basket_id": basket["basket_id"],
                "customer": basket["customer"],
                "items": items,
                "attributes": basket["attributes"],
            }
