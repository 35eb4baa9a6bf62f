"""Orders written by `foreachBatch`, which skips by a number of its own: a restart begins it again. EXACT/input-missing."""

from itertools import count

SCHEMA = "order_id long, amount double, at timestamp"
TIME = "at"
IDENTITY = "order_id"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def written(spark, folder):
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{folder}/_SUCCESS")
    return path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).exists(path)


def build(spark, endpoints):
    numbers = count()

    def write(batch, number):
        folder = f"{endpoints.output}/batch-{next(numbers):06}"
        if not written(spark, folder):
            batch.write.mode("overwrite").parquet(folder)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))


def not_below_zero(rows):
    return all(row["amount"] >= 0 for row in rows)


def each_order_once(rows):
    orders = [row["order_id"] for row in rows]
    return "" if len(orders) == len(set(orders)) else f"{len(orders) - len(set(orders))} orders are there twice"


GUARANTEE = "exactly-once"
INVARIANTS = {"no amount is below zero": not_below_zero, "each order once": each_order_once}
